"""The database behind a store: its engine, its transactions, and what its errors mean."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from autograder.grading.errors import GradingError

_PATIENCE_MS = 30_000
_DAMAGED = "the file is damaged ({text}); restore a backup of it, or move it away to begin a new one"
_MEANINGS = {
    "malformed": _DAMAGED,
    "not a database": _DAMAGED,
    "could not decode": _DAMAGED,
    "readonly database": "you may not write to it; ask for write permission on the file and on its folder",
    "unable to open": "you may not use it ({text}); ask for read and write permission on the file and on its folder",
    "disk is full": "the disk is full; make room and run the same command again: all that was kept before is safe",
    "disk i/o error": "the disk reports an error; see to the disk (is it full?), then run the same command again",
    "database is locked": f"another program has kept it locked for {_PATIENCE_MS // 1000} s; end that program first",
    "psycopg": "PostgreSQL takes a driver: pip install 'autograder[postgresql]'",
}


def parsed(url: str | sa.URL) -> sa.URL:
    """The URL; for PostgreSQL without a named driver, psycopg 3.

    Raises:
        sqlalchemy.exc.ArgumentError: it is no URL.
    """
    found = sa.make_url(url)
    return found.set(drivername="postgresql+psycopg") if found.drivername in ("postgresql", "postgres") else found


def make_engine(url: sa.URL) -> sa.Engine:
    """An engine whose transactions are on disk when they end, and whose writers (option `writes`) take turns."""
    if url.get_backend_name() != "sqlite":
        return sa.create_engine(url, isolation_level="READ COMMITTED")
    engine = sa.create_engine(url)
    sa.event.listen(engine, "connect", _set_up)
    sa.event.listen(engine, "begin", _begin)
    return engine


def file_of(url: sa.URL) -> Path | None:
    """The file of an SQLite database; None where there is none, or where options decide how it is opened."""
    if url.get_backend_name() != "sqlite" or url.query or url.database in (None, "", ":memory:"):
        return None
    return Path(str(url.database))


def place_of(url: str | sa.URL) -> str:
    """Where the receipts are, without a password."""
    try:
        found = sa.make_url(url)
    except sa.exc.ArgumentError:
        return str(url)
    if found.drivername == "sqlite" and found.database:
        return found.database
    return found.render_as_string(hide_password=True)


def meaning(error: BaseException) -> str:
    """What an error of the database means, and what to do."""
    text = (str(getattr(error, "orig", None) or error).strip() or type(error).__name__).splitlines()[0]
    return next((said.format(text=text) for sign, said in _MEANINGS.items() if sign in text.lower()), text)


@contextmanager
def faults(place: str, doing: str) -> Iterator[None]:
    """Within it, a fault of the database is a GradingError; `doing` is "read" or "written"."""
    try:
        yield
    except (sa.exc.SQLAlchemyError, sqlite3.Error, ImportError, OSError, ValueError) as error:
        raise GradingError(f"the receipts at {place} cannot be {doing}: {meaning(error)}") from None


def _set_up(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # BEGIN is ours (below): the driver's own comes too late for what is read first
    connection.execute("PRAGMA synchronous=FULL")
    _keep_a_log(connection)
    connection.execute(f"PRAGMA busy_timeout={_PATIENCE_MS}")


def _keep_a_log(connection: Any) -> None:
    """Let readers go on while somebody writes. To change to that, a turn is waited for here: SQLite would wait with a
    lock in its hand, and so for one that waits for this lock."""
    connection.execute("PRAGMA busy_timeout=0")
    until = time.monotonic() + _PATIENCE_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "readonly" in str(error):  # reading goes without
                return
            if "locked" not in str(error) or time.monotonic() > until:
                raise
        time.sleep(0.02)


def _begin(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
