"""What the zygote and its workers give up before student code runs: probed once, then applied to every worker.

A mechanism is in force when a child process was seen to be stopped by it; reading a setting proves nothing. What was
found to be in force is a promise: a worker to which it cannot be applied ends before it has read anything.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import signal
import socket
import sys
import tempfile
from collections.abc import Collection
from dataclasses import dataclass, field

from autograder.sandbox import kernel, landlock, namespaces, seccomp
from autograder.sandbox.levels import LANDLOCK, MECHANISMS, NAMESPACES, SECCOMP, level

LATE_PACKAGES = """
torch numpy sympy mpmath networkx jinja2 markupsafe fsspec filelock typing_extensions packaging torchgen functorch
einops tqdm regex
""".split()
"""Packages that a submission may import late; others only as far as they were loaded beforehand."""

_NOT_FOR_SUBMISSIONS = {"autograder", "site-packages", "dist-packages", "test", "idlelib", "ensurepip"}
_SYSTEM = """
/lib /lib64 /usr/lib64 /etc/ld.so.cache /etc/localtime /usr/share/zoneinfo /sys/devices/system/cpu
""".split()
_SCRATCH_NEEDS = (NAMESPACES, SECCOMP)
"""Without namespaces there is no place for it; without seccomp a worker could make more of them, and mount more."""
_OWN_USERS_FROM = 1_900_000_000
_OPEN_FILES = 64


@dataclass
class Confinement:
    """What is in force in this zygote, and for its workers. `missing` tells why something is not, and `no_scratch` why
    no worker can have scratch (empty: it can).
    """

    in_force: list[str] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    own_user: bool = False
    no_scratch: str = ""
    _readable: list[str] = field(default_factory=list)
    _listable: list[str] = field(default_factory=list)
    _rules: int | None = None
    _mapped: int = 0
    _workers: int = 0

    @property
    def sealed(self) -> bool:
        """Is opening a file refused altogether? So it is where nothing else guards files."""
        return SECCOMP in self.in_force and LANDLOCK not in self.in_force and NAMESPACES not in self.in_force

    def report(self) -> dict[str, object]:
        """For the grader: the level, what makes it, and why the rest is missing."""
        own_user = ["own user"] if self.own_user else []
        found = {"isolation": level(self.in_force), "in force": self.in_force + own_user, "missing": self.missing}
        return {**found, "no scratch": self.no_scratch}

    def prepare_worker(self) -> None:
        """In the zygote, before a fork: what all workers would have to find out again."""
        self._workers += 1
        if sys.platform == "linux":
            with kernel.open_proc("self/statm") as file:
                self._mapped = int(file.read().split()[0]) * resource.getpagesize()

    def close_in(self, memory_mb: int, cpu_seconds: int, scratch_mb: int = 0) -> None:
        """In the worker: give everything up, for good. With `scratch_mb`, all but a folder of that size, which is its
        current directory and TMPDIR.

        Raises:
            OSError: something that is in force here cannot be applied, or there is no scratch to be had; the worker
                must end.
        """
        self._limit(memory_mb, cpu_seconds, scratch_mb)
        if scratch_mb:
            self._go_to_scratch(scratch_mb)
        if sys.platform != "linux":
            return
        if self.own_user:
            _become(_OWN_USERS_FROM + (os.getppid() * 64 + self._workers) % 100_000_000)
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        if not self.in_force:
            return
        kernel.drop_capabilities()
        kernel.control(kernel.SET_NO_NEW_PRIVILEGES, 1)
        kernel.control(kernel.SET_DUMPABLE, 0)
        kernel.control(kernel.SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)  # a new user or capability may have cleared it
        if self._rules is not None:
            landlock.restrict(self._rules_with([namespaces.SCRATCH]) if scratch_mb else self._rules)

    def close_off(self, scratch_mb: int = 0) -> None:
        """The last step, when all descriptors are in place: refuse all calls but those listed."""
        if SECCOMP in self.in_force:
            seccomp.load(seccomp.of_a_worker(os.getpid(), files=not self.sealed, scratch=scratch_mb > 0))

    def _rules_with(self, writable: Collection[str] = ()) -> int:
        return landlock.ruleset([*self._readable, *namespaces.DEVICES], self._listable, writable)

    def _go_to_scratch(self, scratch_mb: int) -> None:
        if self.no_scratch:
            raise OSError(f"no scratch can be given: {self.no_scratch}")
        namespaces.mount_scratch(scratch_mb)
        os.chdir(namespaces.SCRATCH)
        os.environ["TMPDIR"] = tempfile.tempdir = namespaces.SCRATCH  # torch has asked for the latter, so it is settled

    def _limit(self, memory_mb: int, cpu_seconds: int, scratch_mb: int) -> None:
        wanted = {"CORE": 0, "CPU": cpu_seconds, "NOFILE": _OPEN_FILES, "MEMLOCK": 0, "MSGQUEUE": 0}
        wanted["FSIZE"] = scratch_mb << 20
        if self._mapped:
            wanted["AS"] = self._mapped + (memory_mb << 20)
            try:  # be the first to go when the host runs out of memory
                with kernel.open_proc("self/oom_score_adj", "w") as file:
                    file.write("1000")
            except OSError:
                pass
        for name, value in wanted.items():
            kind = getattr(resource, f"RLIMIT_{name}", None)
            if kind is not None:
                hard = resource.getrlimit(kind)[1]
                value = value if hard == resource.RLIM_INFINITY else min(value, hard)
                resource.setrlimit(kind, (value, value))


def shut_in(packages: Collection[str], without: Collection[str]) -> Confinement:
    """Find out what this host offers, and go into namespaces if it does. It is another process that went in; this one
    waits for it, and ends as it did.

    `packages` are folders of installed packages; mechanisms `without` which to do count as missing.
    """
    readable = _readable(packages)
    here = Confinement(_readable=readable, _listable=[_LIBRARY, *packages])
    offered = {name: "left out on request" if name in without else "" for name in MECHANISMS}
    if not kernel.SUPPORTED:
        offered = {
            name: f"needs Linux on x86_64 or aarch64, this is {sys.platform} on {kernel.MACHINE}" for name in MECHANISMS
        }
    offered[NAMESPACES] = offered[NAMESPACES] or kernel.tried(lambda: _try_namespaces(readable))
    if not offered[NAMESPACES]:
        pid = namespaces.enter(readable)
        if pid:
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            os._exit(code if code >= 0 else 128 - code)  # as a shell tells of a signal
    offered[LANDLOCK] = offered[LANDLOCK] or kernel.tried(lambda: _try_landlock(readable))
    offered[SECCOMP] = offered[SECCOMP] or kernel.tried(_try_seccomp)
    here.in_force = [name for name in MECHANISMS if not offered[name]]
    here.missing = {name: why for name, why in offered.items() if why}
    if LANDLOCK in here.in_force:
        here._rules = kernel.out_of_the_way(here._rules_with())
    is_root = kernel.SUPPORTED and os.getuid() == 0 and bool(here.in_force)
    here.own_user = is_root and not kernel.tried(lambda: _try_own_user(readable))
    lacking = " and ".join(name for name in _SCRATCH_NEEDS if name not in here.in_force)
    here.no_scratch = f"it needs {lacking}, not in force here" if lacking else kernel.tried(lambda: _try_scratch(here))
    return here


def _readable(packages: Collection[str]) -> list[str]:
    """What a worker may read: the interpreter's library and packages one by one, for other things lie between them."""
    found = [os.path.join(_LIBRARY, name) for name in sorted(os.listdir(_LIBRARY)) if name not in _NOT_FOR_SUBMISSIONS]
    loaded = {name.partition(".")[0] for name in sys.modules} - _NOT_FOR_SUBMISSIONS
    for name in sorted(loaded.union(LATE_PACKAGES)):
        for place in _places(name):
            if os.path.dirname(place) in packages:
                libraries = f"{os.path.splitext(place)[0]}.libs"
                found += [place, libraries] if os.path.isdir(libraries) else [place]
    triplet = f"{kernel.MACHINE}-linux-gnu"
    folders = [f"/usr/lib/{triplet}", f"/lib/{triplet}"] if os.path.isdir(f"/usr/lib/{triplet}") else ["/usr/lib"]
    return [*found, *(path for path in (*folders, *_SYSTEM) if not os.path.islink(os.path.dirname(path)))]


