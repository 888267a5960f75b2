"""A class out of the store: what stands for each student."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autograder.course import Assignment
from autograder.grading.errors import GradingError
from autograder.grading.final import Final, final_scores
from autograder.grading.receipt import Receipt
from autograder.grading.store import Store


@dataclass(frozen=True)
class Record:
    """The receipt that stands for a student, the points that count, and how many different submissions there were (1
    where nobody asks)."""

    receipt: Receipt
    final: Final
    attempts: int

    @property
    def student(self) -> str:
        """The id, as in the receipt."""
        return self.receipt.student


def records(store: Store, name: str, assignment: Assignment) -> list[Record]:
    """Everybody who has a receipt under this name: of an assignment, or of another part of it.

    Raises:
        GradingError: nobody has.
    """
    receipts, adjustments = store.standing_receipts(name), store.all_adjustments(name)
    if not receipts:
        raise GradingError(f"there is no receipt for {name} yet; grade it first")
    attempts = _attempts(store, name, assignment, receipts)
    return [
        Record(receipt, final_scores(receipt, adjustments.get(student, ()), assignment), attempts.get(student, 1))
        for student, receipt in receipts.items()
    ]


def chosen(everybody: Sequence[Record], students: Sequence[str], name: str) -> list[Record]:
    """The records of these students; of everybody where none is named.

    Raises:
        GradingError: one has no receipt.
    """
    if not students:
        return list(everybody)
    known = {record.student: record for record in everybody}
    for student in students:
        if student not in known:
            near = [other for other in known if student.lower() in other.lower()][:3]
            hint = f"; did you mean {', '.join(near)}?" if near else "; grade the submission first"
            raise GradingError(f'there is no receipt for "{student}" in {name}{hint}')
    return [known[student] for student in dict.fromkeys(students)]


def _attempts(store: Store, name: str, assignment: Assignment, students: Iterable[str]) -> dict[str, int]:
    """How many different submissions each handed in, where the policy for hints asks for that."""
    if assignment.hint != "after_first_attempt":
        return {}
    return {student: len({r.submission_hash for r in store.history(name, student)}) for student in students}
