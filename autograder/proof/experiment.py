"""Grade the samples of an assignment, over several seeds, and note what came of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from autograder.course import Assignment, CourseFiles
from autograder.grading.batch import Batch
from autograder.grading.kills import Kill
from autograder.grading.receipt import CheckResult, Receipt
from autograder.grading.run import grade
from autograder.proof.samples import ALSO, EQUIVALENT, MISTAKE, PAIR, SOLUTION, STUB, Sample
from autograder.sandbox.host.zygotes import Zygotes
from autograder.sandbox.levels import MECHANISMS

Begin: TypeAlias = Callable[[str, int], Callable[[], None]]
LANES = 2
"""So many samples are under way in each of the processes, which share the cores."""

ONE_IN = 10
_TWO_THREADS = b"import torch\ntorch.set_num_threads(2)\n"


@dataclass
class Graded:
    """One sample, with its receipt at every seed that it was graded with."""

    sample: Sample
    receipts: dict[int, Receipt] = field(default_factory=dict)

    def checks(self, seed: int) -> list[CheckResult]:
        """The checks of its own exercise; of all of them where it belongs to none."""
        return [c for c in self.receipts[seed].checks if self.sample.exercise in ("", c.exercise)]

    def lost(self, seed: int) -> frozenset[str]:
        """Ids of the checks of its exercise that it did not pass."""
        return frozenset(c.id for c in self.checks(seed) if c.outcome != "passed")

    @property
    def kill(self) -> Kill:
        """The checks that it never passed, and those that it sometimes did not."""
        lost = [self.lost(seed) for seed in self.receipts]
        always = frozenset.intersection(*lost)
        return Kill(always, frozenset().union(*lost) - always)

    @property
    def is_doubtful(self) -> bool:
        """Did it lose points in fewer than two checks, or not in the same ones with every seed?"""
        return len(self.kill.always) < 2 or bool(self.kill.sometimes)

    @property
    def is_caught(self) -> bool:
        """Did it lose points with every seed?"""
        return all(self.lost(seed) for seed in self.receipts)

    @property
    def is_named(self) -> bool:
        """Is it called by its own names, and no other?"""
        return self.names == self.sample.mistakes

    @property
    def is_misnamed(self) -> bool:
        """Is it called a mistake that is not in it?"""
        return bool(self.names - self.sample.mistakes)

    @property
    def names(self) -> frozenset[str]:
        """The mistakes that it was diagnosed with, whatever the seed."""
        found = (r.diagnoses.get(self.sample.exercise, ()) for r in self.receipts.values())
        return frozenset(one.mistake for diagnoses in found for one in diagnoses)


@dataclass(frozen=True)
class Experiment:
    """How every sample fared: over `seeds` and one more, with which they were diagnosed (`fresh`), with two threads,
    and the solutions with each check by itself in workers that held nothing before (`alone`).

    A mistake that two checks or more see with two seeds, and always the same ones, is not graded with the others. That
    it costs nothing `elsewhere` follows from what is loaded there, and is tried with one in ten.
    """

    files: CourseFiles
    assignment: Assignment
    seeds: Sequence[int]
    graded: Sequence[Graded]
    fresh: Sequence[Graded]
    elsewhere: Sequence[Graded]
    two_threads: Sequence[Graded]
    alone: Receipt

    def of(self, *kinds: str) -> list[Graded]:
        """The samples of these kinds, over all seeds."""
        return [one for one in self.graded if one.sample.kind in kinds]

    def diagnosed(self, *kinds: str) -> list[Graded]:
        """The samples of these kinds, with diagnoses."""
        return [one for one in self.fresh if one.sample.kind in kinds]

    @property
    def kills(self) -> dict[str, dict[str, Kill]]:
        """Which checks each mistake fails, by exercise and mistake."""
        return kills_of(self.of(MISTAKE))


def kills_of(mistakes: Iterable[Graded]) -> dict[str, dict[str, Kill]]:
    """Which checks each mistake fails, by exercise and mistake."""
    found: dict[str, dict[str, Kill]] = {}
    for one in mistakes:
        found.setdefault(one.sample.exercise, {})[one.sample.name] = one.kill
    return found


class _Runs:
    """Grades samples again and again, on one zygote."""

    def __init__(self, batch: Batch, zygotes: Zygotes, begin: Begin) -> None:
        self._batch, self._zygotes, self._begin = batch, zygotes, begin
        names = [exercise.name for exercise in batch.assignment.exercises]
        needs = {name: batch.assignment.all_needs(name) for name in names}
        self._needed_by = {name: {other for other in names if name in needs[other]} for name in names}

    def grade(self, step: str, samples: Iterable[Sample], elsewhere: bool = False, **how: Any) -> list[Graded]:
        """The samples, each with a receipt of the exercise in question; `elsewhere`, of those that build on it."""
        graded = {sample.id: Graded(sample) for sample in samples}
        submissions = [one.sample.submission() for one in graded.values()]
        only = {name: self._chosen(one.sample, elsewhere) for name, one in graded.items()}
        batch = replace(self._batch, submissions=submissions, only=only, **how)
        advance = self._begin(step, len(submissions))

        def finished(receipt: Receipt) -> None:
            graded[receipt.student].receipts[receipt.seed] = receipt
            advance()

        grade(batch, finished, lambda _: None, self._zygotes, LANES)
        return list(graded.values())

    def _chosen(self, sample: Sample, elsewhere: bool) -> set[str]:
        if not sample.exercise:
            return set(self._needed_by)
        return self._needed_by[sample.exercise] if elsewhere else {sample.exercise}


def run(batch: Batch, samples: Sequence[Sample], seeds: Sequence[int], begin: Begin) -> Experiment:
    """Grade all samples. `begin(what, how many)` starts a step of the progress and returns what to call for each.

    Raises:
        GradingError: the suites or the sandbox are at fault.
    """
    by_kind = {
        kind: [s for s in samples if s.kind == kind] for kind in (STUB, SOLUTION, MISTAKE, ALSO, EQUIVALENT, PAIR)
    }
    solved = [*by_kind[SOLUTION], *by_kind[EQUIVALENT]]
    first, *others = seeds
    with Zygotes() as zygotes:
        runs = _Runs(replace(batch, diagnoses=False), zygotes, begin)
        everything = [*by_kind[STUB], *solved, *by_kind[MISTAKE]]
        graded = {one.sample.id: one for one in runs.grade(f"seed {first}", everything, seed=first)}
        kills = kills_of(one for one in graded.values() if one.sample.kind == MISTAKE)
        named = [*by_kind[MISTAKE], *by_kind[ALSO], *by_kind[EQUIVALENT], *by_kind[PAIR]]
        fresh = runs.grade("names", named, seed=max(seeds) + 1, diagnoses=True, kills=kills)
        for one in fresh:
            if one.sample.id in graded:
                graded[one.sample.id].receipts.update(one.receipts)
        for seed in others:
            doubtful = [one.sample for one in graded.values() if one.sample.kind == MISTAKE and one.is_doubtful]
            for one in runs.grade(f"seed {seed}", [*solved, *doubtful], seed=seed):
                graded[one.sample.id].receipts.update(one.receipts)
        elsewhere = runs.grade("elsewhere", by_kind[MISTAKE][::ONE_IN], seed=first, elsewhere=True)
        alone = runs.grade("checks alone", by_kind[SOLUTION], shared_workers=False)
    with Zygotes(without=MECHANISMS) as zygotes:  # threads are among what confinement takes away
        two = _Runs(replace(batch, diagnoses=False), zygotes, begin).grade(
            "two threads", map(_with_two_threads, solved)
        )
    receipt = alone[0].receipts[batch.seed]
    return Experiment(batch.files, batch.assignment, seeds, list(graded.values()), fresh, elsewhere, two, receipt)


def _with_two_threads(sample: Sample) -> Sample:
    chosen = sample.sources if not sample.exercise else {sample.exercise: sample.sources[sample.exercise]}
    changed = {name: content + b"\n\n" + _TWO_THREADS for name, content in chosen.items()}
    return replace(sample, sources={**sample.sources, **changed})
