"""The course as frozen, validated values. The fields are the keys of `course.yml`; points are exact fractions."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterable, Sequence, Sized
from datetime import datetime
from fractions import Fraction
from typing import Annotated, Any, TypeVar
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationInfo,
    field_validator,
    model_validator,
)

from autograder.course.errors import CourseError
from autograder.course.moments import placed
from autograder.course.points import exact, exact_points, shown
from autograder.course.problems import Problem, checked, refuse

Item = TypeVar("Item")
Filled = TypeVar("Filled", bound=Sized)

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


def _not_empty(value: Filled) -> Filled:
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


WAIVED = "waived"
"""How a late policy says that for a student there is no lateness."""

Text = Annotated[str, AfterValidator(_text)]
Points = Annotated[Fraction, PlainValidator(exact_points)]
Percent = Annotated[Fraction, PlainValidator(_percent)]
Count = Annotated[int, Field(gt=0)]


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
    sections: Annotated[tuple[Section, ...], Field(strict=False), AfterValidator(_not_empty)]

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
    exemptions: dict[Text, Annotated[datetime | None, PlainValidator(_exemption)]] = {}


class Limits(Part):
    """What a submission may use while it is graded."""

    seconds_per_check: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    seconds_per_submission: Annotated[float, Field(gt=0, allow_inf_nan=False)]
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

    name: Annotated[str, AfterValidator(_module_name)]
    points: Points
    course: Annotated[tuple[Text, ...], Field(strict=False), AfterValidator(_not_empty)]
    needs: Annotated[tuple[str, ...], Field(strict=False)] = ()
    forbidden: Annotated[tuple[Annotated[str, AfterValidator(_dotted)], ...], Field(strict=False)] = ()
    scratch_mb: Count = 0


HINT_POLICIES = ("always", "after_first_attempt", "after_deadline", "never")


def _hint_policy(value: str) -> str:
    if value not in HINT_POLICIES:
        raise ValueError(f"must be one of {', '.join(HINT_POLICIES)}, got {shown(value)}")
    return value


class Assignment(Part):
    """What is handed out and graded as one; `id` is its key in the file and the name of its folders.

    `deadline` is the last moment that is in time, on the clocks of the course's time zone.
    `hint` says when a student is told which mistake a submission looks like, `seconds_per_cell` how much CPU time a
    cell of its notebook has. `data` are files of the course's `data/` that students get with it. `lab` is a package
    beside the solutions that they get as it is: a program that works with their modules.
    """

    id: Annotated[str, AfterValidator(plain_id)]
    title: Text
    points: Points
    deadline: Annotated[datetime, PlainValidator(_moment)]
    late_policy: LatePolicy
    limits: Limits
    hint: Annotated[str, AfterValidator(_hint_policy)] = "always"
    data: Annotated[tuple[Annotated[str, AfterValidator(_file_name)], ...], Field(strict=False)] = ()
    lab: Annotated[str, AfterValidator(_module_name)] | None = None
    seconds_per_cell: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 20.0
    exercises: Annotated[tuple[Exercise, ...], Field(strict=False), AfterValidator(_not_empty)]

    def exercise(self, name: str) -> Exercise:
        """The exercise of that name. Raises CourseError."""
        return _find(name, {e.name: e for e in self.exercises}, f"exercise of {self.id}")

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

    id: Annotated[str, AfterValidator(plain_id)]
    title: Text
    timezone: Annotated[str, AfterValidator(_zone_name)]
    total_sections: Count
    weeks: Annotated[tuple[Week, ...], Field(strict=False)] = ()
    assignments: Annotated[dict[str, Assignment], AfterValidator(_not_empty)]

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
