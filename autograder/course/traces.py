"""Worked examples of the course text: `reference/traces/<exercise>.yml` as plain frozen values, without torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

from autograder.course.errors import CourseError
from autograder.course.points import shown
from autograder.course.yaml_file import read_yaml

Numbers: TypeAlias = "int | float | list[Numbers]"


@dataclass(frozen=True)
class TraceValue:
    """A number, or a nested list of them, correct to `digits` decimals; `printed` is what the course shows instead."""

    value: Numbers
    digits: int
    printed: Numbers | None = None
    note: str | None = None


@dataclass(frozen=True)
class TraceEntry:
    """One worked example. `where` is its place in the course; `public` says that students may have it."""

    id: str
    where: str
    public: bool
    inputs: dict[str, Numbers]
    values: dict[str, TraceValue]


# What each field of an entry must be, and how a message says so.
_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "id": (lambda v: isinstance(v, str) and v.isidentifier(), "a name of letters, digits and underscores"),
    "where": (lambda v: isinstance(v, str) and bool(v.strip()), "the place in the course, such as Week 8 §9"),
    "public": (lambda v: isinstance(v, bool), "true or false"),
    "inputs": (lambda v: isinstance(v, dict), "a mapping of names to numbers"),
    "values": (lambda v: isinstance(v, dict) and bool(v), "a mapping of names to {value, digits}"),
}


def load_traces(path: Path) -> dict[str, TraceEntry]:
    """The entries of one file by id, in file order. Raises CourseError with every error, each with the entry's id."""
    path = Path(path)
    data = read_yaml(path, long=True)
    if not isinstance(data, list):
        raise CourseError.in_file(path, ["file: must be a list of entries with id, where, public, inputs and values"])
    problems: list[str] = []
    seen: set[str] = set()
    for i, raw in enumerate(data):
        name = raw.get("id") if isinstance(raw, dict) else None
        label = name if isinstance(name, str) and name else f"[{i}]"
        problems += [f"{label}: {sentence}" for sentence in _entry_problems(raw)]
        if label in seen:
            problems.append(f"{label}: id: another entry has the same id")
        seen.add(label)
    if problems:
        raise CourseError.in_file(path, problems)
    return {raw["id"]: _entry(raw) for raw in data}


def _entry(raw: dict[str, Any]) -> TraceEntry:
    values = {name: TraceValue(**value) for name, value in raw["values"].items()}
    return TraceEntry(**{**raw, "values": values})


def _entry_problems(raw: Any) -> Iterator[str]:
    """What is wrong with one entry, each as `field: sentence`."""
    if not isinstance(raw, dict):
        yield f"must be a mapping with id, where, public, inputs and values, got {shown(raw)}"
        return
    yield from (f"{field}: not a field of an entry" for field in raw if field not in _FIELDS)
    for field, (fits, wanted) in _FIELDS.items():
        if field not in raw:
            yield f"{field}: missing"
        elif not fits(raw[field]):
            yield f"{field}: must be {wanted}, got {shown(raw[field])}"
        elif field == "inputs":
            for name, value in raw[field].items():
                yield from (f"inputs.{name}: {sentence}" for sentence in _number_problems(value))
        elif field == "values":
            for name, value in raw[field].items():
                yield from (f"values.{name}{sentence}" for sentence in _value_problems(value))


def _value_problems(raw: Any) -> Iterator[str]:
    if not isinstance(raw, dict):
        yield f": must be a mapping with value and digits, got {shown(raw)}"
        return
    yield from (f".{field}: not a field of a value" for field in raw if field not in TraceValue.__dataclass_fields__)
    yield from (f".{field}: missing" for field in ("value", "digits") if field not in raw)
    digits = raw.get("digits", 0)
    if not isinstance(digits, int) or isinstance(digits, bool) or not 0 <= digits <= 15:
        yield f".digits: must be the number of decimals, 0 to 15, got {shown(digits)}"
        return
    for field in ("value", "printed"):
        if field in raw:
            yield from (f".{field}: {sentence}" for sentence in _number_problems(raw[field], digits))
    if "printed" in raw and raw["printed"] == raw.get("value"):
        yield ".printed: must differ from value; leave it out where the course is right"
    elif "printed" in raw and _shape(raw["printed"]) != _shape(raw.get("value")):
        yield ".printed: must have the shape of value"
    if "printed" in raw and "note" not in raw:
        yield ".note: missing; say why the course prints something else"
    if "note" in raw and not (isinstance(raw["note"], str) and raw["note"].strip()):
        yield f".note: must be text, got {shown(raw['note'])}"


def _number_problems(value: Any, digits: int | None = None) -> Iterator[str]:
    """At most one sentence about a number or nested lists of numbers."""
    numbers = list(_flat(value))
    foreign = [n for n in numbers if isinstance(n, bool) or not isinstance(n, (int, float))]
    if foreign:
        yield f"must be a number or nested lists of numbers, got {shown(foreign[0])}"
    elif not all(abs(n) < 1e300 for n in numbers):
        yield "must be finite"
    elif not numbers or not _is_regular(value):
        yield "must be nested lists of equal lengths, none of them empty"
    elif digits is not None and (long := [n for n in numbers if _decimals(n) > digits]):
        yield f"must be rounded to {digits} decimals, got {long[0]}"


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for item in value:
            yield from _flat(item)
    else:
        yield value


def _shape(value: Any) -> tuple[int, ...]:
    """The shape of regular nested lists (of others, that of the first items)."""
    return (len(value), *(_shape(value[0]) if value else ())) if isinstance(value, list) else ()


def _is_regular(value: Any) -> bool:
    if not isinstance(value, list):
        return True
    return len(value) > 0 and all(_is_regular(item) and _shape(item) == _shape(value[0]) for item in value)


def _decimals(number: int | float) -> int:
    """How many decimals a number needs in its shortest form."""
    exponent = Decimal(repr(number)).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
