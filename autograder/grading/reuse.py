"""Receipts that still hold: of exactly these modules, under exactly these suites and this kit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from autograder import __version__
from autograder.course import Assignment, CourseFiles
from autograder.grading.hashes import suite_hash
from autograder.grading.receipt import Receipt, told_by_intake
from autograder.grading.store import Store
from autograder.intake import Submission


def reusable(
    store: Store,
    files: CourseFiles,
    assignment: Assignment,
    submissions: Iterable[Submission],
    seed: int | None = None,
    standing: Mapping[str, Receipt] = MappingProxyType({}),
) -> dict[str, Receipt]:
    """Complete receipts of these submissions, by student (of this seed, where one is given).

    They hold what intake says now: only the modules decide how checks end, so that other names, folders and files
    beside them are no reason to grade again, and none to tell the student of the old ones. `standing` are receipts
    that were read already; mostly they are the ones.
    """
    suite, submissions = suite_hash(files, assignment), list(submissions)
    found, others = {}, {}
    for submission in submissions:
        receipt = standing.get(submission.student)
        if receipt is not None and _is_of(receipt, submission.digest, suite, seed):
            found[submission.student] = receipt
        else:
            others[submission.student] = submission.digest
    found |= store.reusable_all(assignment.id, others.items(), suite, __version__, seed)
    return {s.student: replace(found[s.student], **told_by_intake(s)) for s in submissions if s.student in found}


def _is_of(receipt: Receipt, submission: str, suite: str, seed: int | None) -> bool:
    work = receipt.submission_hash, receipt.suite_hash, receipt.kit_version
    return receipt.complete and work == (submission, suite, __version__) and seed in (None, receipt.seed)
