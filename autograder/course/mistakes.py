"""Named mistakes, `reference/mistakes/<exercise>.yml`: how an exercise goes wrong, and right answers written otherwise.

A mistake is written as a change of the solution. It proves that the checks see it, names it in a submission, and gives
the student a hint: a question, never the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from autograder.course.errors import CourseError
from autograder.course.fields import Id
from autograder.course.model import Part
from autograder.course.problems import Problem, checked, model_in
from autograder.course.yaml_file import read_yaml


def _line(value: str) -> str:
    if not value.strip() or "\n" in value.strip():
        raise ValueError("must be one line of text")
    return value.strip()


def _question(value: str) -> str:
    if "?" not in value:
        raise ValueError("must ask a question, as a tutor would; it has no question mark")
    return _line(value)


Line = Annotated[str, AfterValidator(_line)]
Question = Annotated[str, AfterValidator(_question)]


class Edit(Part):
    """Text that stands exactly once in the solution regions (or in that of `within`), and what takes its place."""

    find: str
    replace: str
    within: str | None = None


class Writing(Part):
    """One way to write a module other than its solution: edits, whole regions by the name of their function, and text
    that goes before the first function or class."""

    edit: Annotated[tuple[Edit, ...], Field(strict=False)] = ()
    body: dict[str, str] = Field(default_factory=dict)
    top: str = ""

    @model_validator(mode="after")
    def _changes_something(self) -> Writing:
        if not self.edit and not self.body:
            return checked(self, [((), "must have an `edit` or a `body`")])
        return self


class Mistake(Writing):
    """A wrong variant of the solution. `course` is the section that explains it.

    `also` are other ways to make the same mistake: they must be named like it. `survives` says why no check can see it.
    """

    id: Id
    name: Line
    hint: Question
    course: Line
    also: Annotated[tuple[Writing, ...], Field(strict=False)] = ()
    survives: Line | None = None


class Equivalent(Writing):
    """A right answer written another way: it gets full marks and no diagnosis."""

    id: Id
    name: Line


class LeftOut(Part):
    """A known mistake that cannot be made in this exercise, and why."""

    what: Line
    why: Line


class Ladder(Part):
    """Help in steps, each asked for: a question, then the solution's shape with blanks. The course section is last."""

    question: Question
    pseudocode: str


class Mistakes(Part):
    """Everything known about how an exercise goes wrong, and right."""

    ladder: Ladder
    mistakes: Annotated[tuple[Mistake, ...], Field(strict=False)]
    equivalents: Annotated[tuple[Equivalent, ...], Field(strict=False)] = ()
    left_out: Annotated[tuple[LeftOut, ...], Field(strict=False)] = ()

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Mistakes:
        return checked(self, [*_again("mistakes", self.mistakes), *_again("equivalents", self.equivalents)])


def load_mistakes(path: Path) -> Mistakes:
    """The mistakes of one exercise. Raises CourseError with every error found."""
    data = read_yaml(path, long=True)
    if not isinstance(data, dict):
        raise CourseError.in_file(path, ["file: must be a mapping with ladder, mistakes and equivalents"])
    return model_in(path, Mistakes, data)


def _again(field: str, entries: Sequence[Mistake] | Sequence[Equivalent]) -> list[Problem]:
    ids = [entry.id for entry in entries]
    return [
        ((field, i, "id"), f"{name} is already the id of {field}[{ids.index(name)}]")
        for i, name in enumerate(ids)
        if ids.index(name) < i
    ]
