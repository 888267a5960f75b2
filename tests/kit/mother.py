"""The mother of zygotes: a process that is as warm as a zygote, and has a child that is one whenever a test needs it.

To start a zygote takes seconds, nearly all of them for torch; to fork one that is warm takes a moment. What is asked of
a zygote is the same: the child goes into confinement, probes what is in force, and serves, as the program does. It is a
child of the process that asked, as one that was started is. That the program itself starts is for other tests to see.
"""

from __future__ import annotations

import ctypes
import gc
import importlib.util
import json
import os
import platform
import select
import signal
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from types import SimpleNamespace
from typing import Any, NoReturn

ROOT = Path(__file__).parents[2]
CLONE = {"x86_64": 56, "aarch64": 220}.get(platform.machine())
CLONE_PARENT = 0x8000
CAN_BEAR = sys.platform == "linux" and CLONE is not None


class Born:
    """A zygote that the mother has borne, as the process that `subprocess` would have started."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._pidfd = os.pidfd_open(pid)

    def kill(self) -> None:
        if self._pidfd >= 0:
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def wait(self, seconds: float | None = None) -> None:
        if self._pidfd < 0:
            return
        if not select.select([self._pidfd], [], [], seconds)[0]:
            raise subprocess.TimeoutExpired("a zygote", seconds or 0.0)
        self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self._pidfd)
        self._pidfd = -1


class Mother:
    """Starts the mother, and asks her for zygotes. She ends with the process that started her."""

    def __init__(self, settings: Mapping[str, Any], env: Mapping[str, str]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        zygote = ROOT / "autograder/sandbox/zygote.py"
        with theirs:
            subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", __file__, str(theirs.fileno()), str(zygote)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=env,
                cwd="/",
                start_new_session=True,
                pass_fds=(theirs.fileno(),),
            )
        ours.send(json.dumps(settings).encode())
        self._asked = ours
        self._turn = Lock()

    def bear(self, control: int, env: Mapping[str, str]) -> Born:
        """A new zygote, with this control socket and environment."""
        with self._turn:
            socket.send_fds(self._asked, [json.dumps(dict(env)).encode()], [control, 2])
            return Born(int(self._asked.recv(64)))


@cache
def mother() -> Mother:
    """The one of this test session."""
    paths = sysconfig.get_paths()
    packages = list(dict.fromkeys(os.path.realpath(paths[key]) for key in ("purelib", "platlib")))
    return Mother({"packages": packages, "engine": str(ROOT)}, _names_of_zygotes()["_environment"]())


def _names_of_zygotes() -> dict[str, Any]:
    """The names that the grader's side of a zygote knows."""
    from autograder.sandbox.host.zygote import Zygote

    return Zygote.__init__.__globals__


def _born(_: Sequence[str], *, env: Mapping[str, str], pass_fds: Sequence[int], **how: Any) -> Born:
    return mother().bear(pass_fds[0], env)


@contextmanager
def borne() -> Iterator[None]:
    """Every zygote that this process starts meanwhile is one of the mother's children, where that can be."""
    names = _names_of_zygotes()
    starting = names["subprocess"]
    if CAN_BEAR and starting is subprocess:
        mother()  # now, for a zygote lives no longer than the thread that its parent was started in
        names["subprocess"] = SimpleNamespace(**{**vars(subprocess), "Popen": _born})
    try:
        yield
    finally:
        names["subprocess"] = starting


# -- in the mother


def main() -> None:
    asked = socket.socket(fileno=int(sys.argv[1]))
    asked.set_inheritable(False)
    spec = importlib.util.spec_from_file_location("zygote", sys.argv[2])
    assert spec is not None and spec.loader is not None
    zygote = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(zygote)
    settings = json.loads(asked.recv(65536))
    zygote._import_path(settings["packages"], settings["engine"])
    zygote._warm([])
    sys.modules["__main__"] = zygote  # so it is in one that was started
    while True:
        request, descriptors, _, _ = socket.recv_fds(asked, 1 << 16, 2)
        if not request:
            return
        pid = _fork()
        if pid == 0:
            asked.close()
            _become(zygote, json.loads(request), *descriptors)
        asked.send(str(pid).encode())
        for descriptor in descriptors:
            os.close(descriptor)


def _fork() -> int:
    """As os.fork, but the child's parent is the parent of this process."""
    python, kernel = ctypes.pythonapi, ctypes.PyDLL(None)
    python.PyOS_BeforeFork()
    pid: int = kernel.syscall(*map(ctypes.c_long, (CLONE, CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)))
    if pid == 0:
        python.PyOS_AfterFork_Child()
    else:
        python.PyOS_AfterFork_Parent()
    return pid


def _become(zygote: Any, env: Mapping[str, str], control: int, err: int) -> NoReturn:
    """Be a zygote."""
    try:
        os.dup2(err, 2)
        os.close(err)
        os.setsid()
        os.environ.update(env)
        zygote._end_with_parent()
        asked = socket.socket(fileno=control)
        settings = json.loads(asked.recv(65536))
        for name in settings["also"]:
            importlib.import_module(name)
        gc.freeze()
        zygote._serve(asked, settings)
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    os._exit(1)


if __name__ == "__main__":
    main()
