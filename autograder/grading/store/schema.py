"""The tables of a store, as the newest revision has them. A change here takes a new revision in `migrations`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from autograder.grading.errors import GradingError

REVISIONS = ("0001", "0002")
"""All there were, oldest first: a store that is up to date is known without Alembic, whose import takes a while."""
REVISION = REVISIONS[-1]

metadata = sa.MetaData()

kit = sa.Table("kit", metadata, sa.Column("schema", sa.Integer, primary_key=True))
"""One row, the number of the revision: all that the first kits look at, so that they refuse what they do not know."""

kit_revision = sa.Table(
    "kit_revision",
    metadata,
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name="kit_revision_pkc"),
)
"""Alembic's record, under a name of our own: another program in the same database may have one too."""

receipts = sa.Table(
    "receipts",
    metadata,
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
    sa.Column("status", sa.String(40), nullable=False, server_default=""),
    sa.Index("receipts_by_standing", "assignment", "student", "complete", "id"),
)

adjustments = sa.Table(
    "adjustments",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("assignment", sa.String(120), nullable=False),
    sa.Column("student", sa.String(255), nullable=False),
    sa.Column("exercise", sa.String(120), nullable=False),
    sa.Column("points", sa.String(60), nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("author", sa.String(120), nullable=False),
    sa.Column("made_at", sa.String(40), nullable=False),
)

claims = sa.Table(
    "claims",
    metadata,
    sa.Column("assignment", sa.String(120), primary_key=True),
    sa.Column("student", sa.String(255), primary_key=True),
    sa.Column("submission_hash", sa.String(64), primary_key=True),
    sa.Column("suite_hash", sa.String(64), primary_key=True),
    sa.Column("kit_version", sa.String(40), primary_key=True),
    sa.Column("owner", sa.String(200), nullable=False),
    sa.Column("expires_at", sa.Double, nullable=False),
)
"""Who works on what; `expires_at` in seconds since 1970 by the clock of the database."""


def insert(connection: sa.Connection, table: sa.Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Add rows, all or none.

    Raises:
        GradingError: a text is one that not every database can hold, or too long.
    """
    rows = list(rows)
    limits = {c.name: c.type.length for c in table.columns if isinstance(c.type, sa.String)}
    for row in rows:
        for name, limit in limits.items():
            if problem := _problem(row.get(name, ""), limit):
                raise GradingError(f"the {name} {row[name][:80]!r} cannot be kept: it {problem}; change it")
    if rows:
        connection.execute(table.insert(), rows)


def _problem(text: str, limit: int | None) -> str:
    if "\0" in text:
        return "holds a NUL character"
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return "holds half a character"
    return f"is longer than {limit} characters" if limit is not None and len(text) > limit else ""
