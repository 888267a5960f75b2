"""Receipts that still hold: of exactly these modules, under exactly these suites and this kit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from autograder import __version__
from autograder.course import Assignment, CourseFiles
from autograder.grading.hashes import suite_hash
from autograder.grading.receipt import Receipt, told_by_intake
from autograder.grading.store import Store
from autograder.intake import Submission


def reusable(
    store: Store, files: CourseFiles, assignment: Assignment, submissions: Iterable[Submission], seed: int | None = None
) -> dict[str, Receipt]:
    """Complete receipts of these submissions, by student (of this seed, where one is given).

    They hold what intake says now: only the modules decide how checks end, so that other names, folders and files
    beside them are no reason to grade again, and none to tell the student of the old ones.
    """
    suite = suite_hash(files, assignment)
    found = {}
    for submission in submissions:
        student = submission.student
        receipt = store.reusable(assignment.id, student, submission.digest, suite, __version__, seed)
        if receipt is not None:
            found[student] = replace(receipt, **told_by_intake(submission))
    return found
