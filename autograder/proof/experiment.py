"""Grade the samples of an assignment, over several seeds, and note what came of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from autograder.course import Assignment, CourseFiles, Exercise
from autograder.grading.kills import Kill
from autograder.grading.receipt import CheckResult, Receipt
from autograder.grading.run import grade
from autograder.grading.schedule import Zygotes
from autograder.grading.submission import Batch
from autograder.proof.facts import facts
from autograder.proof.samples import ALSO, EQUIVALENT, MISTAKE, PAIR, SOLUTION, STUB, Sample
from autograder.sandbox.levels import MECHANISMS

Begin: TypeAlias = Callable[[str, int], Callable[[], None]]
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
    """How every sample fared: over all `seeds`, once more with one that is `fresh` and with diagnoses, with two
    threads, and the solutions with each check by itself in workers that held nothing before (`alone`)."""

    files: CourseFiles
    assignment: Assignment
    seeds: Sequence[int]
    graded: Sequence[Graded]
    fresh: Sequence[Graded]
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
        exercises = batch.assignment.exercises
        self._with_own = {e.name for e in exercises if facts(batch.files, batch.assignment, e.name).own}
        self._needed_by = {
            e.name: {d.name for d in exercises if e.name in _below(d.name, exercises)} for e in exercises
        }

    def grade(self, step: str, samples: Iterable[Sample], everywhere: bool = False, **how: Any) -> list[Graded]:
        """The samples, each with one more receipt. Handed in is the exercise in question; what else its checks run on;
        and, where a mistake is to be looked for `everywhere`, all that builds on it."""
        graded = {sample.id: Graded(sample) for sample in samples}
        submissions = [one.sample.submission(self._chosen(one.sample, everywhere)) for one in graded.values()]
        batch, advance = replace(self._batch, submissions=submissions, **how), self._begin(step, len(submissions))

        def finished(receipt: Receipt) -> None:
            graded[receipt.student].receipts[receipt.seed] = receipt
            advance()

        grade(batch, finished, lambda _: None, self._zygotes)
        return list(graded.values())

    def _chosen(self, sample: Sample, everywhere: bool) -> set[str] | None:
        if not sample.exercise or sample.exercise in self._with_own:
            return None
        return {sample.exercise, *(self._needed_by[sample.exercise] if everywhere else ())}


def run(batch: Batch, samples: Sequence[Sample], seeds: Sequence[int], begin: Begin) -> Experiment:
    """Grade all samples. `begin(what, how many)` starts a step of the progress and returns what to call for each.

    Raises:
        GradingError: the suites or the sandbox are at fault.
    """
    by_kind = {
        kind: [s for s in samples if s.kind == kind] for kind in (STUB, SOLUTION, MISTAKE, ALSO, EQUIVALENT, PAIR)
    }
    solved = [*by_kind[SOLUTION], *by_kind[EQUIVALENT]]
    graded: dict[str, Graded] = {}
    with Zygotes() as zygotes:
        runs = _Runs(replace(batch, diagnoses=False), zygotes, begin)
        for number, seed in enumerate(seeds):
            first = [] if number else by_kind[STUB]
            found = runs.grade(f"seed {seed}", [*first, *solved, *by_kind[MISTAKE]], everywhere=not number, seed=seed)
            for one in found:
                graded.setdefault(one.sample.id, one).receipts.update(one.receipts)
        kills = kills_of(one for one in graded.values() if one.sample.kind == MISTAKE)
        named = [*by_kind[MISTAKE], *by_kind[ALSO], *by_kind[EQUIVALENT], *by_kind[PAIR]]
        fresh = runs.grade("names", named, seed=max(seeds) + 1, diagnoses=True, kills=kills)
        alone = runs.grade("checks alone", by_kind[SOLUTION], shared_workers=False)
    with Zygotes(without=MECHANISMS) as zygotes:  # threads are among what confinement takes away
        two = _Runs(replace(batch, diagnoses=False), zygotes, begin).grade(
            "two threads", map(_with_two_threads, solved)
        )
    receipt = alone[0].receipts[batch.seed]
    return Experiment(batch.files, batch.assignment, seeds, list(graded.values()), fresh, two, receipt)


def _below(name: str, exercises: Iterable[Exercise]) -> set[str]:
    """All exercises that one builds on, directly or not."""
    needs = {e.name: e.needs for e in exercises}
    found, waiting = set[str](), list(needs[name])
    while waiting:
        need = waiting.pop()
        if need not in found:
            found.add(need)
            waiting += needs[need]
    return found


def _with_two_threads(sample: Sample) -> Sample:
    chosen = sample.sources if not sample.exercise else {sample.exercise: sample.sources[sample.exercise]}
    changed = {name: content + b"\n\n" + _TWO_THREADS for name, content in chosen.items()}
    return replace(sample, sources={**sample.sources, **changed})
