"""From answers to receipts, the same record that modules have, in the same store: one for each student."""

from __future__ import annotations

import hashlib
import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from autograder import __version__
from autograder.course import Course
from autograder.grading.parts import QUIZ
from autograder.grading.receipt import (
    GRADED,
    NEEDS_ATTENTION,
    NOT_SUBMITTED,
    CheckResult,
    Diagnosis,
    Receipt,
)
from autograder.grading.store import now
from autograder.intake.names import shown
from autograder.quiz.answers import Answers, HandedInAnswers
from autograder.quiz.bank import Bank
from autograder.quiz.drawing import filled
from autograder.quiz.marking import ALL, NOT_ANSWERED, NOTHING, REWRITE, Mark, mark
from autograder.quiz.model import AnyItem, Drawn
from autograder.quiz.public import public_item

NO_CODE_RUN: dict[str, Any] = {
    "kit_version": __version__,
    "seed": 0,
    "torch_version": "none",
    "isolation": "no code is run",
    "seconds": 0.0,
}
"""The fields of a receipt for which no code was run."""
LONGEST_TITLE = 100
MOST_NOTES = 20
MOST_REMEMBERED = 64
"""So many different answers to a question are remembered."""


def bank_hash(bank: Bank) -> str:
    """Changes with anything that decides a mark."""
    keyed = [
        [group.course, item.model_dump(warnings=False), _draws(bank, item)]
        for group in bank.groups
        for item in group.items
    ]
    return hashlib.sha256(json.dumps(keyed, sort_keys=True, default=str).encode()).hexdigest()


def _draws(bank: Bank, item: AnyItem) -> list[list[Any]]:
    if not isinstance(item, Drawn):
        return []
    return [[dict(d.parameters), d.value, d.tolerance, [value for value, _ in d.wrong]] for d in bank.draws(item)]


class Marker:
    """Marks the quiz of an assignment, one student after the other."""

    def __init__(self, bank: Bank, course: Course) -> None:
        self.bank = bank
        self._course = course
        self.hash = bank_hash(bank)
        self._versions = {item.id: public_item(bank, item)["version"] for item in bank.items}
        self._remembered: dict[str, dict[str, Mark]] = {item.id: {} for item in bank.items}

    def receipt(self, handed_in: HandedInAnswers) -> Receipt:
        """The receipt of one student."""
        seed = (handed_in.answers and handed_in.answers.student) or handed_in.student
        marks = self._marks(handed_in.answers, seed)
        notes = tuple(self._notes(handed_in, marks))
        if handed_in.problem:
            status = NOT_SUBMITTED if handed_in.is_missing else NEEDS_ATTENTION
        else:
            look = any(m.outcome == REWRITE for m in marks.values()) or len(notes) > 0
            status = NEEDS_ATTENTION if look else GRADED
        return Receipt(
            course=self._course.id,
            assignment=QUIZ.of(self.bank.assignment),
            student=handed_in.student,
            name=handed_in.name,
            status=status,
            submission_hash=hashlib.sha256(handed_in.data or handed_in.problem.encode()).hexdigest(),
            suite_hash=self.hash,
            graded_at=now(),
            checks=tuple(self._checks(marks, seed)),
            notes=notes,
            output={m.item: typed_text(m.typed) for m in marks.values() if m.outcome != NOT_ANSWERED},
            diagnoses=self._diagnoses(marks),
            **NO_CODE_RUN,
        )

    def _marks(self, answers: Answers | None, seed: str) -> dict[str, Mark]:
        """The mark of every item, in the order of the bank."""
        given: Mapping[str, object] = answers.answers if answers else {}
        found = {}
        for item in self.bank.items:
            one = self._mark(item, given.get(item.id), seed)
            version = answers.versions.get(item.id) if answers else None
            if version is not None and version != self._versions[item.id] and one.outcome != NOT_ANSWERED:
                sentence = "this question has changed since it was answered; please answer it again"
                one = Mark(item.id, REWRITE, one.share * 0, one.typed, (sentence,))
            found[item.id] = one
        return found

    def _mark(self, item: AnyItem, typed: object, seed: str) -> Mark:
        """The mark of an answer; that of a question which is the same for everybody is remembered."""
        if isinstance(item, Drawn) and item.parameters:
            return mark(self.bank, item, typed, seed)
        remembered, key = self._remembered[item.id], json.dumps(typed)
        one = remembered.get(key)
        if one is None:
            one = mark(self.bank, item, typed, seed)
            if len(remembered) < MOST_REMEMBERED:
                remembered[key] = one
        return one

    def _notes(self, handed_in: HandedInAnswers, marks: Mapping[str, Mark]) -> Iterator[str]:
        if handed_in.problem:
            yield handed_in.problem
            return
        assert handed_in.answers is not None
        unknown = [shown(key[:40]) for key in handed_in.answers.answers if key not in marks]
        if not any(m.outcome != NOT_ANSWERED for m in marks.values()):
            of_it = f" of this quiz ({unknown[0]} is no question of it)" if unknown else ""
            yield f"nothing was answered{of_it}"
        seed = handed_in.answers.student
        if seed and seed != handed_in.student and not handed_in.is_own_name:
            yield f"the questions were drawn for {seed[:60]}, the file was handed in by {handed_in.student}"
        yield from (f"{key} is not a question of this quiz; its answer was not marked" for key in unknown[:MOST_NOTES])
        if len(unknown) > MOST_NOTES:
            yield f"and {len(unknown) - MOST_NOTES} more answers to unknown questions"

    def _checks(self, marks: Mapping[str, Mark], seed: str) -> Iterator[CheckResult]:
        for group in self.bank.groups:
            for item in group.items:
                if item.counted:
                    one = marks[item.id]
                    yield check_of(item, one, group.course, title(self.bank, item, seed))

    def _diagnoses(self, marks: Mapping[str, Mark]) -> dict[str, tuple[Diagnosis, ...]]:
        """The false ideas that answers show, by section."""
        found: dict[str, tuple[Diagnosis, ...]] = {}
        for group in self.bank.groups:
            if ideas := ideas_in(self.bank, [marks[item.id] for item in group.items], group.course):
                found[group.course] = ideas
        return found


