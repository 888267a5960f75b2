"""`autograder show`."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from autograder.cli.setting import Setting
from autograder.grading import GradingError, Receipt
from autograder.grading.final import final_scores
from autograder.grading.parts import MODULES, assignment_of, part_of
from autograder.grading.store import Store
from autograder.reports.terminal import receipt_report
from autograder.reports.view import disclosed, student_view


def run(
    course: Path | None, student: str, assignment: str | None, store: str | None, instructor: bool, as_json: bool
) -> None:
    """Print the receipt that stands for a student."""
    setting = Setting.find(course)
    with setting.store(store) as receipts:
        receipt = _standing(receipts, student, assignment)
        adjustments = receipts.adjustments(receipt.assignment, student)
        attempts = len({r.submission_hash for r in receipts.history(receipt.assignment, student)})
    graded = setting.course.assignment(assignment_of(receipt.assignment))
    final = final_scores(receipt, adjustments, graded)
    receipt, withheld = (receipt, "") if instructor else disclosed(receipt, graded, attempts, datetime.now(UTC))
    if as_json:
        view = receipt.to_dict() if instructor else student_view(receipt, with_hints=not withheld)
        print(json.dumps({**view, **final.to_dict()}, indent=1))
        return
    receipt_report(Console(), receipt, final, instructor, withheld)


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
    known = [name for name in known if part_of(name) is MODULES] or known
    if len(known) > 1:
        raise GradingError(f'"{student}" has receipts for {", ".join(known)}; choose one with --assignment')
    receipt = receipts.standing(known[0], student)
    assert receipt is not None
    return receipt
