"""What of a receipt its student may read: named field by field, so that nothing else can get out."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from autograder.course import Assignment
from autograder.grading.disclosure import hint_withheld
from autograder.grading.parts import MODULES, part_of
from autograder.grading.receipt import Receipt
from autograder.quiz.receipts import without_feedback


def disclosed(receipt: Receipt, assignment: Assignment, attempts: int, now: datetime) -> tuple[Receipt, str]:
    """The receipt with what the assignment's policy tells now, and why diagnoses are not told, where they are not.

    `attempts` and `now` are those of `hint_withheld`.
    """
    withheld = hint_withheld(assignment, attempts, now, receipt.student)
    if withheld and part_of(receipt.assignment) is not MODULES:
        receipt = without_feedback(receipt)
    return receipt, withheld


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
