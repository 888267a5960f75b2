"""A store that an older kit made is brought up to date with all that is in it, or stays as it is."""

from __future__ import annotations

import json
import multiprocessing
import resource
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.script import ScriptDirectory
from test_store import receipt

from autograder.grading import GradingError, Receipt
from autograder.grading.store import Adjustment, Store
from autograder.grading.store.migrate import configuration
from autograder.grading.store.schema import REVISIONS

FIRST = """
CREATE TABLE adjustments (
    id {serial} NOT NULL,
    assignment VARCHAR(120) NOT NULL,
    student VARCHAR(255) NOT NULL,
    exercise VARCHAR(120) NOT NULL,
    points VARCHAR(60) NOT NULL,
    reason TEXT NOT NULL,
    author VARCHAR(120) NOT NULL,
    made_at VARCHAR(40) NOT NULL,
    PRIMARY KEY (id)
);
CREATE TABLE kit (
    schema {serial} NOT NULL,
    PRIMARY KEY (schema)
);
CREATE TABLE receipts (
    id {serial} NOT NULL,
    assignment VARCHAR(120) NOT NULL,
    student VARCHAR(255) NOT NULL,
    submission_hash VARCHAR(64) NOT NULL,
    suite_hash VARCHAR(64) NOT NULL,
    kit_version VARCHAR(40) NOT NULL,
    seed BIGINT NOT NULL,
    complete BOOLEAN NOT NULL,
    graded_at VARCHAR(40) NOT NULL,
    document JSON NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX receipts_by_student ON receipts (assignment, student)
"""
"""What the first kit asked of a database."""

COLUMNS = "assignment student submission_hash suite_hash kit_version seed complete graded_at".split()
KEPT = [
    receipt("s01"),
    receipt("s02", earned="2"),
    receipt("s02", status="needs attention"),
    *(receipt(f"t{number:03}", assignment="week08/quiz", status="not submitted") for number in range(300)),
]
BY_HAND = Adjustment("layer_norm", Fraction(7, 3), "oral exam", "R. Marker", "2027-01-02")


def statements(dialect: str) -> list[str]:
    return FIRST.strip().format(serial="SERIAL" if dialect == "postgresql" else "INTEGER").split(";")


def first_store(url: str, kept: list[Receipt] = KEPT) -> None:
    """A store as the first kit left it."""
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        for statement in statements(engine.dialect.name):
            connection.exec_driver_sql(statement)
        connection.exec_driver_sql("INSERT INTO kit (schema) VALUES (1)")
        columns = ", ".join(f":{name}" for name in COLUMNS)
        adding = sa.text(f"INSERT INTO receipts ({', '.join(COLUMNS)}, document) VALUES ({columns}, :document)")
        for one in kept:
            row = {name: getattr(one, name) for name in COLUMNS}
            connection.execute(adding, {**row, "document": json.dumps(one.to_dict())})
        by_hand = "VALUES ('week08', 's02', 'layer_norm', '7/3', 'oral exam', 'R. Marker', '2027-01-02')"
        fields = "assignment, student, exercise, points, reason, author, made_at"
        connection.exec_driver_sql(f"INSERT INTO adjustments ({fields}) {by_hand}")
    engine.dispose()


def tables(url: str) -> dict[str, Any]:
    """Everything a database says of its tables."""
    engine = sa.create_engine(url)
    look = sa.inspect(engine)
    found = {
        name: (
            [{**column, "type": str(column["type"])} for column in look.get_columns(name)],
            look.get_pk_constraint(name),
            look.get_indexes(name),
        )
        for name in sorted(look.get_table_names())
    }
    engine.dispose()
    return found


def one_row(url: str, query: str) -> Any:
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        row = connection.exec_driver_sql(query).one()
    engine.dispose()
    return row


def backups(folder: Path) -> list[Path]:
    return sorted(folder.glob("receipts-*"))


def test_a_store_of_the_first_kit_is_brought_up_to_date_with_all_that_is_in_it(url: str, tmp_path: Path) -> None:
    first_store(url)
    with Store(url) as store:
        assert "brought to the form of this kit" in store.notice
        assert store.history("week08", "s02") == [KEPT[2], KEPT[1]]
        assert store.adjustments("week08", "s02") == [BY_HAND]
        assert list(store.standing_receipts("week08/quiz").values()) == KEPT[3:]
        store.add_new([receipt("s01"), KEPT[2], *KEPT[3:]])  # the statuses were kept, too
        assert len(store.history("week08", "s02")) == 2
        assert len(store.history("week08/quiz", "t299")) == 1
        assert store.claim("week08", "b" * 64, "1.0", [("s01", "a" * 64), ("s09", "a" * 64)], "me", 60) == {"s09"}
    with Store(url) as again:
        assert again.notice == ""
    assert one_row(url, "SELECT schema, version_num FROM kit, kit_revision") == (2, "0002")


