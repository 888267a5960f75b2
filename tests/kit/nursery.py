"""A warm process that has imported torch and pytest once, and forks a process for each command that a test runs.

A command finds arguments, environment, folder, import path and streams as if Python had been started for it, but not
the seconds that the imports take. What Python settles when it starts (the locale, UTF-8 mode, the hash seed) is as in
the process that runs the tests, and a missing import would not be seen: a test of these starts Python itself.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import runpy
import secrets
import socket
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

KIT = Path(__file__).parent
ROOT = KIT.parents[1]
ENGINE = ("pytest", "torch", "torch._dynamo", "autograder.cli.grade", "autograder.cli.doctor", "autograder.grading.run")
PLANTED = f"MARKER_{secrets.token_hex(8)}_environment"
"""Stands in its environment, and so in what /proc tells of every command, for attacks to find."""


class Child:
    """A command under way."""

    def __init__(self, status: socket.socket) -> None:
        self._status = status.makefile("r")
        status.close()
        self.pid = int(self._status.readline())

    def wait(self) -> int:
        """Its exit code; as of `subprocess`, negative for the signal that ended it."""
        return int(self._status.readline())


class Nursery:
    """Starts the warm process, and asks it for commands."""

    def __init__(self, imports: Sequence[str]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno()), *imports],
                env={**os.environ, "PYTHONPATH": f"{ROOT}:{KIT}", "OMP_NUM_THREADS": "1", "PLANTED": PLANTED},
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
            )
        self._asked = ours

    def start(
        self,
        arguments: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        host: str,
        out: int,
        err: int,
        into: int | None = None,
    ) -> Child:
        """Start `python ARGUMENTS` (`-m MODULE ...` or `-c CODE ...`), as on another host or as another user; `into` is
        its standard input, where it has one.
        """
        ours, theirs = socket.socketpair()
        request = {"arguments": list(arguments), "cwd": str(cwd), "env": dict(env), "host": host}
        descriptors = [out, err, theirs.fileno(), *([] if into is None else [into])]
        with theirs:
            socket.send_fds(self._asked, [json.dumps(request).encode()], descriptors)
        return Child(ours)

    def run(
        self, *arguments: str | Path, cwd: Path = ROOT, env: Mapping[str, str] | None = None, host: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run `python ARGUMENTS` to its end."""
        words = list(map(str, arguments))
        with open(os.memfd_create("out"), "w+b") as out, open(os.memfd_create("err"), "w+b") as err:
            environment = os.environ if env is None else env
            code = self.start(words, cwd, environment, host, out.fileno(), err.fileno()).wait()
            out.seek(0)
            err.seek(0)
            stdout, stderr = (stream.read().decode("utf-8", "backslashreplace") for stream in (out, err))
        return subprocess.CompletedProcess(words, code, stdout, stderr)

    def close(self) -> None:
        self._asked.close()
        self._process.wait()


@cache
def nursery(imports: Sequence[str] = ENGINE) -> Nursery:
    """The one of this test session."""
    made = Nursery(imports)
    atexit.register(made.close)
    return made


# -- in the warm process


def main() -> None:
    asked = socket.socket(fileno=int(sys.argv[1]))
    asked.set_inheritable(False)
    for name in sys.argv[2:]:
        importlib.import_module(name)
    sys.path[:] = [path for path in sys.path if path not in (str(ROOT), str(KIT))]
    gc.collect()
    gc.freeze()
    watching: set[int] = set()
    while True:
        request, descriptors, _, _ = socket.recv_fds(asked, 1 << 20, 4)
        watching = {pid for pid in watching if not os.waitpid(pid, os.WNOHANG if request else 0)[0]}
        if not request:
            return
        pid = os.fork()
        if pid == 0:
            asked.close()
            _watch(json.loads(request), *descriptors)
        watching.add(pid)
        for descriptor in descriptors:
            os.close(descriptor)


def _watch(request: dict[str, Any], out: int, err: int, status: int, *into: int) -> NoReturn:
    """In a fork: start the command in another one, tell its number, and how it ended."""
    pid = os.fork()
    if pid == 0:
        os.close(status)
        _become(request, out, err, *into)
    for descriptor in (out, err, *into):
        os.close(descriptor)
    os.write(status, f"{pid}\n".encode())
    os.write(status, f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n".encode())
    os._exit(0)


def _become(request: dict[str, Any], out: int, err: int, *into: int) -> NoReturn:
    """Be the command."""
    for descriptor in into:
        os.dup2(descriptor, 0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.closerange(3, 256)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__ = [
        io.TextIOWrapper(io.BufferedWriter(io.FileIO(number, "w")), "utf-8", errors, line_buffering=number == 2)
        for number, errors in ((1, "strict"), (2, "backslashreplace"))
    ]
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    kind, what, *others = request["arguments"]
    sys.argv = [kind, *others]
    sys.path[:0] = [os.getcwd() if kind == "-m" else "", *filter(None, os.environ.get("PYTHONPATH", "").split(":"))]
    importlib.invalidate_caches()
    code: Any = 0
    try:
        if request["host"]:
            _go_to(request["host"])
        if kind == "-m":
            runpy.run_module(what, run_name="__main__", alter_sys=True)
        else:
            exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    if not isinstance(code, int | None):
        print(code, file=sys.stderr)
        code = 1
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code or 0)


def _go_to(host: str) -> None:
    sys.path.insert(0, str(KIT))
    from attacks.hosts import become

    sys.path.remove(str(KIT))
    become(host)


if __name__ == "__main__":
    main()
