"""Grade many submissions at once: while one worker computes, the checks of another run."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable

from autograder.grading.receipt import Receipt
from autograder.grading.submission import Grader
from autograder.intake import Submission
from autograder.sandbox.host import SandboxError, Zygote

LANES = min(4, max(2, os.cpu_count() or 1))
"""So many submissions are under way at a time. The grader is one process; their workers are one process each."""

MOST_FAILURES = 3
"""So many submissions in a row under which the sandbox failed are no accident; the run stops."""


def grade_all(
    grader: Grader,
    submissions: Iterable[Submission],
    started: Callable[[Submission], None],
    finished: Callable[[Receipt], None],
) -> None:
    """Grade submissions in order, a few at a time; `finished` gets each receipt at once.

    Raises:
        SandboxError: it failed for several submissions in a row.
    """
    waiting, lanes = iter(submissions), deque[Generator[None, None, Receipt]]()
    with _Zygotes() as zygotes:
        try:
            while True:
                while len(lanes) < LANES and (submission := next(waiting, None)) is not None:
                    started(submission)
                    lanes.append(_graded(grader, zygotes, submission))
                if not lanes:
                    return
                lane = lanes.popleft()
                try:
                    next(lane)
                except StopIteration as done:
                    finished(done.value)
                else:
                    lanes.append(lane)
        finally:
            for lane in lanes:
                lane.close()


def _graded(grader: Grader, zygotes: _Zygotes, submission: Submission) -> Generator[None, None, Receipt]:
    """A submission's receipt. When the sandbox fails under it, a second attempt; then it is left to a human."""
    for _ in range(2):
        zygote = zygotes.get()
        try:
            receipt = yield from grader.grade(zygote, submission)
        except SandboxError as error:
            zygotes.replace(zygote)
            failure = error
        else:
            zygotes.failures = 0
            return receipt
    zygotes.failures += 1
    if zygotes.failures == MOST_FAILURES:
        raise failure
    return grader.left_to_a_human(submission, zygotes.get(), failure)


class _Zygotes:
    """The zygote of a run, replaced when it failed. `failures` counts submissions in a row that could not be graded."""

    def __init__(self) -> None:
        self._current: Zygote | None = None
        self.failures = 0

    def __enter__(self) -> _Zygotes:
        return self

    def __exit__(self, *_: object) -> None:
        if self._current is not None:
            self._current.close()

    def get(self) -> Zygote:
        """The running zygote; started when it is first needed."""
        self._current = self._current or Zygote()
        return self._current

    def replace(self, failed: Zygote) -> None:
        """Close this one, unless another submission has already had it replaced."""
        if failed is self._current:
            failed.close()
            self._current = None
