"""The course as frozen, validated values. The fields are the keys of `course.yml`; points are exact fractions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from fractions import Fraction
from typing import Annotated, Any, TypeVar
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from autograder.course.errors import CourseError
from autograder.course.fields import (
    Count,
    Exemption,
    FileName,
    FullName,
    HintPolicy,
    Id,
    ModuleName,
    Moment,
    Percent,
    Points,
    Seconds,
    Text,
    ZoneName,
    not_empty,
)
from autograder.course.moments import placed
from autograder.course.points import shown
from autograder.course.problems import Problem, checked, refuse

Item = TypeVar("Item")


class Part(BaseModel):
    """A part of a course file: frozen, of exactly these fields, nothing converted."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Section(Part):
    """One section of the reading: `number` is the course's own, `unit` the study unit it is read in."""

    number: Annotated[int, Field(ge=0)]
    title: Text
    unit: Count | None = None
    optional: bool = False


class StudyUnit(Part):
    number: Count
    title: Text


class Week(Part):
    """The study units of a week in the order they are shown, and all its sections."""

    number: Count
    title: Text
    units: Annotated[tuple[StudyUnit, ...], Field(strict=False)] = ()
    sections: Annotated[tuple[Section, ...], Field(strict=False), AfterValidator(not_empty)]

    @model_validator(mode="after")
    def _numbers_fit(self) -> Week:
        problems = _twice("units", "number", [unit.number for unit in self.units])
        problems += _twice("sections", "number", [section.number for section in self.sections])
        known = {unit.number for unit in self.units}
        for i, section in enumerate(self.sections):
            if section.unit is not None and section.unit not in known:
                problems.append((("sections", i, "unit"), f"week {self.number} has no study unit {section.unit}"))
        return checked(self, problems)


class LatePolicy(Part):
    """`grace_days` calendar days cost nothing; each started day after them costs `percent_per_day` of the points that
    were earned, at most `cap_percent`. With `manual_too`, points given by hand are lowered as well.

    `exemptions` are deadlines of single students, by id; None: nothing they hand in is late.
    """

    grace_days: Annotated[int, Field(ge=0, le=1000)]
    percent_per_day: Percent
    cap_percent: Percent
    manual_too: bool = False
    exemptions: dict[Text, Exemption] = {}


class Limits(Part):
    """What a submission may use while it is graded."""

    seconds_per_check: Seconds
    seconds_per_submission: Seconds
    memory_mb: Count
    output_kb: Count

    @model_validator(mode="after")
    def _check_fits_submission(self) -> Limits:
        if self.seconds_per_check > self.seconds_per_submission:
            sentence = f"must not be less than seconds_per_check, which is {self.seconds_per_check:g}"
            return checked(self, [(("seconds_per_submission",), sentence)])
        return self


class Exercise(Part):
    """One module a student writes. `course` says where it is taught, `needs` which earlier exercises it builds on,
    `forbidden` which library operations would do it for the student, by their full names. With `scratch_mb` its code
    has an empty folder of that size to write to while it is graded; 0 is none.
    """

    name: ModuleName
    points: Points
    course: Annotated[tuple[Text, ...], Field(strict=False), AfterValidator(not_empty)]
    needs: Annotated[tuple[str, ...], Field(strict=False)] = ()
    forbidden: Annotated[tuple[FullName, ...], Field(strict=False)] = ()
    scratch_mb: Count = 0


class Assignment(Part):
    """What is handed out and graded as one; `id` is its key in the file and the name of its folders.

    `deadline` is the last moment that is in time, on the clocks of the course's time zone.
    `hint` says when a student is told which mistake a submission looks like, `seconds_per_cell` how much CPU time a
    cell of its notebook has. `data` are files of the course's `data/` that students get with it. `lab` is a package
    beside the solutions that they get as it is: a program that works with their modules.
    """

    id: Id
    title: Text
    points: Points
    deadline: Moment
    late_policy: LatePolicy
    limits: Limits
    hint: HintPolicy = "always"
    data: Annotated[tuple[FileName, ...], Field(strict=False)] = ()
    lab: ModuleName | None = None
    seconds_per_cell: Seconds = 20.0
    exercises: Annotated[tuple[Exercise, ...], Field(strict=False), AfterValidator(not_empty)]

    def exercise(self, name: str) -> Exercise:
        """The exercise of that name. Raises CourseError."""
        return _find(name, {e.name: e for e in self.exercises}, f"exercise of {self.id}")

    def all_needs(self, name: str) -> set[str]:
        """Every exercise that this one builds on, directly or not."""
        needs = {exercise.name: exercise.needs for exercise in self.exercises}
        found, waiting = set[str](), list(needs.get(name, ()))
        while waiting:
            need = waiting.pop()
            if need not in found:
                found.add(need)
                waiting += needs.get(need, ())
        return found

    @model_validator(mode="after")
    def _parts_fit(self) -> Assignment:
        problems: list[Problem] = []
        total = sum((exercise.points for exercise in self.exercises), Fraction(0))
        if total != self.points:
            problems.append(
                (("points",), f"must be what the exercises add up to, {shown(total)}, got {shown(self.points)}")
            )
        names = [exercise.name for exercise in self.exercises]
        if self.lab in names:
            problems.append((("lab",), f'"{self.lab}" is an exercise already; choose another name'))
        for i, exercise in enumerate(self.exercises):
            for j, need in enumerate(exercise.needs):
                if sentence := _wrong_need(need, exercise.name, names, exercise.needs[:j]):
                    problems.append((("exercises", i, "needs", j), sentence))
        return checked(self, problems)


