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
from autograder.sandbox.levels import satisfies


def reusable(
    store: Store,
    files: CourseFiles,
    assignment: Assignment,
    submissions: Iterable[Submission],
    seed: int | None = None,
    required_isolation: str | None = None,
    standing: Mapping[str, Receipt] = MappingProxyType({}),
) -> dict[str, Receipt]:
    """Complete receipts of these submissions, by student; of this seed and at least this isolation, where one is given.

    They hold what intake says now: only the modules decide how checks end, so that other names, folders and files
    beside them are no reason to grade again, and none to tell the student of the old ones. `standing` are receipts
    that were read already; mostly they are the ones, also where a regrade kept one over a lower result.
    """
    suite, submissions = suite_hash(files, assignment), list(submissions)
    found, others = {}, {}
    for submission in submissions:
        receipt = standing.get(submission.student)
        if receipt is not None and holds(receipt, submission, suite, seed):
            found[submission.student] = receipt
        else:
            others[submission.student] = submission.digest
    found |= store.reusable_all(assignment.id, others.items(), suite, __version__, seed)
    return {
        s.student: replace(receipt, **told_by_intake(s))
        for s in submissions
        if (receipt := found.get(s.student)) and satisfies(receipt.isolation, required_isolation)
    }


def holds(receipt: Receipt, submission: Submission, suite: str, seed: int | None) -> bool:
    """Is it complete, of this work, and judged by this suite (its hash) and the kit of now? Of this seed, if any?"""
    is_judged = f"{suite} {__version__}" in (receipt.judged_by, receipt.kept_over)
    is_of_it = receipt.submission_hash == submission.digest
    return receipt.complete and is_of_it and is_judged and seed in (None, receipt.seed)


def with_known_times(submissions: Iterable[Submission], before: Mapping[str, Receipt]) -> list[Submission]:
    """The submissions; those of whose time this run knows nothing, with what was known of the same work before."""
    return [_with_known_time(submission, before.get(submission.student)) for submission in submissions]


def _with_known_time(submission: Submission, before: Receipt | None) -> Submission:
    if submission.handed_in or submission.handed_in_remark or before is None:
        return submission
    if before.submission_hash != submission.digest:
        return submission
    return replace(submission, handed_in=before.handed_in, handed_in_remark=before.handed_in_remark)
