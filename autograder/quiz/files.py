"""Quiz files, `solutions/<assignment>/quiz/*.yml`: the knowledge check of one section each, complete, with keys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, ValidationError

from autograder.course import CourseError
from autograder.course.errors import place
from autograder.course.fields import Id, Text
from autograder.course.mistakes import Line
from autograder.course.model import Part
from autograder.course.problems import sentence_of
from autograder.course.yaml_file import read_yaml
from autograder.quiz.model import (
    AnyItem,
    Formula,
    Match,
    Multiple,
    Number,
    Open,
    Order,
    Output,
    Shape,
    ShortText,
    Single,
)


class Picture(Part):
    """A picture drawn from values: a heat map of rows and columns, or bars or lines with a label for each column."""

    draw: Literal["heatmap", "bars", "line"]
    values: Formula
    columns: Annotated[tuple[Formula, ...], Field(strict=False)]
    rows: Annotated[tuple[Formula, ...], Field(strict=False)] = ()
    caption: Line


class Card(Part):
    """A flash card."""

    id: Id
    front: Text
    back: Text
    course: Line


class QuizFile(Part):
    """The knowledge check of one section. `title` is left out where `course` is a section that course.yml lists."""

    course: Line
    title: Line | None = None
    pictures: Annotated[tuple[Picture, ...], Field(strict=False)] = ()
    items: Annotated[
        tuple[Annotated[AnyItem, Field(discriminator="type")], ...],
        Field(strict=False),
    ] = ()
    cards: Annotated[tuple[Card, ...], Field(strict=False)] = ()


class MisconceptionEntry(Part):
    """A false idea that no exercise shows."""

    id: Id
    name: Line


def load_quiz_file(path: Path) -> QuizFile:
    """One file of a bank. Raises CourseError with every error found."""
    data = read_yaml(path, long=True)
    if not isinstance(data, dict):
        raise CourseError.in_file(path, ["file: must be a mapping with course, items and cards"])
    try:
        return QuizFile.model_validate(data)
    except ValidationError as error:
        problems = [f"{place(_where(e['loc']))}: {_sentence(e)}" for e in error.errors(include_url=False)]
        raise CourseError.in_file(path, problems) from None


def load_misconceptions(path: Path) -> dict[str, str]:
    """Id -> name of the false ideas in a file; none where there is no file. Raises CourseError."""
    if not path.is_file():
        return {}
    data = read_yaml(path, long=True)
    if not isinstance(data, list):
        raise CourseError.in_file(path, ["file: must be a list of {id, name}"])
    found: dict[str, str] = {}
    problems: list[str] = []
    for i, raw in enumerate(data):
        try:
            entry = MisconceptionEntry.model_validate(raw)
        except ValidationError as error:
            problems += [f"{place((i, *e['loc']))}: {sentence_of(e)}" for e in error.errors(include_url=False)]
            continue
        if entry.id in found:
            problems.append(f"[{i}].id: {entry.id} is given twice")
        found[entry.id] = entry.name
    if problems:
        raise CourseError.in_file(path, problems)
    return found


TYPES = {
    str(get_args(kind.model_fields["type"].annotation)[0]): kind
    for kind in (Single, Multiple, Number, Shape, ShortText, Order, Match, Output, Open)
}


def _where(location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """The place of an error without the type that pydantic puts after the number of an item."""
    if len(location) > 2 and location[0] == "items" and location[2] in TYPES:
        return (*location[:2], *location[3:])
    return location


def _sentence(error: Any) -> str:
    if error["type"] == "union_tag_invalid":
        return f"type: must be one of {', '.join(TYPES)}"
    if error["type"] == "union_tag_not_found":
        return f"type: missing; it is one of {', '.join(TYPES)}"
    if error["type"] == "literal_error":
        return f"must be {error['ctx']['expected']}"
    return sentence_of(error)
