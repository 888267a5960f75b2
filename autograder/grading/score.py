"""From a receipt and the manual adjustments beside it to the points that stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from autograder.grading.receipt import GRADER_TROUBLE, WAITS, CheckResult, Receipt, shown, total
from autograder.grading.store import Adjustment

_OPEN = (WAITS, GRADER_TROUBLE)


@dataclass(frozen=True)
class ExerciseScore:
    """Points of one exercise: what the checks earned, and what a person gave instead, if one did."""

    exercise: str
    automatic: Fraction
    possible: Fraction
    manual: Adjustment | None = None
    was_graded: bool = True
    """Has the grader given points? It has not where only a person can, nor where it was at fault."""

    @property
    def is_open(self) -> bool:
        """Are there no points yet?"""
        return self.manual is None and not self.was_graded

    @property
    def points(self) -> Fraction:
        """The points that stand; 0 where there are none yet."""
        return self.automatic if self.manual is None else self.manual.points


def scores(receipt: Receipt, adjustments: Iterable[Adjustment] = ()) -> list[ExerciseScore]:
    """The score of every exercise; the last adjustment of an exercise stands, unless it withdraws the one before."""
    last = {adjustment.exercise: adjustment for adjustment in adjustments}
    manual = {exercise: adjustment for exercise, adjustment in last.items() if not adjustment.withdrawn}
    return [_score(exercise, checks, manual.get(exercise)) for exercise, checks in receipt.exercises().items()]


def _score(exercise: str, checks: Sequence[CheckResult], manual: Adjustment | None) -> ExerciseScore:
    return ExerciseScore(exercise, *total(checks), manual, all(check.outcome not in _OPEN for check in checks))


def manual_notes(now: Receipt, before: Receipt | None, adjustments: Iterable[Adjustment]) -> list[str]:
    """One sentence for each manual score that was kept, with what the automatic one did meanwhile."""
    earlier = {} if before is None else {s.exercise: s.automatic for s in scores(before)}
    notes = []
    for score in scores(now, adjustments):
        if score.manual is None:
            continue
        was = earlier.get(score.exercise, score.automatic)
        change = "" if was == score.automatic else f", automatic changed from {shown(was)} to {shown(score.automatic)}"
        notes.append(f"{score.exercise}: manual score {shown(score.points)} kept{change}")
    return notes
