"""The two kinds of value that are not plain data and still cross the wire, as names only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ref:
    """Something that lives in the student's process: `owner` is a module's name or an object's number.

    With a `name` it is that attribute of the owner, without one the owner itself.
    """

    owner: str | int
    name: str = ""


@dataclass(frozen=True)
class Foreign:
    """An answer of a type that is not plain data; only its type's name crosses."""

    type_name: str
