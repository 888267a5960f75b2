"""The receipts of a course: what may be asked of them, and what may be added."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import sqlalchemy as sa

from autograder.grading.receipt import Receipt
from autograder.grading.store import claims, receipts
from autograder.grading.store.database import faults, parsed, place_of
from autograder.grading.store.opening import opened
from autograder.grading.store.schema import adjustments, insert
from autograder.grading.store.schema import receipts as table

FOLDER, FILE = ".autograder", "receipts.sqlite"

Work = Iterable[tuple[str, str]]
"""Students, and the hash of what each handed in."""


@dataclass(frozen=True)
class Adjustment:
    """Points that a person gave for one exercise, in place of the automatic ones."""

    exercise: str
    points: Fraction
    reason: str
    author: str
    made_at: str


class Store:
    """The receipts of a course. Use as a context manager."""

    def __init__(self, url: str | sa.URL) -> None:
        """Open the database; make its tables when it is new, bring them up to date when an older kit made them.

        Raises:
            GradingError: it cannot be opened, is damaged, is another program's, or was made by a newer kit.
        """
        self.url = url
        self.notice = ""
        """What the user should know of the opening, such as where a backup is; mostly nothing."""
        with faults(self.place, "read"):
            self._engine, self.notice = opened(parsed(url))

    @classmethod
    def in_course(cls, root: Path) -> Store:
        """The store in a course's folder."""
        folder = root / FOLDER
        with faults(str(folder / FILE), "written"):
            folder.mkdir(exist_ok=True)
        return cls(sa.URL.create("sqlite", database=str(folder / FILE)))

    # -- what is kept

    def add(self, receipt: Receipt) -> None:
        """Keep a receipt; it is on disk when this returns."""
        self.add_all([receipt])

    def add_all(self, new: Iterable[Receipt]) -> None:
        """Keep receipts, all or none; they are on disk when this returns."""
        rows = [receipts.row_of(receipt) for receipt in new]
        if rows:
            with self._writing() as connection:
                insert(connection, table, rows)

    def add_new(self, new: Iterable[Receipt]) -> None:
        """Keep receipts of work that is quickly done, all or none, except those whose like stands already."""
        new = list(new)
        with self._reading() as connection:
            standing = {name: receipts.standing_work(connection, name) for name in {r.assignment for r in new}}
        self.add_all(r for r in new if standing[r.assignment].get(r.student) != receipts.work_of(r))

    def adjust(self, assignment: str, student: str, adjustment: Adjustment) -> None:
        """Keep a manual adjustment."""
        row = {**vars(adjustment), "points": str(adjustment.points)}
        with self._writing() as connection:
            insert(connection, adjustments, [{"assignment": assignment, "student": student, **row}])

    # -- one student

    def history(self, assignment: str, student: str) -> list[Receipt]:
        """All receipts of a student, newest first."""
        with self._reading() as connection:
            return list(receipts.documents(connection, receipts.of_student(assignment, student)))

    def standing(self, assignment: str, student: str) -> Receipt | None:
        """The receipt that counts: the newest complete one, or the newest at all."""
        return self.standing_receipts(assignment, [student]).get(student)

    def assignments_of(self, student: str) -> list[str]:
        """Assignments for which the student has a receipt."""
        return self._names(sa.select(table.c.assignment).where(table.c.student == student))

    def adjustments(self, assignment: str, student: str) -> list[Adjustment]:
        """All manual adjustments of a student, oldest first; the last one of an exercise counts."""
        return self._adjustments(assignment, adjustments.c.student == student).get(student, [])

    # -- the whole class

    def students(self) -> list[str]:
        """Everybody who has a receipt."""
        return self._names(sa.select(table.c.student))

    def standing_receipts(self, assignment: str, students: Collection[str] | None = None) -> dict[str, Receipt]:
        """The receipt that counts of everybody who has one, or of these students, sorted by student."""
        every = receipts.standing(assignment)
        queries = [every] if students is None else [every.where(those) for those in receipts.students_in(students)]
        with self._reading() as connection:
            found = {r.student: r for query in queries for r in receipts.documents(connection, query)}
        return {student: found[student] for student in sorted(found)}

    def all_adjustments(self, assignment: str) -> dict[str, list[Adjustment]]:
        """The manual adjustments of everybody who has one, oldest first; the last one of an exercise counts."""
        return self._adjustments(assignment, sa.true())

    def reusable_all(
        self, assignment: str, work: Work, suite_hash: str, kit_version: str, seed: int | None = None
    ) -> dict[str, Receipt]:
        """By student, the newest complete receipt of exactly this work (of this seed, where one is given)."""
        with self._reading() as connection:
            found = receipts.complete(connection, assignment, dict(work), suite_hash, kit_version, seed)
            return {r.student: r for r in receipts.documents(connection, found.values())}

    # -- several graders on one database

    def claim(
        self,
        assignment: str,
        suite_hash: str,
        kit_version: str,
        work: Work,
        owner: str,
        seconds: float,
        *,
        force: bool = False,
        seed: int | None = None,
    ) -> set[str]:
        """Whose work this owner may grade now, and for the next `seconds` nobody else.

        That is work which no other living owner has claimed and which has no complete receipt yet (of this seed, where
        one is given), or with `force`, has one or not. An owner's earlier claims are renewed as well. Keep a receipt
        before you release the claim on its work, and no work is graded twice.
        """
        with self._writing() as connection:
            return claims.claim(
                connection, assignment, suite_hash, kit_version, dict(work), owner, seconds, force, seed
            )

    def renew(self, owner: str, seconds: float) -> set[str]:
        """Let the owner's claims live for another `seconds` from now. Returns the students that it still holds."""
        with self._writing() as connection:
            return claims.renew(connection, owner, seconds)

    def release(self, owner: str) -> None:
        """Give up all claims of the owner."""
        with self._writing() as connection:
            claims.release(connection, owner)

    # -- the database

    @property
    def place(self) -> str:
        """Where the receipts are, without a password."""
        return place_of(self.url)

    def close(self) -> None:
        """Release the database."""
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _names(self, query: sa.Select[tuple[str]]) -> list[str]:
        with self._reading() as connection:
            return sorted(connection.scalars(query.distinct()))

    def _adjustments(self, assignment: str, whose: sa.ColumnElement[bool]) -> dict[str, list[Adjustment]]:
        mine = sa.and_(adjustments.c.assignment == assignment, whose)
        found: dict[str, list[Adjustment]] = {}
        with self._reading() as connection:
            for row in connection.execute(sa.select(adjustments).where(mine).order_by(adjustments.c.id)):
                one = Adjustment(row.exercise, Fraction(row.points), row.reason, row.author, row.made_at)
                found.setdefault(row.student, []).append(one)
        return found

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        with faults(self.place, "read"), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        with faults(self.place, "written"), self._engine.execution_options(writes=True).begin() as connection:
            yield connection


def now() -> str:
    """This moment, UTC, as receipts write it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
