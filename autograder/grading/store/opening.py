"""Opening a store: a new one is made whole, an older one is brought up to date, and nothing else is touched."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

import sqlalchemy as sa

from autograder.grading.errors import GradingError
from autograder.grading.store.backup import back_up
from autograder.grading.store.database import file_of, make_engine, place_of
from autograder.grading.store.schema import REVISION, REVISIONS, kit, kit_revision, metadata

_NOTHING = ""
_TURN = 0x6B6974  # "kit": who makes or changes tables in PostgreSQL holds the advisory lock of this number


def opened(url: sa.URL) -> tuple[sa.Engine, str]:
    """The engine of a store that is up to date, and a sentence for the user, "" where there is nothing to tell.

    Raises:
        GradingError: what is there is damaged, another program's, or a newer kit's.
        sqlalchemy.exc.SQLAlchemyError: the database cannot be reached or used.
    """
    path = file_of(url)
    if path is not None:
        _need_a_file(path)
    engine = make_engine(url)
    with engine.connect() as connection:
        revision = _revision(connection)
    return engine, "" if revision == REVISION else _bring_up_to_date(engine)


def _need_a_file(path: Path) -> None:
    """There is a file afterwards, and SQLite may have a look at it."""
    if path.is_dir():
        raise GradingError(f"{path} is a folder; give the file of the receipts, such as {path / 'receipts.sqlite'}")
    if not path.parent.is_dir():
        raise GradingError(f"the receipts at {path} cannot be written: there is no folder {path.parent}; make it first")
    if not path.exists():
        _make(path)
    elif path.stat().st_size == 0:
        raise GradingError(
            f"the receipts at {path} are gone: the file is empty; restore a backup of it, "
            "or move it away to begin a new one"
        )


def _make(path: Path) -> None:
    """A new store, under its name only when it is whole: no other process, and no crash, ever meets half a one."""
    unfinished = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    engine = make_engine(sa.URL.create("sqlite", database=str(unfinished)))
    try:
        _bring_up_to_date(engine)
        engine.dispose()
        try:
            os.link(unfinished, path)
        except FileExistsError:
            pass  # another process was faster
        except OSError:  # a file system without links
            if not path.exists():
                unfinished.rename(path)
    finally:
        engine.dispose()
        for leftover in ("", "-wal", "-shm"):
            with suppress(OSError):
                Path(f"{unfinished}{leftover}").unlink()


def _bring_up_to_date(engine: sa.Engine) -> str:
    """Make the tables, or migrate them, in one transaction; one process at a time. Returns what to tell the user."""
    with engine.execution_options(writes=True).begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_TURN)))
        revision = _revision(connection)
        if revision == REVISION:
            return ""
        if revision == _NOTHING:
            metadata.create_all(connection)
            connection.execute(kit.insert().values(schema=int(REVISION)))
            connection.execute(kit_revision.insert().values(version_num=REVISION))
            return ""
        path = file_of(engine.url)
        before = "" if path is None else f"; {back_up(path, revision)} holds them as they were"
        from autograder.grading.store.migrate import migrate

        migrate(connection)
    return f"the receipts at {place_of(engine.url)} were brought to the form of this kit{before}"


def _revision(connection: sa.Connection) -> str:
    """Which of REVISIONS is there, or nothing yet.

    Raises:
        GradingError: it is another program's, or a newer kit's.
    """
    place, alone = place_of(connection.engine.url), connection.dialect.name == "sqlite"
    names = set(sa.inspect(connection).get_table_names())
    ours = names & set(metadata.tables)
    if not ours and (not names or not alone):
        return _NOTHING
    found: str | None = connection.scalar(sa.select(kit_revision.c.version_num)) if kit_revision.name in ours else None
    if found is None and kit.name in ours:  # the first kits kept a number only
        schema = connection.scalar(sa.select(kit.c.schema))
        found = REVISIONS[0] if schema in (None, 1) else str(schema)
    if found is None and alone and names == ours:
        found = REVISIONS[0]  # a first kit was killed while it made the tables
    if found is None:
        raise GradingError(f"the database at {place} is another program's; give another one for the receipts")
    if found not in REVISIONS:
        raise GradingError(f"the receipts at {place} were made by a newer version of the kit; upgrade this one")
    return found
