"""Single values of a course file: what may be written there; everything else is refused with a sentence."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Sized
from datetime import datetime
from fractions import Fraction
from typing import Annotated, TypeVar
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, PlainValidator

from autograder.course.points import exact, exact_points, shown

Filled = TypeVar("Filled", bound=Sized)

WAIVED = "waived"
"""How a late policy says that for a student there is no lateness."""
HINT_POLICIES = ("always", "after_first_attempt", "after_deadline", "never")

# A student's file of one of these names would hide the module itself from torch, numpy or pytest.
_THIRD_PARTY = (
    "torch torchgen functorch numpy pytest py pluggy iniconfig packaging pygments exceptiongroup tomli "
    "typing_extensions sympy mpmath networkx jinja2 markupsafe fsspec filelock setuptools pkg_resources conftest "
    "selfcheck rigs"
)
_TAKEN = {name.lower() for name in sys.stdlib_module_names} | set(_THIRD_PARTY.split())


def _text(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty")
    return value


def not_empty(value: Filled) -> Filled:
    """The value itself; ValueError where there is nothing in it."""
    if not value:
        raise ValueError("must not be empty")
    return value


def plain_id(value: str) -> str:
    """Lower-case letters, digits and underscores; ValueError for anything else."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", value):
        raise ValueError(f"must be lower-case letters, digits and underscores, got {shown(value)}")
    return value


def _module_name(value: str) -> str:
    if not value.isidentifier() or not value.isascii() or keyword.iskeyword(value):
        raise ValueError(f"must be a Python identifier of ASCII characters, got {shown(value)}")
    if value.lower() in _TAKEN:
        raise ValueError(f'"{value}" would hide the module of that name; choose another name')
    return value


def _file_name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", value):
        raise ValueError(f"must be the name of a file in data/, such as names.txt, got {shown(value)}")
    return value


def _zone_name(value: str) -> str:
    try:
        ZoneInfo(value)
    except (KeyError, ValueError, OSError):
        raise ValueError(f"no time zone is called {shown(value)}; write one such as Europe/Berlin or UTC") from None
    return value


def _dotted(value: str) -> str:
    if "." not in value or not all(part.isidentifier() for part in value.split(".")):
        raise ValueError(f"must be a full name such as torch.nn.functional.layer_norm, got {shown(value)}")
    return value


def _moment(value: object) -> datetime:
    try:
        moment = datetime.fromisoformat(value.strip()) if isinstance(value, str) else value
    except ValueError:
        moment = None
    if not isinstance(moment, datetime) or (isinstance(value, str) and ":" not in value):
        raise ValueError(f"must be a date and time such as 2027-03-07T23:59:00, got {shown(value)}")
    if not 1970 <= moment.year < 3000:
        raise ValueError(f"must be in a year between 1970 and 2999, got {shown(value)}")
    return moment


def _exemption(value: object) -> datetime | None:
    try:
        return None if value == WAIVED else _moment(value)
    except ValueError as error:
        raise ValueError(f"{error} (or write {WAIVED})") from None


def _percent(value: object) -> Fraction:
    percent = exact(value)
    if not 0 <= percent <= 100:
        raise ValueError(f"must be between 0 and 100, got {shown(value)}")
    return percent


def _hint_policy(value: str) -> str:
    if value not in HINT_POLICIES:
        raise ValueError(f"must be one of {', '.join(HINT_POLICIES)}, got {shown(value)}")
    return value


Text = Annotated[str, AfterValidator(_text)]
Id = Annotated[str, AfterValidator(plain_id)]
ModuleName = Annotated[str, AfterValidator(_module_name)]
FileName = Annotated[str, AfterValidator(_file_name)]
ZoneName = Annotated[str, AfterValidator(_zone_name)]
FullName = Annotated[str, AfterValidator(_dotted)]
HintPolicy = Annotated[str, AfterValidator(_hint_policy)]
Moment = Annotated[datetime, PlainValidator(_moment)]
Exemption = Annotated[datetime | None, PlainValidator(_exemption)]
Points = Annotated[Fraction, PlainValidator(exact_points)]
Percent = Annotated[Fraction, PlainValidator(_percent)]
Count = Annotated[int, Field(gt=0)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
