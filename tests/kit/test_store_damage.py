"""What is wrong with the file of a store is said in a sentence, and the file is left as it is."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from test_store import receipt
from test_store_migrations import room_for

from autograder.grading import GradingError
from autograder.grading.store import Store


def kept(folder: Path, students: int = 200) -> Path:
    """A store of a class in one file. Returns its path."""
    with Store.in_course(folder) as store:
        store.add_all(receipt(f"s{number:03}") for number in range(students))
    path = folder / ".autograder/receipts.sqlite"
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    return path


@pytest.mark.parametrize("damage", ["half", "some", "garbage", "header", "empty"])
def test_a_damaged_file_is_reported_at_once_and_left_as_it_is(tmp_path: Path, damage: str) -> None:
    path = kept(tmp_path)
    content = path.read_bytes()
    broken = {
        "half": content[: len(content) // 2],
        "some": content[:100],
        "garbage": b"this is no database" * 100,
        "header": bytes(100) + content[100:],
        "empty": b"",
    }[damage]
    path.write_bytes(broken)
    with pytest.raises(GradingError, match="restore a backup of it, or move it away") as raised:
        Store.in_course(tmp_path)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)
    assert path.read_bytes() == broken


def test_damage_within_is_reported_when_it_is_met(tmp_path: Path) -> None:
    path = kept(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + bytes(len(content) // 2))
    with Store.in_course(tmp_path) as store, pytest.raises(GradingError, match="restore a backup"):
        store.standing_receipts("week08")


@pytest.mark.parametrize("document", ["{", "[]", "{}", '{"checks": [{}]}'])
def test_a_receipt_that_cannot_be_read_is_reported_and_no_other_is_lost(tmp_path: Path, document: str) -> None:
    path = kept(tmp_path, students=3)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE receipts SET document = ? WHERE student = 's001'", [document])
    with Store.in_course(tmp_path) as store:
        with pytest.raises(GradingError, match="damaged"):
            store.standing_receipts("week08")
        assert list(store.standing_receipts("week08", ["s000", "s002"])) == ["s000", "s002"]


@pytest.mark.parametrize("table", ["kit", "kit_revision"])
def test_a_store_of_a_newer_kit_is_refused(tmp_path: Path, table: str) -> None:
    path = kept(tmp_path, students=1)
    with closing(sqlite3.connect(path)) as database, database:
        if table == "kit":
            database.execute("DROP TABLE kit_revision")
            database.execute("UPDATE kit SET schema = 99")
        else:
            database.execute("UPDATE kit_revision SET version_num = '0099'")
    before = path.read_bytes()
    with pytest.raises(GradingError, match="newer version of the kit; upgrade"):
        Store.in_course(tmp_path)
    assert path.read_bytes() == before


def test_the_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gradebook.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE grade (id INTEGER)")
    with pytest.raises(GradingError, match="another program's; give another one"):
        Store(f"sqlite:///{path}")
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT name FROM sqlite_master").fetchall() == [("grade",)]


def test_a_folder_and_a_file_in_no_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GradingError, match="is a folder; give the file"):
        Store(f"sqlite:///{tmp_path}")
    with pytest.raises(GradingError, match=r"there is no folder .*; make it first"):
        Store(f"sqlite:///{tmp_path}/nowhere/receipts.sqlite")
    assert list(tmp_path.iterdir()) == []


@contextmanager
def as_nobody() -> Iterator[None]:
    """With the rights of an ordinary user; root may do all."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user can reach."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)
        Path(name).chmod(0o700)


def test_a_store_that_one_may_only_read_can_be_read_and_not_written(open_folder: Path) -> None:
    with as_nobody():
        path = kept(open_folder, students=3)
        path.chmod(0o444)
        with Store.in_course(open_folder) as store:
            assert len(store.standing_receipts("week08")) == 3
            with pytest.raises(GradingError, match="ask for write permission on the file and on its folder"):
                store.add(receipt("new"))
        path.chmod(0o644)
        with Store.in_course(open_folder) as store:
            assert len(store.students()) == 3


def test_a_folder_in_which_one_may_not_write_is_reported(open_folder: Path) -> None:
    with as_nobody():
        path = kept(open_folder, students=3)
        path.parent.chmod(0o555)
        with pytest.raises(GradingError, match=r"ask for .*write permission on the file and on its folder"):
            Store.in_course(open_folder)
        with pytest.raises(GradingError, match=r"ask for .*write permission on the file and on its folder"):
            Store(f"sqlite:///{path.parent}/other.sqlite")
        path.parent.chmod(0o755)


def test_a_full_disk_loses_nothing_that_was_kept(tmp_path: Path) -> None:
    kept(tmp_path)
    with Store.in_course(tmp_path) as store:
        with room_for(200_000), pytest.raises(GradingError, match="run the same command again"):
            store.add_all(receipt(f"n{number:03}") for number in range(1000))
        assert len(store.students()) == 200
        store.add(receipt("new"))
    with Store.in_course(tmp_path) as store:
        assert len(store.standing_receipts("week08")) == 201


def test_a_new_store_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    with room_for(5000), pytest.raises(GradingError, match="run the same command again"):
        Store.in_course(tmp_path)
    assert list((tmp_path / ".autograder").iterdir()) == []


def test_the_meaning_of_a_full_disk_is_told_in_the_words_of_the_system(tmp_path: Path) -> None:
    kept(tmp_path, students=1)
    with Store.in_course(tmp_path) as store:
        sa.event.listen(store._engine, "begin", lambda c: c.exec_driver_sql("PRAGMA max_page_count=1"))
        with pytest.raises(GradingError, match="the disk is full; make room"):
            store.add_all(receipt(f"n{number:03}") for number in range(100))
