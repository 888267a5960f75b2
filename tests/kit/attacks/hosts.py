"""Become a process on another host, or of another user: `HOST[+HOST...]`.

`docker`: no namespaces, as under the default profile of a container. `apparmor`: user namespaces can be made, but give
no power to mount, as on Ubuntu 24.04. `no_landlock`: a kernel without it. `user`: nobody instead of root. `own_users`: root, where Python
lies in folders that others may read, so that each worker can have a user of its own.
"""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from pathlib import Path

from autograder.sandbox import kernel, seccomp

ROOT = Path(__file__).parents[3]
NOBODY = 65534
_MOUNTING = ("mount", "umount2", "pivot_root", "mount_setattr")
_BIND, _PRIVATE, _NEW_MOUNTS = 4096, 16384 | 1 << 18, 0x00020000

REFUSED = {
    "docker": dict.fromkeys((*_MOUNTING, "unshare", "setns"), errno.EPERM),
    "apparmor": dict.fromkeys(_MOUNTING, errno.EACCES),
    "no_landlock": dict.fromkeys(
        ("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"), errno.ENOSYS
    ),
}


def become(host: str) -> None:
    """Put this process, and all that it starts, under the rules of that host, as if it had been started there."""
    hosts = host.split("+")
    if "user" in hosts or "own_users" in hosts:
        open_the_way([Path(sys.base_prefix), Path(sys.prefix), ROOT])
    if "user" in hosts:
        become_nobody()
    refused = {name: error for host in hosts for name, error in REFUSED.get(host, {}).items()}
    if refused:
        rules = seccomp.Filter()
        for name, error in refused.items():
            rules.refuse(name, error)
        kernel.control(kernel.SET_NO_NEW_PRIVILEGES, 1)
        seccomp.load(rules.finished(otherwise=None))


def become_nobody() -> None:
    """An ordinary user who owns nothing; only root has to become one."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        os.environ["HOME"] = "/nonexistent"
        kernel.control(kernel.SET_DUMPABLE, 1)  # as a program is when it starts


def open_the_way(needed: list[Path]) -> None:
    """In mounts of our own: put a folder that others may enter in the place of one that they may not."""
    if os.getuid() != 0:
        return
    closed = {
        p: top for p in needed if (top := next((q for q in [*reversed(p.parents)] if not q.stat().st_mode & 1), None))
    }
    if not closed:
        return
    kernel.call("unshare", _NEW_MOUNTS)
    kernel.call("mount", None, b"/", None, _PRIVATE, None)
    aside = {path: tempfile.mkdtemp() for path in closed}
    for path, place in aside.items():
        kernel.call("mount", os.fsencode(path), os.fsencode(place), None, _BIND, None)
    for top in sorted(set(closed.values())):
        kernel.call("mount", b"tmpfs", os.fsencode(top), b"tmpfs", 0, b"mode=755")
    for path, place in aside.items():
        path.mkdir(parents=True, exist_ok=True)
        kernel.call("mount", os.fsencode(place), os.fsencode(path), None, _BIND, None)
        kernel.call("umount2", os.fsencode(place), 2)
        os.rmdir(place)
