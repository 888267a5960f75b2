"""seccomp: the kernel refuses all calls of a process but those listed. Linux 3.5 and newer, after no_new_privileges.

The list is what computing, reading files and ending need. No process, thread, program, socket, signal to others, change
of a file's attributes, and nothing that traces or reads other processes: with one process per worker, its limits bound
all it can do, and one signal ends it.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from autograder.sandbox import kernel

_COMPUTE = """
read write readv writev pread64 pwrite64 close fstat lseek dup dup2 dup3 pipe2 close_range getcwd umask
mmap munmap mremap mprotect madvise brk membarrier futex futex_waitv
rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack restart_syscall
nanosleep gettimeofday time times alarm setitimer getitimer
getpid gettid getppid getpgrp getuid geteuid getgid getegid getrusage getrlimit sysinfo uname getrandom
sched_yield getcpu set_robust_list rseq poll ppoll select pselect6 exit exit_group
""".split()
_READ_FILES = """
open openat stat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat getdents getdents64 statfs
fstatfs
""".split()
_CHANGE_FILES = """
ftruncate fsync fdatasync msync rename renameat mkdir mkdirat rmdir unlink unlinkat
""".split()
"""No links, for they could lead out, and no attributes: a device of the host may belong to the worker's user."""

_TERMINAL_SIZE_AND_FLAGS = (0x5401, 0x541B, 0x5413, 0x5450, 0x5451, 0x5421)
_DUPLICATE_AND_FLAGS = (0, 1, 2, 3, 4, 1030)
_NAME_OF_A_THREAD_OR_MAPPING = (15, 16, 0x53564D41)

_COMMON_CLOCKS = range(12)

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _KILL, _FAIL_WITH = 0x7FFF0000, 0x80000000, 0x00050000
_CALL, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in what the filter is shown
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000
_SET_FILTER = 1


@dataclass
class Filter:
    """A filter under construction: rules in order, the first that fits decides."""

    instructions: list[tuple[int, int, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._add(_LOAD, _ARCHITECTURE)
        self._add(_IF_EQUAL, _ARCHITECTURES[kernel.MACHINE], 1, 0)
        self._add(_RETURN, _KILL)
        self._add(_LOAD, _CALL)
        if kernel.MACHINE == "x86_64":
            self._add(_IF_AT_LEAST, _X32, 0, 1)
            self._add(_RETURN, _KILL)

    def allow(self, name: str) -> None:
        """Let this call through. One that this machine does not have needs no rule."""
        self._decide(name, _ALLOW)

    def refuse(self, name: str, error: int) -> None:
        """Let this call fail with this error."""
        self._decide(name, _FAIL_WITH | error)

    def allow_only_with(self, name: str, argument: int, values: Sequence[int]) -> None:
        """Let this call through where that argument is one of these (below 2^32); else it fails."""
        if name not in kernel.NUMBERS:
            return
        low = _ARGUMENTS + 8 * argument
        rule = [(_LOAD, 0, 0, low + 4), (_IF_EQUAL, 0, 1 + 2 * len(values), 0), (_LOAD, 0, 0, low)]
        for value in values:
            rule += [(_IF_EQUAL, 0, 1, value), (_RETURN, 0, 0, _ALLOW)]
        rule.append((_LOAD, 0, 0, _CALL))
        self._add(_IF_EQUAL, kernel.NUMBERS[name], 0, len(rule))
        self.instructions += rule

    def finished(self, otherwise: int | None = errno.EPERM) -> bytes:
        """The program: every other call fails with this error (None: is let through)."""
        self._add(_RETURN, _ALLOW if otherwise is None else _FAIL_WITH | otherwise)
        return b"".join(struct.pack("HBBI", *instruction) for instruction in self.instructions)

    def _decide(self, name: str, decision: int) -> None:
        if name in kernel.NUMBERS:
            self._add(_IF_EQUAL, kernel.NUMBERS[name], 0, 1)
            self._add(_RETURN, decision)

    def _add(self, code: int, value: int, if_true: int = 0, if_false: int = 0) -> None:
        self.instructions.append((code, if_true, if_false, value))


def of_a_worker(pid: int, files: bool, scratch: bool = False) -> bytes:
    """The filter of the worker with this process id; without `files` it cannot even open one to read, with `scratch`
    it can also make, move and remove them.
    """
    rules = Filter()
    for name in _COMPUTE + (_READ_FILES if files else []) + (_CHANGE_FILES if scratch else []):
        rules.allow(name)
    rules.allow_only_with("ioctl", 1, _TERMINAL_SIZE_AND_FLAGS)
    rules.allow_only_with("fcntl", 1, _DUPLICATE_AND_FLAGS)
    rules.allow_only_with("prctl", 0, _NAME_OF_A_THREAD_OR_MAPPING)
    for name in ("clock_gettime", "clock_getres", "clock_nanosleep"):
        rules.allow_only_with(name, 0, _COMMON_CLOCKS)  # other numbers are the clocks of processes
    for name in ("prlimit64", "sched_getaffinity", "sched_getparam", "sched_getscheduler", "get_robust_list"):
        rules.allow_only_with(name, 0, [0])  # of itself
    rules.allow_only_with("tgkill", 0, [pid])  # abort() and the like
    rules.refuse("clone3", errno.ENOSYS)  # the C library then asks with clone
    return rules.finished()


def load(program: bytes) -> None:
    """Put a filter in force on this process, for good. Raises OSError."""
    held = ctypes.create_string_buffer(program, len(program))
    kernel.call("seccomp", _SET_FILTER, 0, struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(held)))
