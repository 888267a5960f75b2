"""How far from its tolerance each check decides: right answers should stay well below it, mistakes go well above it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from autograder.proof.experiment import Experiment, Graded
from autograder.proof.samples import EQUIVALENT, MISTAKE, SOLUTION

FACTOR = 10
"""Honest spread is at most a tenth of the tolerance, and a mistake is off by ten tolerances in some check at least."""


@dataclass(frozen=True)
class Margin:
    """Of one check: the largest share of the tolerance that a right answer took, and the smallest that a mistake took
    which failed. None where nothing was compared."""

    honest: float | None
    mistaken: float | None


def margins(experiment: Experiment) -> dict[str, Margin]:
    """The margin of every check, by its id."""
    honest = _shares(experiment.of(SOLUTION, EQUIVALENT), failed=False)
    for check, shares in _shares(experiment.two_threads, failed=False).items():
        honest[check] += shares
    mistaken = _shares(experiment.of(MISTAKE), failed=True)
    return {
        check.id: Margin(max(honest[check.id], default=None), min(mistaken[check.id], default=None))
        for check in experiment.alone.checks
    }


def nearest_miss(graded: Graded) -> float | None:
    """How clearly a mistake is caught: its largest share in a check that failed by comparing, over its worst seed.

    None where a check failed in another way, which is as clear as can be, or nothing failed.
    """
    worst: float | None = None
    for seed in graded.receipts:
        failed = [c for c in graded.checks(seed) if c.outcome != "passed"]
        if not failed or any(c.share is None or c.share <= 1 for c in failed):
            continue
        clearest = max(c.share for c in failed if c.share is not None)
        worst = clearest if worst is None else min(worst, clearest)
    return worst


def margin_problems(experiment: Experiment, narrow: dict[str, str]) -> list[str]:
    """Checks in which right answers come near the tolerance and that do not say why, and mistakes caught narrowly."""
    problems = []
    for check, margin in margins(experiment).items():
        if margin.honest is not None and margin.honest * FACTOR > 1 and check not in narrow:
            problems.append(
                f"{check}: a right answer takes {margin.honest:.2g} of the tolerance; widen it, or mark the check "
                "@pytest.mark.narrow(why)"
            )
    for graded in experiment.of(MISTAKE):
        miss = nearest_miss(graded)
        if miss is not None and miss < FACTOR and not any(check in narrow for check in graded.kill.any):
            problems.append(f"{graded.sample.id}: caught at {miss:.2g} tolerances only; give a check other inputs")
    return problems


def _shares(graded: Iterable[Graded], failed: bool) -> defaultdict[str, list[float]]:
    found: defaultdict[str, list[float]] = defaultdict(list)
    for one in graded:
        for receipt in one.receipts.values():
            for check in receipt.checks:
                if check.share is not None and (check.share > 1 if failed else check.outcome == "passed"):
                    found[check.id].append(check.share)
    return found
