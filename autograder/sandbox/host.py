"""The grader's side of the zygote and its workers: start, ask with a deadline, drain output, end."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from autograder.sandbox import replies, wire
from autograder.sandbox.levels import satisfies
from autograder.sandbox.zygote import READY

ZYGOTE_PATIENCE = 60
"""Seconds after which a zygote that does not answer is given up; its longest task is to start."""

WALL_FACTOR = 5
"""A call may take this many times its limit by the clock on the wall; its limit is in seconds of its own CPU time."""


class SandboxError(Exception):
    """The sandbox itself failed. Never the student's fault."""


class NotConfined(SandboxError):
    """A worker could not be closed in as it was promised, or the host offers less than is required."""


class CallTimedOut(Exception):
    """No answer within the limit. `cpu` tells whether the worker computed or waited."""

    def __init__(self, cpu: float) -> None:
        super().__init__(f"no answer; {cpu:.1f} s of CPU time used")
        self.cpu = cpu


class WorkerGone(Exception):
    """The worker ended before it answered, or its reply had a wrong form. `why` is a sentence."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True)
class WorkerLimits:
    """What one worker may use. With `scratch_mb` it has a folder of that size that it may write to, else none."""

    memory_mb: int
    cpu_seconds: int
    output_bytes: int
    scratch_mb: int = 0


class Zygote:
    """The warm process that forks workers. Use as a context manager.

    Mechanisms `without` which to do are left out, to see what that means; `required` is the level below which it does
    not start (see `levels`). One that does not fork becomes a worker itself when it is asked for one. It imports
    `also` these modules, and has these variables in its environment too.

    Raises:
        NotConfined: this host offers less than is required.
        SandboxError: it did not start.
    """

    def __init__(
        self,
        without: Sequence[str] = (),
        required: str | None = None,
        forks: bool = True,
        also: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._forks = forks
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", str(Path(__file__).with_name("zygote.py")), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**_environment(), **(variables or {})},
                cwd="/",
                start_new_session=True,
                pass_fds=(theirs.fileno(),),
            )
        self._control = ours
        engine = str(Path(__file__).resolve().parents[2])
        settings = {"packages": package_folders(), "engine": engine, "without": list(without), "forks": forks}
        settings["also"] = list(also)
        self._control.sendall(json.dumps(settings).encode())
        if required is not None and not satisfies(self.isolation, required):
            self.close()
            raise NotConfined(
                f"isolation `{required}` is required, this host offers `{self.isolation}`; `autograder doctor` says why"
            )

    @cached_property
    def report(self) -> dict[str, Any]:
        """Which versions it runs, which isolation is in force and what is missing. Waits until it is warm."""
        found: dict[str, Any] = json.loads(self._line()[0])
        return found

    @property
    def isolation(self) -> str:
        """What stands between student code and the machine (see `levels`)."""
        return str(self.report["isolation"])

    def must_have_scratch_for(self, exercises: Sequence[str]) -> None:
        """Make sure that workers can have scratch if these exercises, which ask for it, are any.

        Raises:
            NotConfined: this host cannot give it.
        """
        why = self.report["no scratch"] if exercises else ""
        if why:
            raise NotConfined(
                f"scratch_mb of {', '.join(exercises)} cannot be given on this host ({why}); grade where"
                " `autograder doctor` says that scratch can be given, or take scratch_mb out of course.yml"
            )

    def fork(self, limits: WorkerLimits) -> Worker:
        """A fresh worker."""
        assert self.report
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()
        request = {"do": "fork", **vars(limits)}
        try:
            socket.send_fds(self._control, [json.dumps(request).encode() + b"\n"], [theirs.fileno(), writing])
            line, descriptors = self._line()
        except OSError as error:
            raise SandboxError(f"the zygote does not answer: {error}") from error
        finally:
            theirs.close()
            os.close(writing)
        pid = json.loads(line)["pid"]
        return Worker(self, pid, descriptors[0] if descriptors else None, ours, reading, limits)

    @property
    def alive(self) -> bool:
        """Does it still hold its end of the control socket?"""
        try:
            return self._control.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def end(self, pid: int) -> None:
        """Have a worker and all it started killed and reaped. Does not wait."""
        if not self._forks:
            self._process.kill()
            self.close()
            return
        try:
            self._control.sendall(json.dumps({"do": "end", "pid": pid}).encode() + b"\n")
        except OSError:
            pass

    def close(self) -> None:
        """End the zygote; it ends its workers first."""
        self._control.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Zygote:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _line(self) -> tuple[bytes, list[int]]:
        if not select.select([self._control], [], [], ZYGOTE_PATIENCE)[0]:
            self._process.kill()
            raise SandboxError(f"the zygote gave no answer within {ZYGOTE_PATIENCE} s")
        line, descriptors, _, _ = socket.recv_fds(self._control, 4096, 1)
        if not line:
            raise SandboxError("the zygote ended; its last words are above")
        return line, list(descriptors)


class Spawner(Zygote):
    """In the place of a zygote where a process with torch in it cannot be forked: each worker is a process of its own,
    started beforehand while another one is in use. The same outcomes, at seconds for each worker.
    """

    def __init__(self, without: Sequence[str] = (), required: str | None = None) -> None:
        self._without = without
        self._spare = Zygote(without, required, forks=False)
        self._in_use: dict[int, Zygote] = {}

    @cached_property
    def report(self) -> dict[str, Any]:
        """As of a zygote."""
        return self._spare.report

    def fork(self, limits: WorkerLimits) -> Worker:
        """A fresh worker, and a start on the one after it."""
        assert self.report
        starting, self._spare = self._spare, Zygote(self._without, forks=False)
        worker = starting.fork(limits)
        worker.belongs_to(self)
        self._in_use[worker.pid] = starting
        return worker

    @property
    def alive(self) -> bool:
        """There is always another one to be started."""
        return True

    def end(self, pid: int) -> None:
        """End the process of a worker."""
        if pid in self._in_use:
            self._in_use.pop(pid).end(pid)

    def close(self) -> None:
        """End all processes."""
        for pid in list(self._in_use):
            self.end(pid)
        self._spare.end(0)


class Worker:
    """One forked process with one student's code in it."""

    def __init__(
        self, zygote: Zygote, pid: int, pidfd: int | None, channel: socket.socket, output: int, limits: WorkerLimits
    ) -> None:
        self.pid = pid
        self._seen_pid = pid if pidfd is None else _pid_here(pidfd, pid)
        self.alive = True
        self._is_ready = False
        self._zygote = zygote
        self._pidfd = pidfd
        self._channel = channel
        self._output = output
        self._limits = limits
        self._kept = bytearray()
        self._received = 0
        self._output_open = True
        self._cpu_seen = 0.0
        self.waited_for_since: float | None = None
        """When somebody began to wait for the answer to what was posted last, by the monotonic clock."""
        channel.setblocking(False)
        os.set_blocking(output, False)

    @property
    def scratch_mb(self) -> int:
        """The size of the folder that it may write to; 0 when there is none."""
        return self._limits.scratch_mb

    def belongs_to(self, zygote: Zygote) -> None:
        """From now on this one is asked to end it."""
        self._zygote = zygote

    def ask(self, frame: bytes, cpu_limit: float, wall_limit: float) -> dict[str, Any]:
        """Send a frame of operations, return the reply to the last one (or to the first that had a fault).

        Raises:
            CallTimedOut: no answer within `cpu_limit` seconds of the worker's CPU time or `wall_limit` seconds.
            WorkerGone: the process ended, or what it sent is not a reply.
        """
        self.post(frame, cpu_limit, wall_limit)
        return self.collect()

    def post(self, frame: bytes, cpu_limit: float, wall_limit: float) -> None:
        """Send a frame of operations; the reply is to be collected. Raises as `ask`."""
        self._deadline = _Deadline(self, cpu_limit, wall_limit)
        self.waited_for_since = None
        with self._ended_by_failure():
            self._write(frame, self._deadline)

    def collect(self) -> dict[str, Any]:
        """The reply to what was posted; the clock on the wall starts now, if not earlier. Raises as `ask`."""
        self._begin_to_wait()
        with self._ended_by_failure():
            return replies.checked(wire.decode(self._read_frame(self._deadline)))

    def has_answered(self) -> bool:
        """Would `collect` return, or raise, almost at once?"""
        self._begin_to_wait()
        self._drain()
        try:
            self._deadline.slice()
            if not self._is_ready and self._has_something():
                if self._channel.recv(1, socket.MSG_PEEK) != READY:
                    return True
                self._hear_that_it_is_ready()
        except (CallTimedOut, OSError):
            return True
        return self._has_something()

    def _has_something(self) -> bool:
        """Did it send something that was not read yet, or end?"""
        return bool(select.select(self._watched(), [], [], 0)[0])

    def _watched(self) -> list[Any]:
        return [self._channel, *([self._pidfd] if self._pidfd is not None else [])]

    def _begin_to_wait(self) -> None:
        if self.waited_for_since is None:
            self.waited_for_since = self._deadline.restart_wall()

    @contextmanager
    def _ended_by_failure(self) -> Iterator[None]:
        try:
            yield
        except (ConnectionError, EOFError):  # which of them it is depends on who is faster
            self.end()
            raise WorkerGone("its process ended before it answered") from None
        except (wire.WireError, replies.NoReply) as error:
            self.end()
            raise WorkerGone(str(error)) from None
        except CallTimedOut:
            self.end()
            raise

    def cpu_seconds(self) -> float:
        """CPU time this process has used, read from outside; what was last seen when it is gone."""
        if self.alive:
            try:
                self._cpu_seen = max(self._cpu_seen, time.clock_gettime((~self._seen_pid << 3) | 2))
            except (OSError, AttributeError):
                pass
        return self._cpu_seen

    def take_output(self) -> str:
        """What it printed since this was last asked, control characters replaced; nothing more after the limit."""
        self._drain()
        text = self._kept.decode("utf-8", "backslashreplace")
        self._kept.clear()
        return "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in text)

    @property
    def flooded(self) -> bool:
        """Did it print more than its limit?"""
        self._drain()
        return self._received > self._limits.output_bytes

    def end(self) -> None:
        """Kill the process and everything it started. Safe to call twice."""
        if not self.alive:
            return
        self._drain()
        self.cpu_seconds()
        self.alive = False
        self._output_open = False
        if self._pidfd is not None:
            try:
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            except OSError:
                pass
            os.close(self._pidfd)
        self._zygote.end(self.pid)
        self._channel.close()
        os.close(self._output)

    def _write(self, frame: bytes, deadline: _Deadline) -> None:
        view = memoryview(frame)
        while view:
            try:
                view = view[self._channel.send(view) :]
            except BlockingIOError:
                self._wait(deadline, writing=True)

    def _read_frame(self, deadline: _Deadline) -> memoryview:
        """The body of the next frame; most often all of it is there at once."""
        data, whole = bytearray(), wire.HEAD.size
        while len(data) < whole:
            self._wait(deadline)
            try:
                if not self._is_ready:
                    self._hear_that_it_is_ready()
                piece = self._channel.recv(max(1 << 16, min(whole - len(data), 1 << 20)))
            except BlockingIOError:
                continue
            if not piece:
                raise EOFError
            data += piece
            if len(data) >= wire.HEAD.size:
                whole = wire.HEAD.size + wire.body_length(bytes(data[: wire.HEAD.size]), wire.MAX_REPLY)
        if len(data) > whole:
            raise wire.WireError("more came than one reply")
        return memoryview(data)[wire.HEAD.size :]

    def _hear_that_it_is_ready(self) -> None:
        """The worker's first byte, which it sends before it reads anything.

        Raises:
            NotConfined: it could not be closed in, and ended.
            EOFError: it ended, and not by itself.
        """
        try:
            first = self._channel.recv(1)
        except ConnectionError:
            first = b""
        if first != READY:
            said = self.take_output().strip()
            if said:
                raise NotConfined(f"a worker could not be closed in ({said}); nothing more is graded")
            raise EOFError
        self._is_ready = True

    def _wait(self, deadline: _Deadline, writing: bool = False) -> None:
        """Until the channel is ready or the deadline is over; what is printed meanwhile is drained."""
        watched = self._watched()[1:] if writing else self._watched()
        watched += [self._output] if self._output_open else []
        readable, writable, _ = select.select(watched, [self._channel] if writing else [], [], deadline.slice())
        if self._output in readable:
            self._drain()
        if self._pidfd in readable and self._channel not in readable and not writable:
            raise EOFError

    def _drain(self) -> None:
        """Read what is in the output pipe, as far as it goes at once; keep as much as the limit allows."""
        room = self._limits.output_bytes + 1
        for _ in range(64):  # a flood may fill it faster than it is emptied
            if not self._output_open:
                return
            try:
                piece = os.read(self._output, 1 << 16)
            except BlockingIOError:
                return
            kept = piece[: max(0, room - self._received)]
            self._kept += kept
            self._received += len(kept)
            self._output_open = bool(piece)


