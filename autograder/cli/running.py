"""The part of a command that grades: with which graders, how far it is, and who else is at it on the same store."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import TimeRemainingColumn as TimeLeftColumn

from autograder.cluster import jobs
from autograder.cluster.chunks import Order
from autograder.cluster.claims import Claimed, Claims, claiming
from autograder.cluster.keys import Keys
from autograder.grading.batch import Batch
from autograder.grading.receipt import Receipt
from autograder.grading.reuse import reusable
from autograder.grading.store import Store
from autograder.intake import Submission
from autograder.sandbox.host.zygotes import Zygotes

CLAIMED_AT_ONCE, CLAIMED_FOR_A_CLUSTER = 8, 64
LOOK_AGAIN = 1.0
"""Seconds until a run looks again for receipts that another run is about to have."""


@dataclass(frozen=True)
class Where:
    """Which graders: so many on this machine (None: as many as pay), or those behind a dask scheduler."""

    jobs: int | None = None
    scheduler: str | None = None
    tls: Keys | None = None


HERE = Where()


def grade_waiting(
    batch: Batch,
    waiting: Sequence[Submission],
    where: Where,
    store: Store,
    force: bool,
    seed: int | None,
    notices: Console,
    kept: Callable[[Receipt], None],
) -> bool:
    """Have receipts of all that wait, each in the store as soon as it is there, and then told to `kept`; was it stopped
    by the user?

    What another run on this store has begun is not graded twice: its receipts are waited for. `seed` is the one that
    receipts must have, where one was asked for.

    Raises:
        GradingError: the course, the sandbox, the store or the cluster are at fault.
    """
    if not waiting:
        return False
    force_claims = force or batch.required_isolation is not None  # a receipt that is not good enough is in the way
    with _meter(len(waiting), notices) as meter, claiming(store, Order.of(batch), force_claims, seed) as claims:

        def done(receipts: Iterable[Receipt]) -> None:
            for receipt in receipts:
                kept(receipt)
                meter.finished(receipt)

        def finished(new: Sequence[Receipt]) -> None:
            store.add_all(new)
            done(new)

        def found(held: Sequence[Submission]) -> dict[str, Receipt]:
            if force:
                return {}
            return reusable(store, batch.files, batch.assignment, held, seed, batch.required_isolation)

        try:
            for submissions in _rounds(claims, waiting, where, found, done, meter):
                _graders(where, notices)(replace(batch, submissions=submissions), finished, meter.started)
        except KeyboardInterrupt:
            return True
    return False


def _rounds(
    claims: Claims,
    waiting: Sequence[Submission],
    where: Where,
    found: Callable[[Sequence[Submission]], dict[str, Receipt]],
    done: Callable[[Iterable[Receipt]], None],
    meter: _Meter,
) -> Iterator[Claimed]:
    """What this run may grade; then, for as long as another run has work of ours, its receipts, or what it gave up."""
    left = list(waiting)
    while left:
        claimed = Claimed(claims, left, CLAIMED_FOR_A_CLUSTER if where.scheduler else CLAIMED_AT_ONCE)
        if claimed.any_left():
            yield claimed
        theirs = found(claimed.held) if claimed.held else {}
        done(theirs.values())
        left = [submission for submission in claimed.held if submission.student not in theirs]
        if left:
            meter.say(f"{len(left)} are being graded by another run")
            time.sleep(LOOK_AGAIN)


Finished = Callable[[Sequence[Receipt]], None]
Started = Callable[[Submission], None]


def _graders(where: Where, notices: Console) -> Callable[[Batch, Finished, Started], None]:
    """What grades a batch: this process where that is quickest, else several, here or elsewhere."""

    def on_dask(batch: Batch, finished: Finished, started: Started) -> None:
        from autograder.cluster.on_dask import grade

        def told(text: str) -> None:
            notices.print(text, soft_wrap=True, markup=False, highlight=False)

        grade(batch, finished, started, where.scheduler or "", told, where.tls)

    def here(batch: Batch, finished: Finished, started: Started) -> None:
        count = jobs.jobs_for(operator.length_hint(batch.submissions), where.jobs)
        if count > 1:
            jobs.grade(batch, lambda receipt: finished([receipt]), started, count)
            return
        with Zygotes(required=batch.required_isolation) as zygotes:
            zygotes.begin()
            from autograder.grading.run import grade

            grade(batch, lambda receipt: finished([receipt]), started, zygotes)

    return on_dask if where.scheduler else here


@dataclass
class _Meter:
    """How far it is, for the terminal: done, failed, time left, who is being graded."""

    progress: Progress
    task: TaskID
    under_way: dict[str, None] = field(default_factory=dict)
    failed: int = 0

    def started(self, submission: Submission) -> None:
        self.under_way[submission.student] = None
        self._tell()

    def finished(self, receipt: Receipt) -> None:
        self.under_way.pop(receipt.student, None)
        self.failed += not receipt.complete
        self.progress.advance(self.task)
        self._tell()

    def say(self, text: str) -> None:
        self.progress.update(self.task, now=text)

    def _tell(self) -> None:
        more = ", ..." if len(self.under_way) > 3 else ""
        failed = f", {self.failed} failed" if self.failed else ""
        self.progress.update(self.task, now=", ".join(list(self.under_way)[:3]) + more, failed=failed)


@contextmanager
def _meter(total: int, notices: Console) -> Iterator[_Meter]:
    columns = (
        TextColumn("grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeLeftColumn(),
        TextColumn("{task.fields[now]}", markup=False),
    )
    with Progress(*columns, console=notices, transient=True, disable=not notices.is_terminal) as progress:
        yield _Meter(progress, progress.add_task("grading", total=total, now="", failed=""))
