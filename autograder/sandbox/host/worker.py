"""A worker as the grader holds it: ask with a deadline, drain what it prints, end it.

A frame of operations goes out on the channel; its reply comes back on it once the worker has said that it is closed in
(READY), and is checked before anybody reads it. Whatever else the process sends or does ends it.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from autograder.sandbox import replies, wire
from autograder.sandbox.host.deadline import Deadline
from autograder.sandbox.host.errors import CallTimedOut, NotConfined, WorkerGone
from autograder.sandbox.host.output import Output
from autograder.sandbox.zygote import READY


@dataclass(frozen=True)
class WorkerLimits:
    """What one worker may use. With `scratch_mb` it has a folder of that size that it may write to, else none."""

    memory_mb: int
    cpu_seconds: int
    output_bytes: int
    scratch_mb: int = 0


class Worker:
    """One forked process with one student's code in it. `end` has the process `pid` and all it started killed."""

    def __init__(
        self,
        pid: int,
        pidfd: int | None,
        channel: socket.socket,
        output: int,
        limits: WorkerLimits,
        end: Callable[[int], None],
    ) -> None:
        self.pid = pid
        self._seen_pid = pid if pidfd is None else _pid_here(pidfd, pid)
        self.alive = True
        self._is_ready = False
        self._have_ended = end
        self._pidfd = pidfd
        self._channel = channel
        self._output = Output(output, limits.output_bytes)
        self._limits = limits
        self._cpu_seen = 0.0
        self.waited_for_since: float | None = None
        """When somebody began to wait for the answer to what was posted last, by the monotonic clock."""
        channel.setblocking(False)

    @property
    def scratch_mb(self) -> int:
        """The size of the folder that it may write to; 0 when there is none."""
        return self._limits.scratch_mb

    def have_it_ended_by(self, end: Callable[[int], None]) -> None:
        """From now on this is called to end it."""
        self._have_ended = end

    def ask(self, frame: bytes, cpu_limit: float, wall_limit: float) -> dict[str, Any]:
        """Send a frame of operations, return the reply to the last one (or to the first that had a fault).

        Raises:
            CallTimedOut: no answer within `cpu_limit` seconds of the worker's CPU time or `wall_limit` seconds.
            WorkerGone: the process ended, or what it sent is not a reply.
            NotConfined: it could not be closed in, and ended.
        """
        self.post(frame, cpu_limit, wall_limit)
        return self.collect()

    def post(self, frame: bytes, cpu_limit: float, wall_limit: float) -> None:
        """Send a frame of operations; the reply is to be collected. Raises as `ask`."""
        self._deadline = Deadline(self.cpu_seconds, cpu_limit, wall_limit)
        self.waited_for_since = None
        with self._ended_by_failure():
            self._write(frame)

    def collect(self) -> dict[str, Any]:
        """The reply to what was posted; the clock on the wall starts now, if not earlier. Raises as `ask`."""
        self._begin_to_wait()
        with self._ended_by_failure():
            return replies.checked(wire.decode(self._read_frame()))

    def has_answered(self) -> bool:
        """Would `collect` return, or raise, almost at once?"""
        self._begin_to_wait()
        self._output.drain()
        try:
            self._deadline.slice()
            if not self._is_ready and self._has_something():
                if self._channel.recv(1, socket.MSG_PEEK) != READY:
                    return True
                self._hear_that_it_is_ready()
        except (CallTimedOut, OSError):
            return True
        return self._has_something()

    def watched(self) -> list[Any]:
        """What `select` can wait for: an answer, its end, something printed."""
        return [*self._speaking(), *([self._output] if self._output.is_open else [])]

    def seconds_to_wait(self) -> float:
        """So long it can be waited for before looking again. Raises CallTimedOut when its time is over."""
        return self._deadline.slice()

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
        return self._output.take()

    @property
    def flooded(self) -> bool:
        """Did it print more than its limit?"""
        return self._output.flooded

    def end(self) -> None:
        """Kill the process and everything it started. Safe to call twice."""
        if not self.alive:
            return
        self._output.drain()
        self.cpu_seconds()
        self.alive = False
        if self._pidfd is not None:
            try:
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            except OSError:
                pass
            os.close(self._pidfd)
        self._have_ended(self.pid)
        self._channel.close()
        self._output.close()

    def _has_something(self) -> bool:
        """Did it send something that was not read yet, or end?"""
        return bool(select.select(self._speaking(), [], [], 0)[0])

    def _speaking(self) -> list[Any]:
        """The channel, and what becomes readable when the process ends."""
        return [self._channel, *([self._pidfd] if self._pidfd is not None else [])]

    def _begin_to_wait(self) -> None:
        if self.waited_for_since is None:
            self.waited_for_since = self._deadline.restart_wall()

    @contextmanager
    def _ended_by_failure(self) -> Iterator[None]:
        try:
            yield
        except (ConnectionError, EOFError):  # which of them it is depends on who is faster
            if not self._is_ready:
                with suppress(EOFError, BlockingIOError):
                    self._hear_that_it_is_ready()
            self.end()
            raise WorkerGone("its process ended before it answered") from None
        except (wire.WireError, replies.NoReply) as error:
            self.end()
            raise WorkerGone(str(error)) from None
        except CallTimedOut:
            self.end()
            raise

    def _write(self, frame: bytes) -> None:
        view = memoryview(frame)
        while view:
            try:
                view = view[self._channel.send(view) :]
            except BlockingIOError:
                self._wait(writing=True)

    def _read_frame(self) -> memoryview:
        """The body of the next frame; most often all of it is there at once."""
        data, whole = bytearray(), wire.HEAD.size
        while len(data) < whole:
            self._wait()
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

    def _wait(self, writing: bool = False) -> None:
        """Until the channel is ready or the deadline is over; what is printed meanwhile is drained."""
        watched = self.watched()[1:] if writing else self.watched()
        sending = [self._channel] if writing else []
        readable, writable, _ = select.select(watched, sending, [], self._deadline.slice())
        if self._output in readable:
            self._output.drain()
        if self._pidfd in readable and self._channel not in readable and not writable:
            raise EOFError


def first_to_answer(workers: Sequence[Worker]) -> int:
    """Wait until one of these has answered, ended or used up its time. Returns its place, the first if several have."""
    while True:
        for place, worker in enumerate(workers):
            if not worker.alive or worker.has_answered():
                return place
        watched = [source for worker in workers for source in worker.watched()]
        with suppress(CallTimedOut):
            select.select(watched, [], [], min(worker.seconds_to_wait() for worker in workers))


def _pid_here(pidfd: int, pid: int) -> int:
    """The number by which this process knows that one; in a namespace of its own it has another."""
    try:
        with open(f"/proc/self/fdinfo/{pidfd}") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("Pid:")), pid)
    except OSError:
        return pid
