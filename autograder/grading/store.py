"""Receipts and adjustments in a database: SQLite in the course's folder by default, any SQLAlchemy URL otherwise.

Receipts are only ever added. Manual adjustments live beside them, never inside, so a regrade cannot destroy them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from autograder.grading.errors import GradingError
from autograder.grading.receipt import Receipt

SCHEMA = 1
FOLDER, FILE = ".autograder", "receipts.sqlite"
WITHDRAWN = "withdrawn"
"""Stands in place of an adjustment's points when it takes back the one before it."""

_metadata = sa.MetaData()
_kit = sa.Table("kit", _metadata, sa.Column("schema", sa.Integer, primary_key=True))
_receipts = sa.Table(
    "receipts",
    _metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("assignment", sa.String(120), nullable=False),
    sa.Column("student", sa.String(255), nullable=False),
    sa.Column("submission_hash", sa.String(64), nullable=False),
    sa.Column("suite_hash", sa.String(64), nullable=False),
    sa.Column("kit_version", sa.String(40), nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("complete", sa.Boolean, nullable=False),
    sa.Column("graded_at", sa.String(40), nullable=False),
    sa.Column("document", sa.JSON, nullable=False),
    sa.Index("receipts_by_student", "assignment", "student"),
)
_adjustments = sa.Table(
    "adjustments",
    _metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("assignment", sa.String(120), nullable=False),
    sa.Column("student", sa.String(255), nullable=False),
    sa.Column("exercise", sa.String(120), nullable=False),
    sa.Column("points", sa.String(60), nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("author", sa.String(120), nullable=False),
    sa.Column("made_at", sa.String(40), nullable=False),
)


@dataclass(frozen=True)
class Adjustment:
    """Points that a person gave for one exercise, in place of the automatic ones; or that these are `withdrawn`."""

    exercise: str
    points: Fraction
    reason: str
    author: str
    made_at: str
    withdrawn: bool = False


class Store:
    """The receipts of a course. Use as a context manager."""

    def __init__(self, url: str | sa.URL) -> None:
        """Open the database; make its tables when it is new.

        Raises:
            GradingError: it cannot be opened, is damaged, or was made by a newer kit.
        """
        self.url = url
        try:
            self._engine = sa.create_engine(url)
            if self._engine.dialect.name == "sqlite":
                sa.event.listen(self._engine, "connect", _use_write_ahead_log)
            self._prepare()
        except (sa.exc.SQLAlchemyError, ImportError) as error:
            raise GradingError(f"the receipts at {self.place} cannot be read: {_cause(error)}") from None

    @classmethod
    def in_course(cls, root: Path) -> Store:
        """The store in a course's folder."""
        folder = root / FOLDER
        folder.mkdir(exist_ok=True)
        return cls(sa.URL.create("sqlite", database=str(folder / FILE)))

    def add(self, receipt: Receipt) -> None:
        """Keep a receipt; it is on disk when this returns."""
        self.add_all([receipt])

    def add_all(self, receipts: Iterable[Receipt]) -> None:
        """Keep receipts in this order, all or none."""
        rows = [_row(receipt) for receipt in receipts]
        if rows:
            with self._writing() as connection:
                connection.execute(_receipts.insert(), rows)

    def add_new(self, receipts: Iterable[Receipt]) -> None:
        """Keep receipts of work that is quickly done, all or none, except those whose like stands already."""
        receipts = list(receipts)
        standing = {name: self._standing_work(name) for name in {receipt.assignment for receipt in receipts}}
        self.add_all(r for r in receipts if standing[r.assignment].get(r.student) != _work(r))

    def reusable(
        self, assignment: str, student: str, submission_hash: str, suite_hash: str, kit_version: str, seed: int | None
    ) -> Receipt | None:
        """The newest complete receipt of exactly this work, when there is one (of this seed, where one is given)."""
        wanted = [
            _receipts.c.assignment == assignment,
            _receipts.c.student == student,
            _receipts.c.submission_hash == submission_hash,
            _receipts.c.suite_hash == suite_hash,
            _receipts.c.kit_version == kit_version,
            _receipts.c.complete,
        ]
        if seed is not None:
            wanted.append(_receipts.c.seed == seed)
        found = self._documents(sa.and_(*wanted), limit=1)
        return found[0] if found else None

    def history(self, assignment: str, student: str) -> list[Receipt]:
        """All receipts of a student, newest first."""
        return self._documents(sa.and_(_receipts.c.assignment == assignment, _receipts.c.student == student))

    def standing(self, assignment: str, student: str) -> Receipt | None:
        """The receipt that counts: the newest complete one, or the newest at all."""
        receipts = self.history(assignment, student)
        return next((r for r in receipts if r.complete), receipts[0] if receipts else None)

    def standing_receipts(self, assignment: str, students: Collection[str] | None = None) -> dict[str, Receipt]:
        """The receipt that counts of everybody who has one, or of these students, sorted by student."""
        whose = self.students() if students is None else sorted(students)
        found = {student: self.standing(assignment, student) for student in whose}
        return {student: receipt for student, receipt in found.items() if receipt is not None}

    def assignments_of(self, student: str) -> list[str]:
        """Assignments for which the student has a receipt."""
        query = sa.select(_receipts.c.assignment).where(_receipts.c.student == student).distinct()
        with self._engine.connect() as connection:
            return sorted(connection.scalars(query))

    def students(self) -> list[str]:
        """Everybody who has a receipt."""
        with self._engine.connect() as connection:
            return sorted(connection.scalars(sa.select(_receipts.c.student).distinct()))

    def adjust(self, assignment: str, student: str, adjustment: Adjustment) -> None:
        """Keep a manual adjustment."""
        row = {**vars(adjustment), "points": WITHDRAWN if adjustment.withdrawn else str(adjustment.points)}
        del row["withdrawn"]
        with self._writing() as connection:
            connection.execute(_adjustments.insert().values(assignment=assignment, student=student, **row))

    def all_adjustments(self, assignment: str) -> dict[str, list[Adjustment]]:
        """The manual adjustments of everybody who has one, oldest first; the last one of an exercise counts."""
        return {student: self.adjustments(assignment, student) for student in sorted(self.adjusted(assignment))}

    def adjusted(self, assignment: str) -> set[str]:
        """Students who have a manual adjustment."""
        query = sa.select(_adjustments.c.student).where(_adjustments.c.assignment == assignment).distinct()
        with self._engine.connect() as connection:
            return set(connection.scalars(query))

    def adjustments(self, assignment: str, student: str) -> list[Adjustment]:
        """All manual adjustments of a student, oldest first; the last one of an exercise counts."""
        mine = sa.and_(_adjustments.c.assignment == assignment, _adjustments.c.student == student)
        with self._engine.connect() as connection:
            rows = connection.execute(sa.select(_adjustments).where(mine).order_by(_adjustments.c.id)).mappings().all()
        return [_adjustment(row) for row in rows]

    def close(self) -> None:
        """Release the database."""
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _standing_work(self, assignment: str) -> dict[str, tuple[str, ...]]:
        """What decided the newest complete receipt of each student."""
        mine = sa.and_(_receipts.c.assignment == assignment, _receipts.c.complete)
        newest = sa.select(sa.func.max(_receipts.c.id)).where(mine).group_by(_receipts.c.student)
        columns = [_receipts.c[name] for name in ("student", "submission_hash", "suite_hash", "kit_version")]
        query = sa.select(*columns, _receipts.c.document["status"].as_string()).where(_receipts.c.id.in_(newest))
        with self._engine.connect() as connection:
            return {student: tuple(work) for student, *work in connection.execute(query)}

    def _documents(self, wanted: Any, limit: int | None = None) -> list[Receipt]:
        query = sa.select(_receipts.c.document).where(wanted).order_by(_receipts.c.id.desc()).limit(limit)
        with self._engine.connect() as connection:
            return [Receipt.from_dict(document) for document in connection.scalars(query)]

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except sa.exc.SQLAlchemyError as error:
            raise GradingError(f"the receipts at {self.place} cannot be written: {_cause(error)}") from None

    def _prepare(self) -> None:
        _metadata.create_all(self._engine)
        with self._engine.begin() as connection:
            schema = connection.scalar(sa.select(_kit.c.schema))
            if schema is None:
                connection.execute(_kit.insert().values(schema=SCHEMA))
        if schema is not None and schema != SCHEMA:
            raise GradingError(f"the receipts at {self.place} were made by another version of the kit; upgrade it")

    @property
    def place(self) -> str:
        """Where the receipts are, without a password."""
        try:
            url = sa.make_url(self.url)
        except sa.exc.ArgumentError:
            return str(self.url)
        if url.drivername == "sqlite" and url.database:
            return url.database
        return url.render_as_string(hide_password=True)


def _row(receipt: Receipt) -> dict[str, Any]:
    columns = [column.name for column in _receipts.columns if column.name not in ("id", "document")]
    return {**{name: getattr(receipt, name) for name in columns}, "document": receipt.to_dict()}


def _adjustment(row: sa.RowMapping) -> Adjustment:
    withdrawn = row["points"] == WITHDRAWN
    points = Fraction(0 if withdrawn else row["points"])
    return Adjustment(row["exercise"], points, row["reason"], row["author"], row["made_at"], withdrawn)


def _work(receipt: Receipt) -> tuple[str, str, str, str]:
    """What decides a mark."""
    return receipt.submission_hash, receipt.suite_hash, receipt.kit_version, receipt.status


def now() -> str:
    """This moment, UTC, as receipts write it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _use_write_ahead_log(connection: Any, _: Any) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA busy_timeout=10000")


def _cause(error: BaseException) -> str:
    text = str(getattr(error, "orig", None) or error).splitlines()[0]
    if "malformed" in text or "not a database" in text:
        return f"the file is damaged ({text}); restore a backup of it, or move it away to begin a new one"
    return text
