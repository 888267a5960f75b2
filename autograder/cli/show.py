"""`autograder show`."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from autograder.cli.setting import Setting
from autograder.grading import GradingError, Receipt
from autograder.grading.disclosure import hint_withheld
from autograder.grading.final import final_scores
from autograder.grading.store import Store
from autograder.quiz.receipts import is_quiz, without_feedback
from autograder.reports.terminal import receipt_report


def run(
    course: Path | None, student: str, assignment: str | None, store: str | None, instructor: bool, as_json: bool
) -> None:
    """Print the receipt that stands for a student."""
    setting = Setting.find(course)
    with setting.store(store) as receipts:
        receipt = _standing(receipts, student, assignment)
        adjustments = receipts.adjustments(receipt.assignment, student)
        attempts = len({r.submission_hash for r in receipts.history(receipt.assignment, student)})
    graded = setting.course.assignment(receipt.assignment.partition("/")[0])
    final = final_scores(receipt, adjustments, graded)
    withheld = "" if instructor else hint_withheld(graded, attempts, datetime.now(UTC), student)
    if withheld and is_quiz(receipt.assignment):
        receipt = without_feedback(receipt)
    if as_json:
        view = receipt.to_dict() if instructor else student_view(receipt, with_hints=not withheld)
        print(json.dumps({**view, **final.to_dict()}, indent=1))
        return
    receipt_report(Console(), receipt, final, instructor, withheld)


def student_view(receipt: Receipt, with_hints: bool = True) -> dict[str, Any]:
    """What of a receipt a student may have: no names of hidden checks, no output of hidden checks, no seed."""
    shown = ("course", "assignment", "student", "name", "status", "graded_at", "earned", "possible", "files")
    data = receipt.to_dict()
    view = {**{key: data[key] for key in shown}, "notes": list(receipt.remarks)}
    fields = ("exercise", "title", "public", "points", "outcome", "earned", "message")
    view["checks"] = [{key: check[key] for key in fields} for check in data["checks"]]
    if with_hints:
        told = ("mistake", "name", "hint", "course")
        view["diagnoses"] = {
            exercise: [{key: one[key] for key in told} for one in found]
            for exercise, found in data["diagnoses"].items()
        }
    return view


def assignments_of(receipts: Store, student: str, assignment: str | None) -> list[str]:
    """Assignments for which the student has receipts, or only the one that was asked for. Raises GradingError."""
    known = receipts.assignments_of(student)
    if not known:
        near = [name for name in receipts.students() if student.lower() in name.lower()][:3]
        hint = f"; did you mean {', '.join(near)}?" if near else "; grade the submission first"
        raise GradingError(f'there is no receipt for "{student}"{hint}')
    if assignment is not None and assignment not in known:
        raise GradingError(f'"{student}" has no receipt for {assignment}; there is one for {", ".join(known)}')
    return known if assignment is None else [assignment]


def _standing(receipts: Store, student: str, assignment: str | None) -> Receipt:
    known = assignments_of(receipts, student, assignment)
    known = [name for name in known if not is_quiz(name)] or known
    if len(known) > 1:
        raise GradingError(f'"{student}" has receipts for {", ".join(known)}; choose one with --assignment')
    receipt = receipts.standing(known[0], student)
    assert receipt is not None
    return receipt
