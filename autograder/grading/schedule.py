"""Grade many submissions at once: while one worker computes, the checks of another run."""

from __future__ import annotations

import gc
import os
from collections import deque
from collections.abc import Callable, Iterable

from autograder.grading.receipt import Receipt
from autograder.grading.submission import Grader
from autograder.intake import Submission
from autograder.sandbox.host.errors import NotConfined, SandboxError
from autograder.sandbox.host.worker import Worker, first_to_answer
from autograder.sandbox.host.zygote import Zygote
from autograder.sandbox.host.zygotes import PATIENCE, Zygotes

LANES = min(4, 2 * (os.cpu_count() or 1))
"""So many submissions are under way at a time. The grader is one process; their workers are one process each."""

COLLECT_EVERY = 20
"""Rubbish is collected after so many submissions: by itself Python waits until there is a quarter of all there is."""


def grade_all(
    grader: Grader,
    submissions: Iterable[Submission],
    started: Callable[[Submission], None],
    finished: Callable[[Receipt], None],
    zygotes: Zygotes,
    most_lanes: int = LANES,
) -> None:
    """Grade submissions in order, a few at a time; `finished` gets each receipt at once.

    That there is no next submission need not be the end: it is asked for again as long as some are under way.

    Raises:
        NotConfined: student code cannot be closed in as required or promised, or have the scratch that was asked for.
        SandboxError: no zygote can be started.
    """
    waiting, lanes = iter(submissions), deque[_Lane]()
    suspects: deque[Submission] = deque()
    done = 0
    zygotes.get().must_have_scratch_for(grader.desk.with_scratch)
    _learn(grader, zygotes)
    gc.collect()
    gc.freeze()  # what is needed to the end need not be looked through each time
    try:
        while True:
            while not suspects and len(lanes) < most_lanes and (submission := next(waiting, None)) is not None:
                if submission.student in grader.batch.given_up:
                    why = SandboxError(grader.batch.given_up[submission.student])
                    finished(grader.left_to_a_human(submission, zygotes.get(), why))
                    continue
                started(submission)
                lanes.append(_Lane(submission, zygotes.get(), grader))
            if not lanes and not suspects:
                break
            if not lanes:
                _one_by_one(grader, zygotes, suspects, finished)
                continue
            lane = _next_to_go_on(lanes)
            try:
                receipt = lane.go_on()
            except NotConfined:
                raise
            except Exception:  # whatever it is: first find out which submission it belongs to
                zygotes.replace(lane.zygote)
                suspects.append(lane.submission)
                continue
            if receipt is None:
                lanes.append(lane)
                continue
            finished(receipt)
            done += 1
            if done % COLLECT_EVERY == 0:
                gc.collect()
    finally:
        gc.unfreeze()
        for lane in lanes:
            lane.steps.close()
        grader.close()


def _learn(grader: Grader, zygotes: Zygotes) -> None:
    """Let the grader learn its scripts. Without them it grades as well, only slower, and names no mistakes."""
    for _ in range(PATIENCE):
        zygote = zygotes.get()
        try:
            grader.learn(zygote)
            return
        except NotConfined:
            raise
        except SandboxError:
            zygotes.replace(zygote)


class _Lane:
    """One submission under way."""

    def __init__(self, submission: Submission, zygote: Zygote, grader: Grader) -> None:
        self.submission = submission
        self.zygote = zygote
        self.steps = grader.grade(zygote, submission)
        self.worker: Worker | None = None
        """The one that computes for it; None before the first."""

    def go_on(self) -> Receipt | None:
        """Grade on until a worker computes (None), or to the end."""
        try:
            self.worker = next(self.steps)
        except StopIteration as done:
            receipt: Receipt = done.value
            return receipt
        return None


def _next_to_go_on(lanes: deque[_Lane]) -> _Lane:
    """Take out the first lane that has not begun, or else one whose worker has answered."""
    working = [lane.worker for lane in lanes if lane.worker is not None]
    begins = len(working) < len(lanes)
    place = next(n for n, lane in enumerate(lanes) if lane.worker is None) if begins else first_to_answer(working)
    lane = lanes[place]
    del lanes[place]
    return lane


def _one_by_one(
    grader: Grader, zygotes: Zygotes, suspects: deque[Submission], finished: Callable[[Receipt], None]
) -> None:
    """Submissions under which the grader failed, each alone now, so that only the one at fault is left to a human."""
    while suspects:
        finished(_alone(grader, zygotes, suspects.popleft()))


def _alone(grader: Grader, zygotes: Zygotes, submission: Submission) -> Receipt:
    for tries_left in reversed(range(PATIENCE)):
        zygote = zygotes.get()
        try:
            lane = _Lane(submission, zygote, grader)
            while (receipt := lane.go_on()) is None:
                pass
            return receipt
        except NotConfined:
            raise
        except Exception as failure:
            zygotes.replace(zygote)
            if not tries_left or not isinstance(failure, SandboxError):
                return grader.left_to_a_human(submission, zygotes.get(), failure)
    raise AssertionError("the last try returns")
