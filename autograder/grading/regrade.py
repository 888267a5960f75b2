"""A regrade: what of a class has to be graded again, what that changes, and which receipts stand afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from autograder.course import Assignment
from autograder.grading.changes import CheckChange, check_changes, reasons
from autograder.grading.errors import GradingError
from autograder.grading.final import Final, final_scores
from autograder.grading.receipt import CheckResult, Receipt, shown
from autograder.grading.reuse import holds
from autograder.grading.score import manual_notes
from autograder.grading.store import Adjustment
from autograder.intake import Submission


@dataclass
class Plan:
    """What a regrade does with everybody. `due` are to be graded again, each with the seed to use."""

    due: list[tuple[Submission, int]] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    handed_in_anew: list[str] = field(default_factory=list)
    never_graded: list[str] = field(default_factory=list)
    not_there: list[str] = field(default_factory=list)
    """They have receipts, but are not among the submissions."""


def plan(
    submissions: Sequence[Submission], standing: Mapping[str, Receipt], suite: str, seed: int | None = None
) -> Plan:
    """Who is due: whose receipt was judged by another suite, course or kit than that of now, or was left to a human.

    Everybody keeps the seed of the receipt that stands, so that a difference comes from what changed and not from other
    random inputs. With `seed`, everybody gets that one, and is due who had another. Work that changed is left to
    `grade`: what it changes is no regrade's doing.
    """
    found = Plan(not_there=sorted(set(standing) - {submission.student for submission in submissions}))
    for submission in submissions:
        receipt = standing.get(submission.student)
        if receipt is None:
            found.never_graded.append(submission.student)
        elif receipt.submission_hash != submission.digest:
            found.handed_in_anew.append(submission.student)
        elif holds(receipt, submission, suite, seed):
            found.unchanged.append(submission.student)
        else:
            found.due.append((submission, receipt.seed if seed is None else seed))
    return found


@dataclass(frozen=True)
class Regraded:
    """One student's receipt that stands, and the new one, with what each comes to."""

    before: Receipt
    after: Receipt
    standing: Final
    new: Final
    checks: tuple[CheckChange, ...]
    why: tuple[str, ...]
    by_hand: tuple[str, ...]
    """Where points given by hand hide what changed."""
    is_kept: bool = False
    """Does the receipt before stand, because the new one is lower?"""

    @property
    def student(self) -> str:
        """Whose it is."""
        return self.after.student

    @property
    def failed(self) -> bool:
        """Was the grader at fault? Then the receipt before stands."""
        return not self.after.complete

    @property
    def gain(self) -> Fraction:
        """Points more than before, of those that stand."""
        return self.new.points - self.standing.points

    @property
    def is_different(self) -> bool:
        """Does anything come out otherwise for this student, even if points by hand hide it?"""
        other = any(change.ended_otherwise for change in self.checks)
        return bool(self.failed or self.gain or other or self.before.earned != self.after.earned)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, points as text such as "20/3"."""
        return {
            "student": self.student,
            "name": self.after.name,
            "before": str(self.standing.points),
            "after": str(self.new.points),
            "failed": self.failed,
            "kept": self.is_kept,
            "why": list(self.why),
            "checks": [
                {
                    "id": change.check.id,
                    "exercise": change.check.exercise,
                    "title": change.check.title,
                    "public": change.check.public,
                    "before": _told(change.before),
                    "after": _told(change.after),
                }
                for change in self.checks
            ],
            "by_hand": list(self.by_hand),
        }


def compared(
    before: Receipt, after: Receipt, adjustments: Sequence[Adjustment], assignment: Assignment, never_lower: bool
) -> Regraded:
    """What a new receipt changes for a student. With `never_lower`, the one before is kept where the new one is lower:
    in the points that stand, or in those of the checks, which an adjustment may hide until somebody withdraws it.

    Raises:
        GradingError: `never_lower` with receipts of different points that can be earned.
    """
    # What is known now of when it was handed in is no change by the regrade.
    before = replace(before, handed_in=after.handed_in, handed_in_remark=after.handed_in_remark)
    standing, new = (final_scores(receipt, adjustments, assignment) for receipt in (before, after))
    if never_lower and before.possible != after.possible and before.complete and after.complete:
        raise GradingError(
            f"{after.student} could earn {shown(before.possible)} points before and {shown(after.possible)} now, which "
            "cannot be compared; regrade without --never-lower"
        )
    was = {score.exercise: score.automatic for score in standing.exercises}
    changed = {score.exercise for score in new.exercises if score.automatic != was.get(score.exercise)}
    hidden = [adjustment for adjustment in adjustments if adjustment.exercise in changed]
    is_lower = before.complete and (new.points < standing.points or after.earned < before.earned)
    return Regraded(
        before,
        after,
        standing,
        new,
        tuple(check_changes(before, after)),
        tuple(reasons(before, after)),
        tuple(manual_notes(after, before, hidden)),
        is_kept=never_lower and is_lower and after.complete,
    )


def to_keep(regraded: Iterable[Regraded]) -> list[Receipt]:
    """The receipts to add, in order. Where the one before is kept, it is added once more, behind the new one that it
    was kept over: both are in the history, and no later run grades the student again for the same reason.
    """
    receipts = []
    for one in regraded:
        if one.failed:
            continue
        receipts.append(one.after)
        if one.is_kept:
            receipts.append(replace(one.before, kept_over=one.after.judged_by))
    return receipts


def by_check(regraded: Iterable[Regraded]) -> list[tuple[CheckChange, int, int, Fraction]]:
    """Checks that changed points, those that touch most students first: one such change, how many gain by it, how many
    lose, and the points of all of them together.
    """
    found: dict[tuple[str, str], list[CheckChange]] = {}
    for one in regraded:
        for change in () if one.failed else one.checks:
            if change.gain:
                found.setdefault((change.check.exercise, change.check.title), []).append(change)
    rows = [
        (
            changes[0],
            sum(change.gain > 0 for change in changes),
            sum(change.gain < 0 for change in changes),
            sum((change.gain for change in changes), Fraction(0)),
        )
        for changes in found.values()
    ]
    return sorted(rows, key=lambda row: -row[1] - row[2])


def _told(check: CheckResult | None) -> dict[str, str] | None:
    if check is None:
        return None
    return {"outcome": check.outcome, "earned": str(check.earned), "points": str(check.points)}
