"""The bank of an assignment: its quiz files in the order the course is read, with every key's value worked out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeGuard

from autograder.course import Course, CourseError, CourseFiles, TraceEntry, load_traces
from autograder.course.mistakes import load_mistakes
from autograder.course.model import wrong_reference
from autograder.quiz.drawing import drawn
from autograder.quiz.errors import QuizError
from autograder.quiz.files import Card, Picture, QuizFile, load_misconceptions, load_quiz_file
from autograder.quiz.formula import FormulaError, Value, parsed, value_of
from autograder.quiz.model import AnyItem, Drawn, Number, Shape, WrongValue, named_answers

MOST_DRAWS = 64
"""More variants of a question than this help nobody."""

NEAR_ZERO = 1e-9
"""What rounding leaves of 0."""


@dataclass(frozen=True)
class Draw:
    """One variant of an item: its parameters, the value of its key, how far an answer may be from it, and the named
    wrong values. An item without parameters has one."""

    parameters: Mapping[str, int | float]
    value: Value
    tolerance: float
    wrong: tuple[tuple[Value, WrongValue], ...]


@dataclass(frozen=True)
class Group:
    """The knowledge check of one section. `unit` is its study unit, 0 where it belongs to none."""

    course: str
    title: str
    unit: int
    optional: bool
    pictures: tuple[Picture, ...]
    items: tuple[AnyItem, ...]
    cards: tuple[Card, ...]
    file: str


@dataclass(frozen=True)
class Bank:
    """All questions of an assignment. `misconceptions` are the names of all false ideas that answers can show."""

    assignment: str
    title: str
    groups: tuple[Group, ...]
    misconceptions: Mapping[str, str]
    traces: Traces = field(repr=False)

    @property
    def items(self) -> Iterator[AnyItem]:
        return (item for group in self.groups for item in group.items)

    @cached_property
    def by_id(self) -> dict[str, AnyItem]:
        return {item.id: item for item in self.items}

    @cached_property
    def _draws(self) -> dict[str, tuple[Draw, ...]]:
        return {}

    def draws(self, item: Drawn) -> tuple[Draw, ...]:
        """All variants of an item. Raises QuizError."""
        if item.id not in self._draws:
            self._draws[item.id] = tuple(_draws(item, self.traces))
        return self._draws[item.id]

    def draw(self, item: Drawn, student: str) -> Draw:
        """The variant that a student gets."""
        draws = self.draws(item)
        return draws[drawn(student, item.id, len(draws)) if len(draws) > 1 else 0]

    def value(self, formula: str) -> Value:
        """The value of a formula without parameters. Raises QuizError."""
        return _evaluated(formula, {}, self.traces)


class Traces:
    """Values of the worked examples by name, `layer_norm.row_1_2_3_4.variance`; files are read when first needed."""

    def __init__(self, files: CourseFiles) -> None:
        self._files = files
        self._entries: dict[str, dict[str, TraceEntry]] = {}

    def __call__(self, name: str) -> Value:
        """Raises FormulaError where there is no such value."""
        exercise, *rest = name.split(".")
        if exercise not in self._entries:
            path = self._files.traces(exercise)
            if not exercise.isidentifier() or not path.is_file():
                raise FormulaError(f"there is no file of worked examples reference/traces/{exercise}.yml")
            self._entries[exercise] = load_traces(path)
        entry = self._entries[exercise].get(rest[0]) if rest else None
        if entry is not None and rest[1:-1] == ["inputs"] and rest[-1] in entry.inputs:
            return entry.inputs[rest[-1]]
        if entry is not None and len(rest) == 2 and rest[1] in entry.values:
            return entry.values[rest[1]].value
        raise FormulaError(f"{name} is not a value of a worked example")


def one_number(value: Value) -> float:
    """What a number's key, or a wrong answer to it, must be. Raises QuizError for a list."""
    if isinstance(value, list):
        raise QuizError(f"{value} is no value of a number, which has one; see `autograder quiz lint`")
    return float(value)


def is_shape(value: Value) -> TypeGuard[list[int]]:
    """Is it a list of sizes?"""
    return isinstance(value, list) and all(isinstance(size, int) and size >= 0 for size in value)


def sizes(value: Value) -> list[int]:
    """What a shape's key, or a wrong answer to it, must be. Raises QuizError for anything else."""
    if not is_shape(value):
        raise QuizError(f"{value} is no shape, which is a list of whole numbers; see `autograder quiz lint`")
    return value


def quiz_folder(files: CourseFiles, assignment: str) -> Path:
    """Where the complete quiz of an assignment is."""
    return files.solutions(assignment) / "quiz"


def has_quiz(files: CourseFiles, assignment: str) -> bool:
    """Are there questions for it here?"""
    return any(quiz_folder(files, assignment).glob("*.yml"))


