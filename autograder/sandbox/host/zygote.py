"""The zygote as the grader holds it: start it, have it fork workers and end them.

Its settings and then requests, each a line of JSON, go out on the control socket, with the descriptors of a worker's
channel and output; the report when it is warm, then the number of each worker, come back on it. What workers are asked
does not pass through it.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.sandbox.host.errors import NotConfined, SandboxError
from autograder.sandbox.levels import satisfies

if TYPE_CHECKING:
    from autograder.sandbox.host.worker import Worker, WorkerLimits

ENGINE = Path(__file__).resolve().parents[3]
"""The folder that holds the package `autograder`."""
PROGRAM = ENGINE / "autograder" / "sandbox" / "zygote.py"

ZYGOTE_PATIENCE = 60
"""Seconds after which a zygote that does not answer is given up; its longest task is to start."""


class Zygote:
    """The warm process that forks workers. Use as a context manager.

    Mechanisms `without` which to do are left out, to see what that means. One that does not fork becomes a worker
    itself when it is asked for one. It imports `also` these modules, and has these variables in its environment too.
    """

    def __init__(
        self,
        without: Sequence[str] = (),
        forks: bool = True,
        also: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._forks = forks
        self._was_given_up = False
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", str(PROGRAM), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**_environment(), **(variables or {})},
                cwd="/",
                start_new_session=True,
                pass_fds=(theirs.fileno(),),
            )
        self._control = ours
        settings = {
            "packages": _package_folders(),
            "engine": str(ENGINE),
            "without": list(without),
            "forks": forks,
            "also": list(also),
        }
        with suppress(OSError):  # it may have ended; that is seen where its report is waited for
            self._control.sendall(json.dumps(settings).encode())

    @cached_property
    def report(self) -> dict[str, Any]:
        """Which versions it runs, which isolation is in force and what is missing. Waits until it is warm.

        Raises:
            SandboxError: it did not start.
        """
        found: dict[str, Any] = json.loads(self._line()[0])
        return found

    @property
    def isolation(self) -> str:
        """What stands between student code and the machine (see `levels`)."""
        return str(self.report["isolation"])

    def must_offer(self, required: str | None) -> None:
        """Make sure that it is warm, and closes workers in as this level says, if one is required.

        Raises:
            NotConfined: this host offers less.
            SandboxError: it did not start.
        """
        if not satisfies(self.isolation, required):
            raise NotConfined(
                f"isolation `{required}` is required, this host offers `{self.isolation}`; `autograder doctor` says why"
            )

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
        # It needs torch, and a zygote may be started before that is there.
        from autograder.sandbox.host.worker import Worker

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
        return Worker(pid, descriptors[0] if descriptors else None, ours, reading, limits, self.end)

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

    @property
    def was_killed(self) -> bool:
        """Of one that is closed: did something outside end it, rather than a fault of its own?"""
        return self._process.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL) and not self._was_given_up

    def close(self) -> None:
        """End the zygote; it ends its workers first. One that is not warm yet has none, and would not listen."""
        self._control.close()
        if "report" not in vars(self):
            self._process.kill()
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
            self._was_given_up = True
            self._process.kill()
            raise SandboxError(f"the zygote gave no answer within {ZYGOTE_PATIENCE} s")
        try:
            line, descriptors, _, _ = socket.recv_fds(self._control, 4096, 1)
        except ConnectionError:  # it ended before it read what was sent
            line = b""
        if not line:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(10)
            raise SandboxError("the zygote ended; its last words are above")
        return line, list(descriptors)


def _package_folders() -> list[str]:
    """Folders that hold installed packages; start-up files (.pth) in them are not run in the zygote."""
    paths = sysconfig.get_paths()
    return list(dict.fromkeys(os.path.realpath(paths[key]) for key in ("purelib", "platlib")))


def _environment() -> dict[str, str]:
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    kept = {k: os.environ[k] for k in ("LD_LIBRARY_PATH", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE") if k in os.environ}
    eager = {"TORCHDYNAMO_DISABLE": "1"}  # torch.compile gives the function back; compiling needs programs and files
    return {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/nonexistent", **threads, **eager, **kept}
