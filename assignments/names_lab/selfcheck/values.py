"""The two kinds of value that are not plain data and still cross the wire, as names only."""

from __future__ import annotations

import builtins
from dataclasses import dataclass


@dataclass(frozen=True)
class Ref:
    """Something that lives in the student's process: `owner` is a module's name or an object's number.

    With a `name` it is that attribute of the owner, without one the owner itself.
    """

    owner: str | int
    name: str = ""


_TENSORS = ("sparse", "meta", "complex32", "complex64", "complex128", "quantized", "nested")
KNOWN_TYPES = frozenset(
    [name for name, kind in vars(builtins).items() if isinstance(kind, type)]
    + [f"numpy.{name}" for name in "ndarray bool bool_ int32 int64 float16 float32 float64".split()]
    + "generator coroutine function module method NoneType ellipsis collections.deque torch.Size torch.nn".split()
    + [f"a {name} tensor" for name in _TENSORS]
    + ["a tensor of another kind", "a value nested too deeply", "an integer of more than 64 bits"]
)
"""Names of types that may stand in a message."""


@dataclass(frozen=True)
class Foreign:
    """An answer of a type that is not plain data; only its type's name crosses, and only a name that many know.

    A name of the student's own could carry what the code has seen into a message.
    """

    type_name: str

    def __post_init__(self) -> None:
        if self.type_name not in KNOWN_TYPES:
            object.__setattr__(self, "type_name", "an object of another type")
