"""Receipts that still hold: of exactly this work, under exactly these suites and this kit."""

from __future__ import annotations

from collections.abc import Iterable

from autograder import __version__
from autograder.course import Assignment, CourseFiles
from autograder.grading.hashes import submission_hash, suite_hash
from autograder.grading.receipt import Receipt
from autograder.grading.store import Store
from autograder.intake import Submission


def reusable(
    store: Store, files: CourseFiles, assignment: Assignment, submissions: Iterable[Submission], seed: int | None = None
) -> dict[str, Receipt]:
    """Complete receipts of these submissions, by student (of this seed, where one is given)."""
    suite = suite_hash(files, assignment)
    found = {
        s.student: store.reusable(assignment.id, s.student, submission_hash(s), suite, __version__, seed)
        for s in submissions
    }
    return {student: receipt for student, receipt in found.items() if receipt is not None}
