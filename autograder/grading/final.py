"""The points that stand in the end: what the checks earned, what a person gave instead, and what lateness takes off."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from autograder.course import Assignment
from autograder.grading.receipt import Receipt
from autograder.grading.score import ExerciseScore, scores
from autograder.grading.store import Adjustment


@dataclass(frozen=True)
class Late:
    """How late something came: `days` (None: nobody knows), `percent` of the points to be taken off, and a sentence
    about that which the student may read ("" where there is nothing to say).
    """

    days: int | None
    percent: Fraction = Fraction(0)
    sentence: str = ""


@dataclass(frozen=True)
class Final:
    """Points of a student for an assignment. They are exact; round them only where they are shown."""

    exercises: tuple[ExerciseScore, ...]
    late: Late

    @property
    def raw(self) -> Fraction:
        """Points before lateness."""
        return sum((s.points for s in self.exercises), Fraction(0))

    @property
    def possible(self) -> Fraction:
        """Points that could be earned."""
        return sum((s.possible for s in self.exercises), Fraction(0))

    @property
    def points(self) -> Fraction:
        """The points that stand."""
        return self.raw - self.raw * self.late.percent / 100


def final_scores(receipt: Receipt, adjustments: Iterable[Adjustment], assignment: Assignment) -> Final:
    """What stands for a receipt, with its student's adjustments for it. `assignment`: whose policy holds."""
    return Final(tuple(scores(receipt, adjustments)), Late(0))
