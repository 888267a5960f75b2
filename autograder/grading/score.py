"""From a receipt and the manual adjustments beside it to the points that stand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from autograder.grading.receipt import Receipt, shown, total
from autograder.grading.store import Adjustment


@dataclass(frozen=True)
class ExerciseScore:
    """Points of one exercise: what the checks earned, and what a person gave instead, if one did."""

    exercise: str
    automatic: Fraction
    possible: Fraction
    manual: Adjustment | None = None

    @property
    def points(self) -> Fraction:
        """The points that stand."""
        return self.automatic if self.manual is None else self.manual.points


def scores(receipt: Receipt, adjustments: Iterable[Adjustment] = ()) -> list[ExerciseScore]:
    """The score of every exercise; the last adjustment of an exercise stands, unless it withdraws the one before."""
    last = {adjustment.exercise: adjustment for adjustment in adjustments}
    manual = {exercise: adjustment for exercise, adjustment in last.items() if not adjustment.withdrawn}
    return [
        ExerciseScore(exercise, *total(checks), manual.get(exercise))
        for exercise, checks in receipt.exercises().items()
    ]


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
