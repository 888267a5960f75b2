"""Grade with several graders on this machine: hand out submissions, take receipts as they come."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.cluster.chunks import Chunk, Order
from autograder.cluster.dealing import Dealer, Futility, patience
from autograder.cluster.process import GraderProcess, Program, program, was_killed
from autograder.grading.batch import Batch
from autograder.grading.errors import GradingError
from autograder.grading.receipt import Receipt
from autograder.intake import Submission

LANES = 4
"""So many submissions are under way in each of several graders."""

CORES = 4
"""So many are kept busy by one grader: most of the work is that of workers."""

AHEAD = 2
"""So many more does each have waiting, so that it need not wait itself."""

PAYS_FROM = 40
"""Another grader costs more to start than it saves where there are fewer submissions for each."""


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def jobs_for(submissions: int, wanted: int | None) -> int:
    """How many graders: as many as are wanted, or as many as the cores need and as pay."""
    return max(1, min(submissions, wanted or min(cores() // CORES, submissions // PAYS_FROM)))


def grade(
    batch: Batch,
    finished: Callable[[Receipt], None],
    started: Callable[[Submission], None],
    jobs: int,
    start: Callable[[Path, int], Program] = program,
) -> None:
    """Grade every submission of the batch with `jobs` graders; `finished` gets each receipt as soon as it is there.

    A submission under which graders end again and again is left to a human: it gets a receipt that says so.

    Raises:
        GradingError: the suites or the sandbox are at fault, or no grader starts.
        Exception: what `finished` or `started` raised.
        KeyboardInterrupt: the user stopped; receipts so far were handed over.
    """
    crew = _Crew(batch, jobs, lambda: start(batch.files.root, LANES))
    try:
        crew.run(finished, started)
        crew.dismiss()
    finally:
        crew.kill()


@dataclass
class _Job:
    """One place for a grader: what the one that sits there now has to grade, and when it was last heard of."""

    grader: GraderProcess | None = None
    has: dict[str, Submission] = field(default_factory=dict)
    under_way: set[str] = field(default_factory=set)
    is_alone: bool = False
    heard: float = 0.0
    is_silent: bool = False
    """Was it ended because it had not been heard of for too long?"""

    @property
    def room(self) -> int:
        """So many submissions can it be given now."""
        return 0 if self.is_alone and self.has else LANES + AHEAD - len(self.has)

    def give(self, grader: GraderProcess, submissions: Sequence[Submission], is_alone: bool) -> None:
        if not self.has:
            self.heard = time.monotonic()
        self.grader, self.is_alone, self.is_silent = grader, is_alone, False
        self.has |= {submission.student: submission for submission in submissions}


class _Crew:
    """The graders of one run."""

    def __init__(self, batch: Batch, jobs: int, start: Callable[[], Program]) -> None:
        self._order, self._dealer, self._start = Order.of(batch), Dealer(batch.submissions), start
        self._jobs = [_Job() for _ in range(jobs)]
        self._selector = selectors.DefaultSelector()
        self._futility = Futility()
        self._patience = patience(batch.assignment.limits, LANES)

    def run(self, finished: Callable[[Receipt], None], started: Callable[[Submission], None]) -> None:
        """Until there is nothing left to deal."""
        while True:
            for job in self._jobs:
                self._deal_to(job)
            if not any(job.has for job in self._jobs):
                return
            for key, _ in self._selector.select(1.0):
                self._hear(key.data, finished, started)
            for job in self._jobs:
                if job.grader and job.has and time.monotonic() - job.heard > self._patience:
                    job.is_silent = True
                    job.grader.kill()

    def dismiss(self) -> None:
        """Let all graders end by themselves."""
        for job in self._jobs:
            if job.grader:
                job.grader.send(None)
        for job in self._jobs:
            if job.grader:
                self._let_go(job)

    def kill(self) -> None:
        """End those that are still there."""
        for job in self._jobs:
            if job.grader:
                job.grader.kill()
                self._let_go(job)
        self._selector.close()

    def _deal_to(self, job: _Job) -> None:
        dealt = self._dealer.deal(job.room, is_idle=not job.has)
        if not dealt:
            return
        grader = job.grader
        if grader is None:
            grader = GraderProcess(self._start())
            self._selector.register(grader, selectors.EVENT_READ, job)
        job.give(grader, dealt, is_alone=self._dealer.is_suspect(dealt[0]))
        given_up = {s.student: why for s in dealt if (why := self._dealer.given_up.get(s.student))}
        grader.send(Chunk(self._order, dealt, given_up).to_dict())

    def _hear(self, job: _Job, finished: Callable[[Receipt], None], started: Callable[[Submission], None]) -> None:
        assert job.grader is not None
        for answer in job.grader.answers():
            if "fault" in answer:
                raise GradingError(answer["fault"])
            if "started" in answer:
                job.under_way.add(answer["started"])
                started(job.has[answer["started"]])
            if "receipt" in answer:
                receipt = Receipt.from_dict(answer["receipt"])
                del job.has[receipt.student]
                job.under_way.discard(receipt.student)
                finished(receipt)
            if "up" not in answer:
                self._futility.is_disproved()
        job.heard = time.monotonic()
        if job.grader.has_ended:
            self._lose(job)

    def _lose(self, job: _Job) -> None:
        """Its grader has ended: others get what it had."""
        code = self._let_go(job)
        by_a_kill = was_killed(code) and not job.is_silent
        under_way = [submission for student, submission in job.has.items() if student in job.under_way]
        untouched = [submission for student, submission in job.has.items() if student not in job.under_way]
        job.has.clear()
        job.under_way.clear()
        self._dealer.lost(under_way, untouched, by_a_kill)
        if untouched and not under_way:
            self._futility.ended(by_a_kill)
        if self._futility.is_certain:
            raise GradingError(f"graders end as soon as they are started (exit code {code}); what they said is above")

    def _let_go(self, job: _Job) -> int:
        assert job.grader is not None
        self._selector.unregister(job.grader)
        code = job.grader.close()
        job.grader = None
        return code
