"""The points that stand in the end: what the checks earned, what a person gave instead, and what lateness takes off.

The one place where these meet; every table, page and export shows what it says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from autograder.course import Assignment
from autograder.grading.late import Late, lateness
from autograder.grading.receipt import NOT_SUBMITTED, Receipt
from autograder.grading.score import ExerciseScore, scores
from autograder.grading.store import Adjustment


@dataclass(frozen=True)
class Final:
    """Points of a student for an assignment. They are exact; round them only where they are shown."""

    exercises: tuple[ExerciseScore, ...]
    """Before lateness."""
    late: Late
    lowers_manual: bool = False
    """Does lateness also lower what a person gave?"""

    @property
    def raw(self) -> Fraction:
        """Points before lateness."""
        return sum((s.points for s in self.exercises), Fraction(0))

    @property
    def possible(self) -> Fraction:
        """Points that could be earned."""
        return sum((s.possible for s in self.exercises), Fraction(0))

    @property
    def waiting(self) -> list[str]:
        """What has no points yet: a person has to read it, or the grader was at fault."""
        return [s.exercise for s in self.exercises if s.is_open]

    @property
    def is_adjusted(self) -> bool:
        """Did a person give some of the points?"""
        return any(s.manual is not None for s in self.exercises)

    @property
    def points(self) -> Fraction:
        """The points that stand, never below 0: a percentage of those that are late is gone."""
        late = sum((s.points for s in self.exercises if s.manual is None or self.lowers_manual), Fraction(0))
        return self.raw - late * self.late.percent / 100

    def to_dict(self) -> dict[str, Any]:
        """Plain data, points as text such as "20/3"."""
        return {"final": str(self.points), "late": self.late.to_dict()}


def final_scores(receipt: Receipt, adjustments: Iterable[Adjustment], assignment: Assignment) -> Final:
    """What stands for a receipt, with its student's adjustments for it. `assignment`: whose policy holds; of a quiz or
    a notebook, that of the assignment it belongs to.
    """
    found = tuple(scores(receipt, adjustments))
    return Final(found, _late(receipt, assignment), assignment.late_policy.manual_too)


def _late(receipt: Receipt, assignment: Assignment) -> Late:
    """What was graded in time was handed in in time, also where nobody knows when."""
    if receipt.status == NOT_SUBMITTED:
        return Late(0)
    if receipt.handed_in is not None:
        return lateness(assignment, datetime.fromisoformat(receipt.handed_in), receipt.student)
    graded = lateness(assignment, datetime.fromisoformat(receipt.graded_at), receipt.student)
    return Late(0) if graded.days == 0 else lateness(assignment, None, receipt.student)
