"""Was a dict written to since? Asked of the memory of its table, which holds the addresses of its keys and values.

Comparing entry by entry counts a reference to each of six thousand objects up and down; in a fork that copies every
page they lie on. Reading the table touches none of them. It is CPython's own form, so it is tried out first, and where
it is another one nothing is known (None), and the entries have to be compared.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from typing import Any

_KEYS, _VALUES = 4 * 8, 5 * 8
"""Where in a PyDictObject its two tables are named: behind reference count, type, length and version."""
_HEAD = 2 * 8
"""Of a table: reference count, sizes and the version that the interpreter keeps for itself."""
_ALONE = dict.__sizeof__({})


def table_of(space: dict[Any, Any]) -> bytes | None:
    """The addresses of a dict's keys and values, in the order in which they came. They stay the same as long as nothing
    is set or deleted; None where they cannot be read.

    Whoever compares two of them must have kept the values, so that no new object lies at the address of an old one.
    """
    return _read(space) if _CAN_READ and type(space) is dict else None


def _read(space: dict[Any, Any]) -> bytes | None:
    start, split = (ctypes.c_size_t.from_address(id(space) + place).value for place in (_KEYS, _VALUES))
    size = dict.__sizeof__(space) - _ALONE
    return None if split or size <= _HEAD else ctypes.string_at(start + _HEAD, size - _HEAD)


def _can_read() -> bool:
    """Is this the CPython that it was written for, and does it see what happens to a dict?"""
    known = sys.implementation.name == "cpython" and (3, 11) <= sys.version_info[:2] <= (3, 13)
    if not known or ctypes.sizeof(ctypes.c_void_p) != 8 or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    one, two = object(), object()
    space: dict[str, object] = {"one": one, "two": two}
    before = _read(space)
    space["two"] = one
    replaced = _read(space)
    space["two"] = two
    restored = _read(space)
    del space["two"]
    return before is not None and before == restored and before != replaced and before != _read(space)


_CAN_READ = _can_read()
