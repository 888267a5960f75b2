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
    that were read already; mostly they are the ones, also where a regrade kept one over a lower result.
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
    is_judged = f"{suite} {__version__}" in (receipt.judged_by, receipt.kept_over)
    return receipt.complete and receipt.submission_hash == submission and is_judged and seed in (None, receipt.seed)


def with_known_times(submissions: Iterable[Submission], before: Mapping[str, Receipt]) -> list[Submission]:
    """The submissions; those of whose time this run knows nothing, with what was known of the same work before."""
    return [_with_known_time(submission, before.get(submission.student)) for submission in submissions]


def _with_known_time(submission: Submission, before: Receipt | None) -> Submission:
    if submission.handed_in or submission.handed_in_remark or before is None:
        return submission
    if before.submission_hash != submission.digest:
        return submission
    return replace(submission, handed_in=before.handed_in, handed_in_remark=before.handed_in_remark)