def test_a_new_store_and_one_brought_up_to_date_have_the_same_tables(url: str) -> None:
    Store(url).close()
    new = tables(url)
    engine = sa.create_engine(url)
    everything = sa.MetaData()
    everything.reflect(engine)
    everything.drop_all(engine)
    engine.dispose()
    first_store(url)
    Store(url).close()
    assert tables(url) == new


def test_the_revisions_known_without_alembic_are_those_that_it_knows() -> None:
    scripts = ScriptDirectory.from_config(configuration(None))  # type: ignore[arg-type]  # no database is needed to look at the scripts
    assert tuple(script.revision for script in scripts.walk_revisions())[::-1] == REVISIONS


def test_a_store_that_is_new_or_up_to_date_is_opened_without_alembic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_store(f"sqlite:///{tmp_path / 'old.sqlite'}")
    monkeypatch.delitem(sys.modules, "autograder.grading.store.migrate")
    monkeypatch.setitem(sys.modules, "alembic", None)
    for _ in range(2):
        Store.in_course(tmp_path).close()
    with pytest.raises(GradingError, match="alembic"):
        Store(f"sqlite:///{tmp_path / 'old.sqlite'}")


def test_a_backup_is_made_first_and_is_the_old_store(tmp_path: Path) -> None:
    path = tmp_path / "receipts.sqlite"
    first_store(f"sqlite:///{path}")
    path.chmod(0o600)
    with Store(f"sqlite:///{path}") as store:
        (backup,) = backups(tmp_path)
        assert str(backup) in store.notice
    assert backup.name.startswith("receipts-0001-")
    assert backup.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(backup)) as old:
        made = {sql for (sql,) in old.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
        assert made == {statement.strip() for statement in statements("sqlite")}
        assert old.execute("SELECT count(*) FROM receipts").fetchone() == (len(KEPT),)
    (tmp_path / "receipts.sqlite").unlink()
    backup.rename(path)
    with Store(f"sqlite:///{path}") as store:
        assert store.history("week08", "s01") == [KEPT[0]]


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file of this process can grow beyond `size` bytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_without_room_for_a_backup_nothing_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "receipts.sqlite"
    first_store(f"sqlite:///{path}")
    with room_for(100_000), pytest.raises(GradingError, match=r"no backup could be made .* run the same command again"):
        Store(f"sqlite:///{path}")
    assert [one.name for one in tmp_path.iterdir() if one.stem != "receipts"] == []
    assert backups(tmp_path) == []
    assert set(tables(f"sqlite:///{path}")) == {"adjustments", "kit", "receipts"}
    Store(f"sqlite:///{path}").close()
    assert len(backups(tmp_path)) == 1


def test_a_store_that_cannot_be_brought_up_to_date_stays_as_it_was(url: str) -> None:
    first_store(url)
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE receipts SET document = '{}' WHERE id = 250")
    engine.dispose()
    before = tables(url)
    with pytest.raises(GradingError, match="restore a backup"):
        Store(url)
    assert tables(url) == before
    assert one_row(url, "SELECT count(*), max(schema) FROM receipts, kit") == (len(KEPT), 1)


def test_a_first_kit_that_was_killed_while_it_began_is_no_trouble(tmp_path: Path) -> None:
    for number, part in enumerate((statements("sqlite")[:1], statements("sqlite")[:2], statements("sqlite")[:3])):
        path = tmp_path / f"{number}.sqlite"
        with closing(sqlite3.connect(path)) as database:
            for statement in part:
                database.execute(statement)
        with Store(f"sqlite:///{path}") as store:
            store.add(KEPT[0])
        assert one_row(f"sqlite:///{path}", "SELECT schema, version_num FROM kit, kit_revision") == (2, "0002")


@pytest.mark.parametrize("old", [True, False])
def test_graders_that_open_a_store_at_the_same_time_find_one_and_the_same(url: str, old: bool, tmp_path: Path) -> None:
    if old:
        first_store(url)
    fork = multiprocessing.get_context("fork")
    start = fork.Barrier(4)

    def grader(number: int) -> None:
        start.wait()
        with Store(url) as store:
            store.add(receipt(f"u{number}"))

    graders = [fork.Process(target=grader, args=(number,)) for number in range(4)]
    for process in graders:
        process.start()
    for process in graders:
        process.join()
    assert [process.exitcode for process in graders] == [0] * 4
    with Store(url) as store:
        assert {"u0", "u1", "u2", "u3"} <= set(store.students())
        assert len(store.students()) == 4 + old * 302
    assert len(backups(tmp_path)) == (old and url.startswith("sqlite"))
    assert [one for one in tmp_path.iterdir() if one.name.startswith(".")] == []
