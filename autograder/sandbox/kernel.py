"""Calls to the Linux kernel that Python has no function for, by ctypes: nothing has to be installed or compiled.

Numbers are those of x86_64 and aarch64 (`None`: the call does not exist there). Errors are OSErrors that name the call.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import platform
import sys
from collections.abc import Callable
from typing import IO

MACHINE = platform.machine()
SUPPORTED = sys.platform == "linux" and MACHINE in ("x86_64", "aarch64")
"""Are the numbers of this machine's calls known?"""

_NUMBERS = """
read 0 63, write 1 64, open 2 -, close 3 57, stat 4 -, fstat 5 80, lstat 6 -, poll 7 -, lseek 8 62, mmap 9 222,
mprotect 10 226, munmap 11 215, brk 12 214, rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139,
ioctl 16 29, pread64 17 67, pwrite64 18 68, readv 19 65, writev 20 66, access 21 -, select 23 -, sched_yield 24 124,
mremap 25 216, madvise 28 233, dup 32 23, dup2 33 -, nanosleep 35 101, getitimer 36 102, alarm 37 -, setitimer 38 103,
getpid 39 172, clone 56 220, exit 60 93, uname 63 160, fcntl 72 25, getdents 78 -, getcwd 79 17, readlink 89 -,
umask 95 166, gettimeofday 96 169, getrlimit 97 163, getrusage 98 165, sysinfo 99 179, times 100 153, getuid 102 174,
getgid 104 176, geteuid 107 175, getegid 108 177, getppid 110 173, getpgrp 111 -, sigaltstack 131 132, statfs 137 43,
fstatfs 138 44, sched_getparam 143 121, sched_getscheduler 145 120, pivot_root 155 41, prctl 157 167, umount2 166 39,
gettid 186 178, time 201 -, futex 202 98, sched_getaffinity 204 123, getdents64 217 61, restart_syscall 219 128,
clock_gettime 228 113, clock_getres 229 114, clock_nanosleep 230 115, exit_group 231 94, tgkill 234 131,
openat 257 56, newfstatat 262 79, readlinkat 267 78, faccessat 269 48, pselect6 270 72, ppoll 271 73, unshare 272 97,
set_robust_list 273 99, get_robust_list 274 100, dup3 292 24, pipe2 293 59, prlimit64 302 261, setns 308 268,
getcpu 309 168, seccomp 317 277, getrandom 318 278, membarrier 324 283, statx 332 291, rseq 334 293, clone3 435 435,
close_range 436 436, faccessat2 439 439, mount_setattr 442 442, landlock_create_ruleset 444 444,
landlock_add_rule 445 445, landlock_restrict_self 446 446, futex_waitv 449 449, mount 165 40, msync 26 227, fsync 74 82,
fdatasync 75 83, ftruncate 77 46, rename 82 -, mkdir 83 -, rmdir 84 -, unlink 87 -, mkdirat 258 34, unlinkat 263 35,
renameat 264 38
"""


def _numbers() -> dict[str, int]:
    column = 1 if MACHINE == "x86_64" else 2
    rows = [row.split() for row in _NUMBERS.replace("\n", " ").split(",")]
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}


NUMBERS = _numbers()
"""The number of each call by its name, on this machine."""

_libc = ctypes.CDLL(None, use_errno=True) if SUPPORTED else None

SET_PARENT_DEATH_SIGNAL, SET_DUMPABLE, SET_CHILD_SUBREAPER, SET_NO_NEW_PRIVILEGES = 1, 4, 36, 38
_DROP_FROM_BOUNDING_SET, _AMBIENT, _CLEAR_AMBIENT = 24, 47, 4


def call(name: str, *arguments: int | bytes | None) -> int:
    """Make a call of the kernel; whole numbers go as longs, bytes as a pointer to them, None as a null pointer.

    Raises:
        OSError: it failed, or this machine has no such call.
    """
    if _libc is None or name not in NUMBERS:
        raise OSError(38, f"{name}: there is no such call on this machine")
    given = [ctypes.c_long(a) if isinstance(a, int) else ctypes.c_char_p(a) for a in arguments]
    return _checked(_libc.syscall(ctypes.c_long(NUMBERS[name]), *given), name)


def control(option: int, *values: int) -> None:
    """prctl(2). Raises OSError."""
    if _libc is None:
        raise OSError(38, "prctl: there is no such call on this machine")
    four = [ctypes.c_ulong(v) for v in (*values, 0, 0, 0, 0)[:4]]
    _checked(_libc.prctl(ctypes.c_int(option), *four), f"prctl({option})")


def drop_capabilities() -> None:
    """Give up every capability for good, also what a program started later might regain."""
    assert _libc is not None
    for capability in range(64):
        if _libc.prctl(_DROP_FROM_BOUNDING_SET, ctypes.c_ulong(capability), 0, 0, 0) < 0:
            break  # the last one is behind us, or there is nothing to drop from
    _libc.prctl(_AMBIENT, ctypes.c_ulong(_CLEAR_AMBIENT), 0, 0, 0)
    version_3_of_this_process = (0x20080522).to_bytes(4, sys.byteorder) + bytes(4)
    _checked(_libc.capset(version_3_of_this_process, bytes(24)), "capset")


_proc: list[int] = []
"""A descriptor of /proc, once this process has gone where the tree of files has none."""


def out_of_the_way(descriptor: int) -> int:
    """The same under a number that no worker puts anything else in the place of."""
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 50)
    os.close(descriptor)
    return high


def hold_proc(descriptor: int) -> None:
    """Read what /proc says through this descriptor from now on."""
    _proc[:] = [descriptor]


def open_proc(name: str, mode: str = "r") -> IO[str]:
    """Open a file of /proc, such as self/maps. Raises OSError."""
    if not _proc:
        return open(f"/proc/{name}", mode)
    return open(name, mode, opener=lambda path, flags: os.open(path, flags, dir_fd=_proc[0]))


def list_proc(name: str = ".") -> list[str]:
    """Names in a folder of /proc. Raises OSError."""
    if not _proc:
        return os.listdir(f"/proc/{name}")
    folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=_proc[0])
    try:
        return os.listdir(folder)
    finally:
        os.close(folder)


def tried(act: Callable[[], object]) -> str:
    """Do something in a child process that is thrown away. Returns "" when it went well, else the reason why not."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            act()
        except BaseException as error:
            os.write(writing, (str(error) or type(error).__name__).encode("utf-8", "replace")[:300])
            os._exit(1)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode("utf-8", "replace")
    failed = os.waitpid(pid, 0)[1] != 0
    return said or "the process that tried it was stopped" if failed else ""


def _checked(result: int, name: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result
