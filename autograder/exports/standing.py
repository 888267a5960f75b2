"""The points that stand for a whole class: what every export starts from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from autograder.course import Assignment
from autograder.grading.errors import GradingError
from autograder.grading.final import Final, final_scores
from autograder.grading.parts import MODULES, command_for, part_of
from autograder.grading.receipt import Receipt, shown
from autograder.grading.store import Store


@dataclass(frozen=True)
class Row:
    """One student."""

    receipt: Receipt
    final: Final

    @property
    def student(self) -> str:
        """The id, exactly as in the receipts."""
        return self.receipt.student

    @property
    def name(self) -> str:
        """As the roster wrote it; the id where it had none."""
        return self.receipt.name or self.receipt.student


@dataclass(frozen=True)
class Standing:
    """Everybody who has a receipt for an assignment, or for another part of it, by id."""

    assignment: Assignment
    id: str
    exercises: tuple[str, ...]
    possible: Fraction
    rows: tuple[Row, ...]
    ungraded: Mapping[str, str] = field(default_factory=dict)
    """Students without points, which is not the same as 0 points, and why they have none and what to do."""

    @property
    def title(self) -> str:
        """What people read in a column's head."""
        suffix = part_of(self.id).suffix
        return self.assignment.title + (f" ({suffix})" if suffix else "")


def standing(store: Store, assignment: Assignment, id: str) -> Standing:
    """The class as it stands under this id: the assignment's own, or that of another part of it.

    Raises GradingError when nobody has a receipt, or there is no such part.
    """
    is_whole, receipts = part_of(id) is MODULES, store.standing_receipts(id)
    if not receipts:
        raise GradingError(f"there are no receipts for {id}; `{command_for(id)}` makes them")
    adjustments = store.all_adjustments(id)
    everybody = [
        Row(receipt, final_scores(receipt, adjustments.get(student, []), assignment))
        for student, receipt in receipts.items()
    ]
    ungraded = {row.student: why for row in everybody if (why := _why_ungraded(row))}
    exercises = [e.name for e in assignment.exercises] if is_whole else _pieces(receipts)
    possible = assignment.points if is_whole else max(receipt.possible for receipt in receipts.values())
    rows = tuple(row for row in everybody if row.student not in ungraded)
    return Standing(assignment, id, tuple(exercises), possible, rows, ungraded)


def _why_ungraded(row: Row) -> str:
    """Why a student has no points that could go elsewhere, and what to do; "" where there are some."""
    if not row.receipt.complete:
        return "the grader had trouble; grade again"
    if waiting := row.final.waiting:
        verb = "waits" if len(waiting) == 1 else "wait"
        return f"{', '.join(waiting)} {verb} for a person; read it in formgrader and `autograder gradebook pull`"
    return ""


def _pieces(receipts: Mapping[str, Receipt]) -> list[str]:
    return list(dict.fromkeys(check.exercise for receipt in receipts.values() for check in receipt.checks))


@dataclass(frozen=True)
class Exported:
    """Files by name, and what the person who gets them should know: each remark is one sentence."""

    files: Mapping[str, bytes]
    remarks: tuple[str, ...] = ()
    left_out: tuple[str, ...] = field(default=())
    """Sentences about students whose points are not in the files."""


def number(points: Fraction) -> str:
    """Points as other programs read them: at most two decimals, a point, no exponent, rounded here and nowhere else."""
    return shown(points)
