"""From answers to receipts, the same record that modules have, in the same store: one for each student."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from autograder import __version__
from autograder.course import Course
from autograder.grading.receipt import (
    GRADED,
    NEEDS_ATTENTION,
    NOT_SUBMITTED,
    CheckResult,
    Diagnosis,
    Receipt,
)
from autograder.grading.store import now
from autograder.quiz.answers import HandedInAnswers
from autograder.quiz.bank import Bank
from autograder.quiz.marking import NOT_ANSWERED, REWRITE, Mark, mark
from autograder.quiz.public import public_item

MOST_NOTES = 20


def quiz_id(assignment: str) -> str:
    """What receipts of a quiz are kept under: not the name of an assignment, which has no slash."""
    return f"{assignment}/quiz"


def bank_hash(bank: Bank) -> str:
    """Changes with anything that decides a mark."""
    keyed = [[item.model_dump(warnings=False), _draws(bank, item)] for item in bank.items]
    return hashlib.sha256(json.dumps(keyed, sort_keys=True, default=str).encode()).hexdigest()


def _draws(bank: Bank, item: Any) -> list[list[Any]]:
    if not hasattr(item, "parameters"):
        return []
    return [[dict(d.parameters), d.value, d.tolerance, [value for value, _ in d.wrong]] for d in bank.draws(item)]


class Marker:
    """Marks the quiz of an assignment, one student after the other."""

    def __init__(self, bank: Bank, course: Course) -> None:
        self.bank = bank
        self._course = course
        self.hash = bank_hash(bank)
        self._versions = {item.id: public_item(bank, item)["version"] for item in bank.items}
        self._titles = {item.id: " ".join(item.prompt.split())[:100] for item in bank.items}

    def receipt(self, handed_in: HandedInAnswers) -> Receipt:
        """The receipt of one student."""
        marks = self.marks(handed_in)
        notes = tuple(self._notes(handed_in, marks))
        if handed_in.problem:
            status = NOT_SUBMITTED if handed_in.is_missing else NEEDS_ATTENTION
        else:
            look = any(m.outcome == REWRITE for m in marks.values()) or len(notes) > 0
            status = NEEDS_ATTENTION if look else GRADED
        return Receipt(
            course=self._course.id,
            assignment=quiz_id(self.bank.assignment),
            student=handed_in.student,
            name=None,
            status=status,
            submission_hash=hashlib.sha256(handed_in.data).hexdigest(),
            suite_hash=self.hash,
            kit_version=__version__,
            seed=0,
            torch_version="none",
            isolation="no code is run",
            graded_at=now(),
            seconds=0.0,
            checks=tuple(self._checks(marks)),
            notes=notes,
            output={m.item: _typed(m.typed) for m in marks.values() if m.outcome != NOT_ANSWERED},
            diagnoses=self._diagnoses(marks),
        )

    def marks(self, handed_in: HandedInAnswers) -> dict[str, Mark]:
        """The mark of every item, in the order of the bank."""
        answers = handed_in.answers
        given: Mapping[str, object] = answers.answers if answers else {}
        seed = (answers.student if answers else None) or handed_in.student
        found = {}
        for item in self.bank.items:
            one = mark(self.bank, item, given.get(item.id), seed)
            version = answers.versions.get(item.id) if answers else None
            if version is not None and version != self._versions[item.id] and one.outcome != NOT_ANSWERED:
                sentence = "this question has changed since it was answered; please answer it again"
                one = Mark(item.id, REWRITE, one.share * 0, one.typed, (sentence,))
            found[item.id] = one
        return found

    def _notes(self, handed_in: HandedInAnswers, marks: Mapping[str, Mark]) -> Iterator[str]:
        if handed_in.problem:
            yield handed_in.problem
            return
        assert handed_in.answers is not None
        if not any(m.outcome != NOT_ANSWERED for m in marks.values()):
            yield "nothing was answered"
        seed = handed_in.answers.student
        if seed and seed != handed_in.student:
            yield f"the questions were drawn for {seed[:60]}, the file was handed in by {handed_in.student}"
        unknown = [str(key)[:40] for key in handed_in.answers.answers if key not in marks]
        yield from (f"{key} is not a question of this quiz; its answer was not marked" for key in unknown[:MOST_NOTES])
        if len(unknown) > MOST_NOTES:
            yield f"and {len(unknown) - MOST_NOTES} more answers to unknown questions"

    def _checks(self, marks: Mapping[str, Mark]) -> Iterator[CheckResult]:
        for group in self.bank.groups:
            for item in group.items:
                if item.counted:
                    one = marks[item.id]
                    yield CheckResult(
                        id=item.id,
                        exercise=group.course,
                        title=self._titles[item.id],
                        public=True,
                        points=item.points,
                        outcome=one.outcome,
                        earned=item.points * one.share,
                        message=" ".join(one.feedback),
                    )

    def _diagnoses(self, marks: Mapping[str, Mark]) -> dict[str, tuple[Diagnosis, ...]]:
        """The false ideas that answers show, by section."""
        found: dict[str, tuple[Diagnosis, ...]] = {}
        for group in self.bank.groups:
            shown: dict[str, list[str]] = {}
            for item in group.items:
                for idea in marks[item.id].misconceptions:
                    shown.setdefault(idea, []).append(item.id)
            if shown:
                found[group.course] = tuple(
                    Diagnosis(idea, self.bank.misconceptions[idea], "", group.course, tuple(items))
                    for idea, items in shown.items()
                )
        return found


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


def _typed(answer: object) -> str:
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, default=str)
    return text[:2000]
