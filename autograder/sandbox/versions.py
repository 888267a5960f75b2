"""Was a dict written to since? Its memory holds a number that no dict has had before and that each write replaces.

Comparing entry by entry counts a reference to each of six thousand objects up and down; in a fork that copies every
page they lie on. Reading two hundred numbers touches none of them. The number is CPython's own affair, so it is tried
out first, and where it is not as expected nothing is known (None), and the entries have to be compared.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import sysconfig
from typing import Any

_PLACE = 3 * 8
"""In a PyDictObject: behind reference count, type and length."""


def version_in(space: dict[str, Any]) -> ctypes.c_uint64 | None:
    """A view of the dict's number, which is good as long as the dict is there; None where it cannot be read."""
    return _view(space) if _CAN_READ and type(space) is dict else None


def names_of(cls: type) -> dict[str, Any]:
    """The dict that `vars` of a class is a view of."""
    found: dict[str, Any] = gc.get_referents(vars(cls))[0]
    return found


def _view(space: dict[str, Any]) -> ctypes.c_uint64:
    return ctypes.c_uint64.from_address(id(space) + _PLACE)


def _can_read() -> bool:
    """Is this the CPython that it was written for, and does it see what happens to a module and to a class?"""
    known = sys.implementation.name == "cpython" and (3, 11) <= sys.version_info[:2] <= (3, 13)
    if not known or ctypes.sizeof(ctypes.c_void_p) != 8 or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    module, cls = type(sys)("module"), type("Class", (), {})
    seen = []
    for owner, space in ((module, vars(module)), (cls, names_of(cls))):
        view = _view(space)
        seen.append(view.value)
        for name, value in (("a", 1), ("a", 2), ("a", 1)):
            setattr(owner, name, value)
            seen.append(view.value)
        if space.get(name) != getattr(owner, name) or view.value != seen[-1]:
            return False
        delattr(owner, name)
        seen.append(view.value)
    return len(set(seen)) == len(seen)


_CAN_READ = _can_read()
