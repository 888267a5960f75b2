"""`autograder show`."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from autograder.cli.setting import Setting
from autograder.grading import GradingError, Receipt
from autograder.grading.score import scores
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
    graded = setting.course.assignment(receipt.assignment.partition("/")[0])
    receipt, withheld = (receipt, "") if instructor else disclosed(receipt, graded, attempts, datetime.now(UTC))
    if as_json:
        view = receipt.to_dict() if instructor else student_view(receipt, with_hints=not withheld)
        print(json.dumps(view, indent=1))
        return
    receipt_report(Console(), receipt, scores(receipt, adjustments), instructor, withheld)


def _standing(receipts: Store, student: str, assignment: str | None) -> Receipt:
    known = receipts.assignments_of(student)
    if not known:
        near = [name for name in receipts.students() if student.lower() in name.lower()][:3]
        hint = f"; did you mean {', '.join(near)}?" if near else "; grade the submission first"
        raise GradingError(f'there is no receipt for "{student}"{hint}')
    known = [name for name in known if "/" not in name] or known if assignment is None else known
    if assignment is None and len(known) > 1:
        raise GradingError(f'"{student}" has receipts for {", ".join(known)}; choose one with --assignment')
    receipt = receipts.standing(assignment or known[0], student)
    if receipt is None:
        raise GradingError(f'"{student}" has no receipt for {assignment}; there is one for {", ".join(known)}')
    return receipt
