"""Who gets what next, and what becomes of submissions whose grader ended while it had them."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator

from autograder.course import Limits
from autograder.intake import Submission
from autograder.sandbox.host.deadline import WALL_FACTOR

ENOUGH = 4
"""A submission is left to a human when it has come to this: a grader that had nothing else ended by itself (2), or was
killed (1; that may come from a host that is short of memory, or from a person)."""


def patience(limits: Limits, lanes: int = 1) -> float:
    """Seconds without a word after which a grader is given up. Each submission waits for at most so many times its
    seconds of CPU time (WALL_FACTOR); as long again for what else there is to do, in each lane.
    """
    return 60 + 2 * WALL_FACTOR * lanes * limits.seconds_per_submission


class Futility:
    """How often in a row graders ended before they came to a submission. At some point it is no use to go on."""

    def __init__(self) -> None:
        self._count = 0

    def ended(self, was_killed: bool) -> None:
        """One more. That it was killed says little: some may be in a row when a host is short of memory."""
        self._count += 1 if was_killed else 14

    def is_disproved(self) -> None:
        """One came to a submission."""
        self._count = 0

    @property
    def is_certain(self) -> bool:
        """Three times in a row by themselves, or forty times killed."""
        return self._count >= 40


class Dealer:
    """Deals submissions. One that was under way when its grader ended is dealt again, alone: it may be the reason."""

    def __init__(self, submissions: Iterable[Submission]) -> None:
        self._fresh: Iterator[Submission] = iter(submissions)
        self._returned: deque[Submission] = deque()
        self._suspects: deque[Submission] = deque()
        self._counts: Counter[str] = Counter()
        self.given_up: dict[str, str] = {}
        """Students whose submission is left to a human, and why."""

    def deal(self, room: int, is_idle: bool) -> list[Submission]:
        """Up to `room` submissions for a grader, or one suspect for a grader that has nothing else to do."""
        if is_idle and room and self._suspects:
            return [self._suspects.popleft()]
        dealt: list[Submission] = []
        while len(dealt) < room and (submission := self._next()) is not None:
            dealt.append(submission)
        return dealt

    def is_suspect(self, submission: Submission) -> bool:
        """Was it under way when a grader ended? Then nothing else goes to the grader that has it."""
        return submission.student in self._counts

    def lost(self, under_way: Iterable[Submission], untouched: Iterable[Submission], was_killed: bool) -> None:
        """A grader ended while it was grading some submissions, and before it came to others."""
        self._returned.extend(untouched)
        for submission in under_way:
            student = submission.student
            if student in self._counts:
                self._counts[student] += 1 if was_killed else 2
            else:
                self._counts[student] = 0  # it was not alone: any of them may be the reason
            if self._counts[student] >= ENOUGH:
                self.given_up[student] = "its grader ended again and again while it had nothing else to grade"
            self._suspects.append(submission)

    def _next(self) -> Submission | None:
        return self._returned.popleft() if self._returned else next(self._fresh, None)