class Course(Part):
    """`total_sections` counts the whole course, also weeks that have no entry here."""

    id: Id
    title: Text
    timezone: ZoneName
    total_sections: Count
    weeks: Annotated[tuple[Week, ...], Field(strict=False)] = ()
    assignments: Annotated[dict[str, Assignment], AfterValidator(not_empty)]

    @property
    def zone(self) -> ZoneInfo:
        """The time zone in which calendar days and times without a zone are read."""
        return ZoneInfo(self.timezone)

    def assignment(self, name: str) -> Assignment:
        """The assignment of that id. Raises CourseError."""
        return _find(name, self.assignments, "assignment of this course")

    @field_validator("assignments", mode="before")
    @classmethod
    def _key_is_id(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: {"id": key, **body} if isinstance(body, dict) else body for key, body in value.items()}

    @field_validator("assignments", mode="after")
    @classmethod
    def _on_the_clocks_of_the_course(cls, value: dict[str, Assignment], info: ValidationInfo) -> dict[str, Assignment]:
        problems: list[Problem] = []
        zone = ZoneInfo(info.data.get("timezone", "UTC"))
        found = {key: _on_clocks_of(zone, assignment, (key,), problems) for key, assignment in value.items()}
        refuse(cls.__name__, problems)
        return found

    @model_validator(mode="after")
    def _parts_fit(self) -> Course:
        problems = _twice("weeks", "number", [week.number for week in self.weeks])
        listed = sum(len(week.sections) for week in self.weeks)
        if listed > self.total_sections:
            problems.append((("total_sections",), f"must be at least {listed}, the number of sections listed"))
        places: dict[str, str] = {}
        for key, assignment in self.assignments.items():
            if assignment.id != key:
                problems.append((("assignments", key, "id"), "must be left out; the key is the id"))
            for i, exercise in enumerate(assignment.exercises):
                where: tuple[str | int, ...] = ("assignments", key, "exercises", i)
                first = places.setdefault(exercise.name.lower(), f"assignments.{key}.exercises[{i}]")
                if first != f"assignments.{key}.exercises[{i}]":
                    problems.append(((*where, "name"), f'"{exercise.name}" is already the name of {first}'))
                for j, reference in enumerate(exercise.course):
                    if sentence := wrong_reference(reference, self.weeks):
                        problems.append(((*where, "course", j), sentence))
        return checked(self, problems)


def _on_clocks_of(
    zone: ZoneInfo, assignment: Assignment, where: tuple[str, ...], problems: list[Problem]
) -> Assignment:
    """The assignment with its deadlines in this zone; what is wrong with one goes to `problems`."""

    def on_clocks(moment: datetime, *keys: str) -> datetime:
        try:
            return placed(moment, zone)
        except ValueError as error:
            problems.append(((*where, *keys), str(error)))
            return moment.replace(tzinfo=zone)

    deadline, policy = on_clocks(assignment.deadline, "deadline"), assignment.late_policy
    exemptions: dict[str, datetime | None] = {}
    for student, moment in policy.exemptions.items():
        keys = ("late_policy", "exemptions", student)
        own = None if moment is None else on_clocks(moment, *keys)
        if own is not None and own.timestamp() < deadline.timestamp():
            problems.append(((*where, *keys), "must not be before the deadline of everybody"))
        exemptions[student] = own
    policy = policy.model_copy(update={"exemptions": exemptions})
    return assignment.model_copy(update={"deadline": deadline, "late_policy": policy})


def _wrong_need(need: str, name: str, names: Sequence[str], before: Sequence[str]) -> str | None:
    if need == name:
        return "an exercise cannot need itself"
    if need not in names:
        return f'"{need}" is not an exercise of this assignment'
    if names.index(need) > names.index(name):
        return f'"{need}" comes later; put it before {name}'
    return f'"{need}" is named twice' if need in before else None


def wrong_reference(reference: str, weeks: Iterable[Week]) -> str | None:
    """A reference to a section of a week that the file lists must be to one of its sections; others are free text."""
    found = re.fullmatch(r"Week (\d+) §(\d+)", reference)
    for week in weeks:
        if found and int(found[1]) == week.number and int(found[2]) not in {s.number for s in week.sections}:
            return f"week {found[1]} has no section {found[2]}"
    return None


def _twice(field: str, key: str, numbers: Sequence[int]) -> list[Problem]:
    return [
        ((field, i, key), f"{number} is already the number of {field}[{numbers.index(number)}]")
        for i, number in enumerate(numbers)
        if numbers.index(number) < i
    ]


def _find(name: str, known: dict[str, Item], kind: str) -> Item:
    if name not in known:
        raise CourseError(f'"{name}" is not an {kind}; it has {", ".join(known)}')
    return known[name]