def check_of(item: AnyItem, one: Mark, exercise: str, title: str) -> CheckResult:
    """A question and its mark, as a receipt keeps it."""
    earned = item.points if one.share is ALL else item.points * one.share if one.share else NOTHING
    return CheckResult(
        id=item.id,
        exercise=exercise,
        title=title,
        public=True,
        points=item.points,
        outcome=one.outcome,
        earned=earned,
        message=" ".join(one.feedback),
    )


def ideas_in(bank: Bank, marks: Iterable[Mark], course: str) -> tuple[Diagnosis, ...]:
    """The false ideas that these answers show. `course`: the section that explains them."""
    found: dict[str, list[str]] = {}
    for one in marks:
        for idea in one.misconceptions:
            found.setdefault(idea, []).append(one.item)
    return tuple(Diagnosis(idea, bank.misconceptions[idea], "", course, tuple(items)) for idea, items in found.items())


def title(bank: Bank, item: AnyItem, student: str) -> str:
    """The beginning of the question, as the student saw it."""
    if isinstance(item, Drawn) and item.parameters:
        return _beginning(filled(item.prompt, bank.draw(item, student).parameters))
    return _beginning(item.prompt)


def section_points(bank: Bank) -> dict[str, Fraction]:
    """The points of each section, as its receipts name it."""
    found: dict[str, Fraction] = {}
    for group in bank.groups:
        points = sum((item.points for item in group.items if item.counted), Fraction(0))
        found[group.course] = found.get(group.course, Fraction(0)) + points
    return found


def without_feedback(receipt: Receipt) -> Receipt:
    """What may be told where hints are not: outcomes, and how to write what could not be read."""
    checks = tuple(c if c.outcome == REWRITE else replace(c, message="") for c in receipt.checks)
    return replace(receipt, checks=checks)


def item_analysis(receipts: list[Receipt]) -> list[dict[str, Any]]:
    """How each question did in a class: points earned where it was answered, outcomes, and the false ideas shown."""
    rows: dict[str, dict[str, Any]] = {}
    for receipt in receipts:
        for check in receipt.checks:
            row = rows.setdefault(
                check.id, {"item": check.id, "section": check.exercise, "outcomes": Counter(), "earned": 0.0, "of": 0.0}
            )
            row["outcomes"][check.outcome] += 1
            if check.outcome != NOT_ANSWERED:
                row["earned"] += float(check.earned)
                row["of"] += float(check.points)
        for found in receipt.diagnoses.values():
            for diagnosis in found:
                for item in diagnosis.checks:
                    if item in rows:
                        rows[item].setdefault("ideas", Counter())[diagnosis.name] += 1
    return list(rows.values())


@lru_cache(10_000)
def _beginning(prompt: str) -> str:
    """The first words; a bank has some thousand prompts, its draws included, and a class asks for each many times."""
    words = " ".join(prompt.split())
    whole = textwrap.shorten(words, LONGEST_TITLE, placeholder=" ...", break_on_hyphens=False)
    return whole if whole != "..." else words[: LONGEST_TITLE - 3] + "..."  # a word that is longer than a title


def typed_text(answer: object) -> str:
    """What somebody typed, as receipts keep it."""
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, default=str)
    return text[:2000]
