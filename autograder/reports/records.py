"""A class out of the store: what stands for each student."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.course import Assignment
from autograder.grading.errors import GradingError
from autograder.grading.final import Final, final_scores
from autograder.grading.receipt import Receipt
from autograder.grading.store import Store


@dataclass(frozen=True)
class Record:
    """The receipt that stands for a student, the points that count, and how many different submissions there were."""

    receipt: Receipt
    final: Final
    attempts: int

    @property
    def student(self) -> str:
        return self.receipt.student


def records(store: Store, name: str, assignment: Assignment) -> list[Record]:
    """Everybody who has a receipt under this name: of an assignment, or of its quiz.

    Raises:
        GradingError: nobody has.
    """
    found = [record for student in store.students() if (record := _record(store, name, assignment, student))]
    if not found:
        raise GradingError(f"there is no receipt for {name} yet; grade it first")
    return found


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


def standing_receipts(store: Store, name: str) -> list[Receipt]:
    """The receipt that counts of everybody who has one under this name."""
    return [receipt for student in store.students() if (receipt := store.standing(name, student))]


def _record(store: Store, name: str, assignment: Assignment, student: str) -> Record | None:
    receipts = store.history(name, student)
    if not receipts:
        return None
    receipt = next((r for r in receipts if r.complete), receipts[0])
    final = final_scores(receipt, store.adjustments(name, student), assignment)
    return Record(receipt, final, len({r.submission_hash for r in receipts}))
