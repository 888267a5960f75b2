"""Two runs on one database do not grade a submission twice: each claims its work before it begins with it."""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from autograder.cluster.chunks import Order
from autograder.grading.errors import GradingError
from autograder.grading.store import Store
from autograder.intake import Submission

SECONDS = 30.0
"""A claim that is not renewed for so long has expired: whoever made it is gone."""


@dataclass(frozen=True)
class Claims:
    """What one run does to its claims in the store."""

    store: Store
    order: Order
    owner: str
    force: bool
    seed: int | None

    def of(self, submissions: Sequence[Submission]) -> set[str]:
        """Students whose submission nobody else grades now, and has graded; from now on it is this run's."""
        work = [(submission.student, submission.digest) for submission in submissions]
        return self.store.claim(
            self.order.assignment,
            self.order.suite_hash,
            self.order.kit_version,
            work,
            self.owner,
            SECONDS,
            force=self.force,
            seed=self.seed,
        )


@contextmanager
def claiming(store: Store, order: Order, force: bool, seed: int | None) -> Iterator[Claims]:
    """Claims that are renewed while the run goes on, and released at its end.

    What has a complete receipt (of this `seed`, where one is given) is not claimed, unless with `force`.
    """
    claims = Claims(store, order, f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}", force, seed)
    is_over = threading.Event()

    def renew() -> None:
        while not is_over.wait(SECONDS / 4):
            try:
                store.renew(claims.owner, SECONDS)
            except GradingError:
                pass  # the database is busy, or gone: the run itself will say so

    keeper = threading.Thread(target=renew, daemon=True)
    keeper.start()
    try:
        yield claims
    finally:
        is_over.set()
        keeper.join()
        store.release(claims.owner)


class Claimed:
    """Submissions, each claimed before it is handed out. Those that another run has are `held` back.

    A few are claimed at a time, so that a run that begins later gets its share.
    """

    def __init__(self, claims: Claims, submissions: Sequence[Submission], at_once: int) -> None:
        self._claims, self._at_once = claims, at_once
        self._waiting = deque(submissions)
        self._ours: deque[Submission] = deque()
        self.held: list[Submission] = []

    def __iter__(self) -> Claimed:
        return self

    def __next__(self) -> Submission:
        if not self.any_left():
            raise StopIteration
        return self._ours.popleft()

    def __length_hint__(self) -> int:
        return len(self._ours) + len(self._waiting)

    def any_left(self) -> bool:
        """Is there one more for this run?"""
        while not self._ours and self._waiting:
            some = [self._waiting.popleft() for _ in range(min(self._at_once, len(self._waiting)))]
            granted = self._claims.of(some)
            self._ours.extend(submission for submission in some if submission.student in granted)
            self.held += [submission for submission in some if submission.student not in granted]
        return bool(self._ours)
