"""Namespaces: the zygote and its workers see a small read-only tree, no network, and no process but their own.

Needs user namespaces with their capabilities, and mount_setattr (Linux 5.12 and newer).
"""

from __future__ import annotations

import os
import signal
import struct
from collections.abc import Sequence

from autograder.sandbox import kernel

_MOUNTS, _HOST_NAME, _MESSAGES, _USERS, _PROCESSES, _NETWORK = (1 << bit for bit in (17, 26, 27, 28, 29, 30))
_BIND, _RECURSIVE, _PRIVATE, _NO_SETUID, _NO_DEVICES, _NO_PROGRAMS = 1 << 12, 1 << 14, 1 << 18, 2, 4, 8
_DETACH = 2
_THIS_FOLDER, _AND_BELOW = -100, 0x8000
_READ_ONLY_WITHOUT_DEVICES = struct.pack("=4Q", 1 | 2 | 4, 0, 0, 0)

SCRATCH = "/autograder-scratch"
"""A folder of the private root, empty and read-only but for a worker that has scratch."""
_ENTRIES = 1024

DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
_MOUNT_POINTS = ("/mnt", "/media", "/srv", "/run", "/var/tmp", "/tmp", "/opt", "/home", "/var")
_INNER_ID = 1000


def enter(readable: Sequence[str]) -> int:
    """Go into new namespaces, in a child that is the first process there; returns 0 in it, and its id in the caller.

    The child sees these paths read-only and three devices, and nothing else; its own /proc it can read by
    `kernel.open_proc`, until it closes that descriptor. The caller is of no further use but to wait for the child. This
    process must have one thread only.

    Raises:
        OSError: the host does not let this process do it. In the child too; so try it first.
    """
    user, group = os.getuid(), os.getgid()
    kernel.call("unshare", _USERS | _MOUNTS | _PROCESSES | _NETWORK | _MESSAGES | _HOST_NAME)
    for file, line in (
        ("setgroups", "deny"),
        ("uid_map", f"{_INNER_ID} {user} 1"),
        ("gid_map", f"{_INNER_ID} {group} 1"),
    ):
        with open(f"/proc/self/{file}", "w") as map_of_ids:
            map_of_ids.write(line)
    pid = os.fork()
    if pid == 0:
        kernel.control(kernel.SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        _private_root(readable)
    return pid


def _private_root(readable: Sequence[str]) -> None:
    """Make a small tree on a mount point of its own, and the root of all paths."""
    inside = [path for path in readable if os.path.lexists(path)]
    root = next(p for p in _MOUNT_POINTS if os.path.isdir(p) and not any(f"{q}/".startswith(f"{p}/") for q in inside))
    _mount(None, "/", None, _RECURSIVE | _PRIVATE)
    _mount("tmpfs", root, "tmpfs", _NO_SETUID | _NO_DEVICES, "size=1m,nr_inodes=8k,mode=755")
    for path in (*inside, *DEVICES):
        os.makedirs(root + os.path.dirname(path), exist_ok=True)
        if os.path.islink(path):
            os.symlink(os.readlink(path), root + path)
        elif os.path.isdir(path):
            os.makedirs(root + path, exist_ok=True)
        else:
            os.close(os.open(root + path, os.O_CREAT))
    for folder in ("/proc", SCRATCH):
        os.makedirs(root + folder, exist_ok=True)
    for path in inside:
        if not os.path.islink(path):
            _mount(path, root + path, None, _BIND | _RECURSIVE)
    kernel.call(
        "mount_setattr",
        _THIS_FOLDER,
        os.fsencode(root),
        _AND_BELOW,
        _READ_ONLY_WITHOUT_DEVICES,
        len(_READ_ONLY_WITHOUT_DEVICES),
    )
    for path in DEVICES:
        _mount(path, root + path, None, _BIND)
    _mount("proc", f"{root}/proc", "proc", _NO_SETUID | _NO_DEVICES | _NO_PROGRAMS)
    os.chdir(root)
    kernel.call("pivot_root", b".", b".")
    kernel.call("umount2", b".", _DETACH)
    os.chdir("/")
    kernel.hold_proc(kernel.out_of_the_way(os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)))
    kernel.call("umount2", b"/proc", _DETACH)  # the zygote needs it, and has it by the descriptor; workers do not


def mount_scratch(megabytes: int) -> None:
    """In the private root: a writable folder of this size for this process alone, at SCRATCH, until it ends.

    Raises:
        OSError: this process has no power over mounts, or the host refuses it.
    """
    kernel.call("unshare", _MOUNTS)
    options = f"size={megabytes}m,nr_inodes={_ENTRIES},mode=700"
    _mount("tmpfs", SCRATCH, "tmpfs", _NO_SETUID | _NO_DEVICES | _NO_PROGRAMS, options)


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, data)]
    try:
        kernel.call("mount", texts[0], texts[1], texts[2], flags, texts[3])
    except OSError as error:
        raise OSError(error.errno, f"mount {target}: {os.strerror(error.errno or 0)}") from None
