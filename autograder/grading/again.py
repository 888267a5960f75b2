"""Grading again, for a regrade: what was graded is kept aside until somebody wants it in the record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter

from autograder.course import Assignment, CourseFiles
from autograder.grading.batch import Batch
from autograder.grading.receipt import Receipt
from autograder.grading.reuse import reusable
from autograder.grading.run import grade
from autograder.grading.store import Store
from autograder.intake import Submission
from autograder.sandbox.host.zygotes import Zygotes


def grade_again(
    files: CourseFiles,
    course: str,
    assignment: Assignment,
    due: Sequence[tuple[Submission, int]],
    aside: Store,
    progress: Callable[[int], None],
    required_isolation: str | None = None,
) -> dict[str, Receipt]:
    """New receipts of submissions, each with the seed to use; by student. `progress` gets their number.

    Submissions of one seed are graded in one run. What `aside` holds is used again as far as it still holds.

    Raises:
        GradingError: the suites or the sandbox are at fault.
        KeyboardInterrupt: the user stopped; what was done is kept aside.
    """
    receipts: dict[str, Receipt] = {}

    def finished(receipt: Receipt) -> None:
        aside.add(receipt)
        receipts[receipt.student] = receipt
        progress(len(receipts))

    with Zygotes(required=required_isolation) as zygotes:
        for seed, group in groupby(sorted(due, key=itemgetter(1)), itemgetter(1)):
            submissions = [submission for submission, _ in group]
            receipts |= reusable(aside, files, assignment, submissions, seed, required_isolation)
            waiting = [s for s in submissions if s.student not in receipts]
            if waiting:
                batch = Batch(files, course, assignment, waiting, seed, required_isolation=required_isolation)
                grade(batch, finished, lambda _: None, zygotes)
    return receipts
