"""Landlock: a process takes file access away from itself, except for that to listed paths. Linux 5.13 and newer.

Contents of everything else are out of reach then, for every way of reading; names and sizes (stat) are not. From newer
versions also TCP, and signals and abstract sockets to processes outside.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable

from autograder.sandbox import kernel

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE, _IOCTL_DEV = (1 << bit for bit in (0, 1, 2, 3, 14, 15))
_REMOVE_FOLDER, _REMOVE_FILE, _MAKE_FOLDER, _MAKE_FILE, _MOVE = (1 << bit for bit in (4, 5, 7, 8, 13))
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_READ = _READ_FILE | _READ_DIR
_CHANGE = _WRITE_FILE | _TRUNCATE | _REMOVE_FOLDER | _REMOVE_FILE | _MAKE_FOLDER | _MAKE_FILE | _MOVE
_RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15}
_RIGHTS_NOW = 16
_TCP_FROM, _SCOPES_FROM = 4, 6
_BELOW_A_PATH = 1


def version() -> int:
    """The version of Landlock that this kernel offers; 0 for none."""
    try:
        return kernel.call("landlock_create_ruleset", None, 0, 1)
    except OSError:
        return 0


def ruleset(readable: Iterable[str], listable: Iterable[str] = (), writable: Iterable[str] = ()) -> int:
    """A descriptor of rules that leave nothing but reading these files and what lies below these folders.

    Below `listable` folders names can be listed, as the import system does, and nothing read. Below `writable` folders
    files and folders can be made, changed, moved and removed, but no links, devices, pipes or sockets.

    A symbolic link gets no rule: it would hold for whatever the link points to.

    Raises:
        OSError: the kernel has no Landlock, or refuses a rule.
    """
    offered = version()
    rights = (1 << _RIGHTS_BY_VERSION.get(offered, _RIGHTS_NOW)) - 1
    fields = [rights, 3 if offered >= _TCP_FROM else 0, 3 if offered >= _SCOPES_FROM else 0]
    length = 1 if offered < _TCP_FROM else 2 if offered < _SCOPES_FROM else 3
    attributes = struct.pack(f"={length}Q", *fields[:length])
    rules = kernel.call("landlock_create_ruleset", attributes, len(attributes), 0)
    wanted = [(path, _READ) for path in readable] + [(path, _READ_DIR) for path in listable]
    wanted += [(path, _READ | _CHANGE) for path in writable]
    for path, allowed in wanted:
        if os.path.islink(path) or not os.path.exists(path):
            continue
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not os.path.isdir(path):
                allowed = (allowed | (_WRITE_FILE if path == os.devnull else 0)) & _OF_FILES
            kernel.call("landlock_add_rule", rules, _BELOW_A_PATH, struct.pack("=Qi", allowed & rights, descriptor), 0)
        finally:
            os.close(descriptor)
    return rules


def restrict(rules: int) -> None:
    """Put the rules in force on this process, for good. Raises OSError."""
    kernel.call("landlock_restrict_self", rules, 0)