def first_to_answer(workers: Sequence[Worker]) -> int:
    """Wait until one of these has answered, ended or used up its time. Returns its place, the first if several have."""
    while True:
        for place, worker in enumerate(workers):
            if not worker.alive or worker.has_answered():
                return place
        watched = [channel for worker in workers for channel in worker._watched()]
        watched += [worker._output for worker in workers if worker._output_open]
        with suppress(CallTimedOut):
            select.select(watched, [], [], min(worker._deadline.slice() for worker in workers))


class _Deadline:
    """The limit of one call, by the worker's CPU clock, with a generous limit by the clock on the wall."""

    def __init__(self, worker: Worker, cpu_limit: float, wall_limit: float) -> None:
        self._worker = worker
        self._cpu_start = worker.cpu_seconds()
        self._cpu_limit = cpu_limit
        self._wall_limit = wall_limit
        self.restart_wall()

    def restart_wall(self) -> float:
        """Give it the whole wall limit from now on; the CPU time used so far stays used. Returns what time it is."""
        now = time.monotonic()
        self._end = now + self._wall_limit
        return now

    def slice(self) -> float:
        """Seconds to wait before looking again.

        Raises:
            CallTimedOut: nothing is left.
        """
        used = self._worker.cpu_seconds() - self._cpu_start
        left = min(self._cpu_limit - used, self._end - time.monotonic())
        if left <= 0:
            raise CallTimedOut(used)
        return max(left, 0.01)


def _pid_here(pidfd: int, pid: int) -> int:
    """The number by which this process knows that one; in a namespace of its own it has another."""
    try:
        with open(f"/proc/self/fdinfo/{pidfd}") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("Pid:")), pid)
    except OSError:
        return pid


def package_folders() -> list[str]:
    """Folders that hold installed packages; start-up files (.pth) in them are not run in the zygote."""
    paths = sysconfig.get_paths()
    return list(dict.fromkeys(os.path.realpath(paths[key]) for key in ("purelib", "platlib")))


def _environment() -> dict[str, str]:
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    kept = {k: os.environ[k] for k in ("LD_LIBRARY_PATH", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE") if k in os.environ}
    eager = {
        "TORCHDYNAMO_DISABLE": "1"
    }  # torch.compile then gives the function back; compiling needs programs and files
    return {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/nonexistent", **threads, **eager, **kept}
