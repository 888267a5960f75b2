"""Which grader works on what, so that several on one database never do the same: claims, for as long as they live.

All times are those of the database's clock; those of the graders' machines may differ. Who claims holds the one row of
`kit` meanwhile (in SQLite, the write lock), so that two claims never look at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles

from autograder.grading.store import receipts
from autograder.grading.store.schema import claims, insert, kit


class _Clock(sa.sql.functions.FunctionElement[float]):
    """Seconds since 1970 by the clock of the database."""

    type = sa.Double()
    inherit_cache = True


@compiles(_Clock)
def _of_any(*_: Any, **__: Any) -> str:
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)"


@compiles(_Clock, "sqlite")
def _of_sqlite(*_: Any, **__: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


def claim(
    connection: sa.Connection,
    assignment: str,
    suite_hash: str,
    kit_version: str,
    work: Mapping[str, str],
    owner: str,
    seconds: float,
    force: bool,
    seed: int | None,
) -> set[str]:
    """See `Store.claim`. `connection` is in a transaction that may write."""
    connection.execute(sa.select(kit.c.schema).with_for_update())
    connection.execute(claims.delete().where(claims.c.expires_at <= _Clock()))
    same = {"assignment": assignment, "suite_hash": suite_hash, "kit_version": kit_version}
    living = sa.select(claims.c.student, claims.c.submission_hash, claims.c.owner).filter_by(**same)
    held = {(student, submission): by for student, submission, by in connection.execute(living)}
    free = {student for student, submission in work.items() if held.get((student, submission), owner) == owner}
    if not force:
        free -= receipts.complete(connection, assignment, work, suite_hash, kit_version, seed).keys()
    renew(connection, owner, seconds)
    until = connection.scalar(sa.select(_Clock() + seconds))
    new = [student for student in work if student in free and (student, work[student]) not in held]
    rows = [{"student": student, "submission_hash": work[student]} for student in new]
    insert(connection, claims, [{**row, **same, "owner": owner, "expires_at": until} for row in rows])
    return free


def renew(connection: sa.Connection, owner: str, seconds: float) -> set[str]:
    """See `Store.renew`."""
    mine = claims.c.owner == owner
    connection.execute(claims.update().where(mine).values(expires_at=_Clock() + seconds))
    return set(connection.scalars(sa.select(claims.c.student).where(mine)))


def release(connection: sa.Connection, owner: str) -> None:
    """See `Store.release`."""
    connection.execute(claims.delete().where(claims.c.owner == owner))