def load_bank(files: CourseFiles, course: Course, assignment: str) -> Bank:
    """The bank of an assignment.

    Raises:
        CourseError: a file is wrong, two items have the same id, or a place or misconception does not exist.
        QuizError: there is no quiz, or a formula has no value.
    """
    title = course.assignment(assignment).title
    folder = quiz_folder(files, assignment)
    paths = sorted(folder.glob("*.yml"))
    if not paths:
        raise QuizError(f"{assignment} has no quiz; its questions belong in {_from_root(files, folder)}")
    traces = Traces(files)
    known = _known_misconceptions(files)
    read = [(path, load_quiz_file(path)) for path in paths]
    places: dict[str, str] = {}
    for path, quiz in read:
        problems = _problems(quiz, course, known, places, path.name)
        if problems:
            raise CourseError.in_file(path, problems)
    groups = sorted((_group(path, quiz, course) for path, quiz in read), key=lambda pair: pair[0])
    bank = Bank(assignment, title, tuple(group for _, group in groups), known, traces)
    for item in bank.items:
        if isinstance(item, Drawn):
            bank.draws(item)
    return bank


def _from_root(files: CourseFiles, path: Path) -> str:
    return path.relative_to(files.root).as_posix()


def _known_misconceptions(files: CourseFiles) -> dict[str, str]:
    """Also those of exercises that this course leaves out: their mistakes are ideas that somebody may have."""
    reference = files.root / "reference"
    known = load_misconceptions(reference / "misconceptions.yml")
    for path in sorted((reference / "mistakes").glob("*.yml")):
        known |= {f"{path.stem}/{mistake.id}": mistake.name for mistake in load_mistakes(path).mistakes}
    return known


def _problems(quiz: QuizFile, course: Course, known: Mapping[str, str], places: dict[str, str], name: str) -> list[str]:
    found = [f"course: {sentence}"] if (sentence := wrong_reference(quiz.course, course.weeks)) else []
    for field_name, entries in (("items", quiz.items), ("cards", quiz.cards)):
        for i, entry in enumerate(entries):
            where = f"{field_name}[{i}]"
            if entry.id in places:
                found.append(f"{where}.id: {entry.id} is already the id of {places[entry.id]}")
            places.setdefault(entry.id, f"{name} {where}")
            if entry.course and (sentence := wrong_reference(entry.course, course.weeks)):
                found.append(f"{where}.course: {sentence}")
    for i, item in enumerate(quiz.items):
        ideas = {each.misconception for each in named_answers(item) if each.misconception is not None}
        found += [
            f"items[{i}]: {shown} is no mistake of an exercise and not in reference/misconceptions.yml"
            for shown in sorted(ideas - set(known))
        ]
    return found


def _group(path: Path, quiz: QuizFile, course: Course) -> tuple[tuple[int, int, str], Group]:
    """A group and its place: study units in their order, what belongs to none before or after them by its number."""
    for week in course.weeks:
        order = {unit.number: i for i, unit in enumerate(week.units, 1)}
        first = min((s.number for s in week.sections if s.unit), default=0)
        for section in week.sections:
            if quiz.course == f"Week {week.number} §{section.number}":
                unit = section.unit or 0
                place = order[unit] if unit else (0 if section.number < first else len(order) + 1)
                group = Group(
                    quiz.course,
                    quiz.title or section.title,
                    unit,
                    section.optional,
                    quiz.pictures,
                    quiz.items,
                    quiz.cards,
                    path.name,
                )
                return (place, section.number, path.name), group
    title = quiz.title or quiz.course
    return (10**6, 0, path.name), Group(quiz.course, title, 0, False, quiz.pictures, quiz.items, quiz.cards, path.name)


def _draws(item: Drawn, traces: Traces) -> Iterator[Draw]:
    assert isinstance(item, (Number, Shape)), "what else is drawn"
    names = list(item.parameters)
    combinations = [dict(zip(names, values, strict=True)) for values in itertools.product(*item.parameters.values())]
    if item.require is not None:
        combinations = [each for each in combinations if _evaluated(item.require, each, traces, item.id)]
    if not combinations:
        raise QuizError(f"{item.id}: no combination of the parameters meets `{item.require}`")
    combinations.sort(key=lambda each: drawn(repr(each), item.id, 2**32))
    for each in combinations[:MOST_DRAWS]:
        value = _evaluated(item.key.value, each, traces, item.id)
        wrong = tuple((_evaluated(one.value, each, traces, item.id), one) for one in item.wrong)
        yield Draw(each, value, _tolerance(item, value), wrong)


def _tolerance(item: Drawn, value: Value) -> float:
    """How far from the value an answer may be; at zero, where a share is nothing, a relative tolerance is absolute."""
    if not isinstance(item, Number):
        return 0.0
    if isinstance(value, list):
        raise QuizError(f"{item.id}: the key of a number must be one number, got a list")
    if item.key.tolerance is not None:
        return item.key.tolerance
    return float(item.key.relative or 0.0) * (abs(value) if abs(value) > NEAR_ZERO else 1.0)


def _evaluated(text: str, names: Mapping[str, int | float], traces: Traces, where: str = "") -> Value:
    try:
        formula = parsed(text)
        if missing := formula.names - set(names):
            raise FormulaError(f"`{text}` uses {', '.join(sorted(missing))}, which is not a parameter")
        return value_of(formula, names, traces)
    except FormulaError as error:
        raise QuizError(f"{where}: {error}" if where else str(error)) from None
