"""The points that stand for a whole class: what every export starts from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from autograder.course import Assignment
from autograder.grading.errors import GradingError
from autograder.grading.final import Final, final_scores
from autograder.grading.receipt import Receipt, shown
from autograder.grading.store import Store
from autograder.quiz.receipts import is_quiz


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
    """Everybody who has a receipt for an assignment, or for its quiz, by id."""

    assignment: Assignment
    id: str
    exercises: tuple[str, ...]
    possible: Fraction
    rows: tuple[Row, ...]
    ungraded: tuple[str, ...] = ()
    """Students whose only receipts have grader trouble: they have no points, which is not the same as 0 points."""

    @property
    def title(self) -> str:
        """What people read in a column's head."""
        return self.assignment.title + (" (quiz)" if is_quiz(self.id) else "")


def standing(store: Store, assignment: Assignment, id: str) -> Standing:
    """The class as it stands under this id: the assignment's own, or that of its quiz.

    Raises GradingError when nobody has a receipt.
    """
    receipts = store.standing_receipts(id)
    if not receipts:
        command = "quiz mark" if is_quiz(id) else "grade"
        raise GradingError(f"there are no receipts for {id}; `autograder {command} {assignment.id} ...` makes them")
    adjustments = store.all_adjustments(id)
    complete = {student: receipt for student, receipt in receipts.items() if receipt.complete}
    rows = [
        Row(receipt, final_scores(receipt, adjustments.get(student, []), assignment))
        for student, receipt in complete.items()
    ]
    exercises = [e.name for e in assignment.exercises] if not is_quiz(id) else _sections(receipts)
    possible = assignment.points if not is_quiz(id) else max(receipt.possible for receipt in receipts.values())
    ungraded = tuple(sorted(receipts.keys() - complete.keys()))
    return Standing(assignment, id, tuple(exercises), possible, tuple(rows), ungraded)


def _sections(receipts: Mapping[str, Receipt]) -> list[str]:
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