def _places(package: str) -> list[str]:
    """The folders of a package, or the file of a module; nothing where it is not installed."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    places = list(spec.submodule_search_locations or ()) or ([spec.origin] if spec.has_location and spec.origin else [])
    return [os.path.realpath(place) for place in places]


def _try_namespaces(readable: list[str]) -> None:
    """All of it, to the end: half-made namespaces would be worse than none."""
    pid = namespaces.enter(readable)
    if pid:
        os._exit(1 if os.waitpid(pid, 0)[1] else 0)  # what went wrong there was said there
    kernel.open_proc("self/statm").close()
    if os.path.exists(_OUTSIDE) or os.path.exists("/proc/1") or not os.path.exists(os.__file__):
        raise OSError("the private root is not what it should be")


def _try_landlock(readable: list[str]) -> None:
    kernel.control(kernel.SET_NO_NEW_PRIVILEGES, 1)
    landlock.restrict(landlock.ruleset(readable))
    open(os.__file__, "rb").close()
    try:
        open(_OUTSIDE, "rb").close()
    except PermissionError:
        return
    except FileNotFoundError:  # in a private root there is nothing else to try it on
        return
    raise OSError("the kernel took the rules, but a file out of them can be read")


_LIBRARY = os.path.dirname(os.path.realpath(os.__file__))
_OUTSIDE = os.path.realpath(sys.executable)
"""A file that workers have no business with."""


def _try_seccomp() -> None:
    kernel.control(kernel.SET_NO_NEW_PRIVILEGES, 1)
    seccomp.load(seccomp.of_a_worker(os.getpid(), files=True))
    try:
        socket.socket().close()
    except PermissionError:
        return
    raise OSError("the kernel took the filter, but a socket can be made")


def _try_own_user(readable: list[str]) -> None:
    _become(_OWN_USERS_FROM)
    for path in (os.__file__, *readable[-1:], *_places("torch")):
        os.stat(path)
        if os.path.isfile(path):
            open(path, "rb").close()


def _try_scratch(here: Confinement) -> None:
    """All of it: a worker that has scratch, and fills it."""
    here.close_in(memory_mb=512, cpu_seconds=10, scratch_mb=1)
    here.close_off(scratch_mb=1)
    with open("all", "wb") as file:
        file.write(bytes(1 << 20))
    try:
        with open("more", "wb") as file:
            file.write(b"1")
    except OSError:
        return
    raise OSError("more can be written than was asked for")


def _become(user: int) -> None:
    """Be a user that owns nothing, in no group."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
