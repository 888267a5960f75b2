"""What a worker of this host can do to its surroundings, found out by letting one try.

Every line is an act that a hostile submission might try. It is done in a real worker, and again outside as a control:
an act that fails outside too proves nothing about the protection.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.sandbox import wire
from autograder.sandbox.host.errors import CallTimedOut, WorkerGone
from autograder.sandbox.host.worker import Worker, WorkerLimits
from autograder.sandbox.host.zygote import Zygote
from autograder.sandbox.levels import cures
from autograder.sandbox.values import Ref

_LIMITS = WorkerLimits(memory_mb=512, cpu_seconds=20, output_bytes=4096)

_ACTS = {
    "read": "read a file of yours",
    "stat": "learn that a file of yours exists",
    "write": "write a file",
    "connect": "open a network connection",
    "start": "start a process",
    "program": "run a program",
    "thread": "start a thread",
    "signal": "signal the process that started it",
    "memory": "read the memory of another process",
    "environment": "read the environment of another process",
    "allocate": "use more memory than its limit",
    "loop": "compute longer than its limit",
    "linger": "leave a process behind",
}

_PROBE = """
import ctypes, os, signal, socket, threading


def read(path, port, folder): open(path).read()
def stat(path, port, folder): os.stat(path)
def write(path, port, folder): open(os.path.join(folder, "written"), "w").close()
def connect(path, port, folder): socket.create_connection(("127.0.0.1", port), 2).close()
def program(path, port, folder): os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
def signal(path, port, folder): os.kill(os.getppid(), 0)
def environment(path, port, folder): open(f"/proc/{os.getppid()}/environ", "rb").read()
def allocate(path, port, folder): bytearray(3 << 30)


def start(path, port, folder):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def thread(path, port, folder):
    one = threading.Thread(target=str)
    one.start()
    one.join()


def memory(path, port, folder):
    with open(f"/proc/{os.getppid()}/mem", "rb") as file:
        file.read(0)


def loop(path, port, folder):
    while True:
        pass


def linger(path, port, folder):
    pid = os.fork()
    if pid == 0:
        os.setsid()
        import time
        time.sleep(30)
        os._exit(0)
    return pid


def succeeds(name, *where):
    try:
        globals()[name](*where)
    except BaseException:
        return False
    return True
"""


@dataclass(frozen=True)
class Finding:
    """Whether a worker is stopped from an act. `proven`: the same act works outside."""

    act: str
    is_stopped: bool
    proven: bool


@dataclass(frozen=True)
class Diagnosis:
    """What a host offers. `missing` says why a mechanism is not in force, `cures` how to get it, `no_scratch` why an
    exercise cannot have scratch (empty: it can).
    """

    isolation: str
    versions: dict[str, str]
    in_force: tuple[str, ...]
    missing: dict[str, str]
    cures: dict[str, str]
    no_scratch: str
    findings: tuple[Finding, ...]


def examine(without: Sequence[str] = ()) -> Diagnosis:
    """Start a zygote and let workers of it try. Raises SandboxError when there is no zygote to be had."""
    with (
        tempfile.TemporaryDirectory(prefix="autograder-doctor-") as folder,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        os.chmod(folder, 0o755)  # a worker may be another user, whom a private folder of ours would stop as well
        secret = Path(folder, "secret.txt")
        secret.write_text("secret")
        where = (str(secret), listener.getsockname()[1], folder)
        with Zygote(without) as zygote:
            report = zygote.report
            findings = [_tried(zygote, name, where) for name in _ACTS if name != "linger"]
            findings.append(_lingers(zygote, where))
            isolation = zygote.isolation
    own = os.uname() if hasattr(os, "uname") else None
    versions = {name: str(report[name]) for name in ("torch", "python")}
    versions["kernel"] = f"{own.sysname} {own.release} {own.machine}" if own else os.name
    versions["user"] = "root" if hasattr(os, "getuid") and os.getuid() == 0 else "an ordinary user"
    missing = {str(name): str(why) for name, why in report["missing"].items()}
    in_force, no_scratch = tuple(report["in force"]), str(report["no scratch"])
    return Diagnosis(isolation, versions, in_force, missing, cures(missing), no_scratch, tuple(findings))


def _tried(zygote: Zygote, name: str, where: tuple[Any, ...]) -> Finding:
    worker = _with_probe(zygote)
    try:
        reply = worker.ask(_call("succeeds", name, *where), cpu_limit=1, wall_limit=10)
        stopped = reply.get("value") is False
    except (CallTimedOut, WorkerGone):
        stopped = True
    finally:
        worker.end()
    return Finding(_ACTS[name], stopped, proven=name in _NOT_TRIED_OUTSIDE or _outside(name, where))


_NOT_TRIED_OUTSIDE = ("allocate", "loop", "linger")
"""What would hurt this process. Without a limit there is no end to it."""


def _outside(name: str, where: tuple[Any, ...]) -> bool:
    """Does the act work in this process, which nothing confines?"""
    space: dict[str, Any] = {}
    exec(compile(_PROBE, "probe.py", "exec"), space)  # our own text, not a student's
    return bool(space["succeeds"](name, *where))


def _lingers(zygote: Zygote, where: tuple[Any, ...]) -> Finding:
    """Is a process that a worker leaves behind gone when the worker is? (One that cannot start any leaves none.)"""
    worker = _with_probe(zygote)
    try:
        left = worker.ask(_call("linger", *where), cpu_limit=5, wall_limit=10).get("value")
    except (CallTimedOut, WorkerGone):
        left = None
    worker.end()
    zygote.fork(_LIMITS).end()  # it answers when it is done with ending the first
    gone = type(left) is not int or "namespaces" in zygote.report["in force"] or not Path(f"/proc/{left}").exists()
    return Finding(_ACTS["linger"], gone, proven=True)


def _with_probe(zygote: Zygote) -> Worker:
    worker = zygote.fork(_LIMITS)
    load = {"module": "probe", "source": _PROBE.encode(), "filename": "probe.py", "siblings": {}}
    worker.ask(wire.request(("load", load)), cpu_limit=10, wall_limit=60)
    return worker


def _call(name: str, *arguments: Any) -> bytes:
    return wire.request(("call", {"ref": Ref("probe", name), "arguments": list(arguments), "keywords": {}}))
