"""Every student of the roster has one row, every hand-in belongs to one student, and strangers are named."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest
from hand_ins import BOTH, GOOD, OTHER, THREE, put, said

from autograder.intake import IntakeError, Roster, collect

EXERCISES = ("embedding", "masked_softmax", "multi_head", "layer_norm", "feed_forward", "transformer_block")
ODD_IDS = ["ana [lab 2]", "b+c", "o'neil (x)", "Zoë-学", "007", "-rf", "a b", "a.b", "=1+1", "%s", "~x", "$HOME"]


# -- whose it is (B05, R01, R02)


@pytest.mark.parametrize("with_roster", [True, False])
def test_every_id_arrives_exactly(tmp_path: Path, with_roster: bool) -> None:
    put(tmp_path / "class [v2]", {f"{student}/layer_norm.py": student.encode() for student in ODD_IDS})
    roster = Roster(dict.fromkeys(ODD_IDS, None)) if with_roster else None
    rows = collect([tmp_path / "class [v2]"], ["layer_norm"], "hw 1 [v2]", roster)
    assert [row.student for row in rows] == sorted(ODD_IDS)
    assert all(row.status == "ready" and row.files["layer_norm"].content == row.student.encode() for row in rows)


@pytest.mark.parametrize("form", ["{}/layer_norm.py", "hw 1 [v2]_{}_attempt_2025-03-03-11-00-00/layer_norm.py"])
def test_every_id_arrives_exactly_in_every_form_of_name(tmp_path: Path, form: str) -> None:
    put(tmp_path, {form.format(student): GOOD for student in ODD_IDS})
    put(tmp_path, {f"x_{student}_2025-03-03-11-00-00_layer_norm.py": GOOD for student in ODD_IDS})
    rows = collect([tmp_path], ["layer_norm"], "hw 1 [v2]")
    assert [row.student for row in rows] == sorted([*ODD_IDS, *(f"x_{student}" for student in ODD_IDS)])
    assert {row.status for row in rows} == {"ready"}


@pytest.mark.parametrize("given", ["submitted", "submitted/notebooks", "", "submitted.zip"])
@pytest.mark.parametrize("students", [("ana",), ("ana", "bo")])
@pytest.mark.parametrize("roster", [None, Roster({"ana": "Ana", "bo": None})])
def test_in_nbgraders_folder_the_students_are_those_below_notebooks(
    tmp_path: Path, given: str, students: tuple[str, ...], roster: Roster | None
) -> None:
    course = tmp_path / "course"
    put(course, {f"submitted/notebooks/{who}/week08/layer_norm.py": who.encode() for who in students})
    if given.endswith(".zip"):
        shutil.make_archive(str(course / "submitted"), "zip", course / "submitted")
    rows = collect([course / given], ["layer_norm"], "week08", roster)
    assert {row.student: row.files["layer_norm"].content for row in rows if row.files} == {
        who: who.encode() for who in students
    }
    assert {row.student for row in rows} == {*students, *(roster or ())}


def test_what_lies_beside_nbgraders_folder_is_somebodys_too(tmp_path: Path) -> None:
    put(tmp_path, {"notebooks/ana/week08/layer_norm.py": GOOD, "notebooks/bo/week07/x.py": b"", "cy.zip": b"no zip"})
    put(tmp_path, {"layer_norm.py": OTHER})
    rows = {row.student: row.status for row in collect([tmp_path], ["layer_norm"], "week08")}
    assert rows == {
        "ana": "ready",
        "bo": "needs attention",
        "cy": "unreadable",
        "layer_norm.py": "needs attention",
    }


def test_a_students_own_folder_of_notebooks_stays_theirs(tmp_path: Path) -> None:
    put(tmp_path, {"ana/notebooks/week08/layer_norm.py": GOOD, "notebooks/layer_norm.py": OTHER})
    rows = collect([tmp_path], ["layer_norm"], "week08")
    assert {row.student: row.files["layer_norm"].content for row in rows} == {"ana": GOOD, "notebooks": OTHER}


def test_content_never_says_whose_it_is(tmp_path: Path) -> None:
    put(tmp_path, {"s02/layer_norm.py": b'STUDENT_ID = "s01"\n'})
    rows = collect([tmp_path], ["layer_norm"], "week08", THREE)
    assert [row.status for row in rows] == ["not submitted", "ready", "not submitted"]


def test_the_roster_has_exactly_one_row_for_each_student_and_strangers_are_reported(tmp_path: Path) -> None:
    put(tmp_path, {"s01/layer_norm.py": GOOD, "S02/layer_norm.py": GOOD, "s03 (1)/layer_norm.py": GOOD})
    put(tmp_path, {"eve/layer_norm.py": GOOD, ".hidden/layer_norm.py": GOOD, "__MACOSX/s01/layer_norm.py": OTHER})
    rows = {row.student: row for row in collect([tmp_path], ["layer_norm"], "week08", THREE)}
    assert {name: row.status for name, row in rows.items()} == {
        "S02": "needs attention",
        "eve": "needs attention",
        "s01": "ready",
        "s02": "not submitted",
        "s03": "not submitted",
        "s03 (1)": "needs attention",
    }
    assert "eve is not in the roster" in said(rows["eve"])
    assert "s02's" in said(rows["S02"])
    assert "under the id S02" in said(rows["s02"])
    assert "s03's" in said(rows["s03 (1)"])
    assert not rows["eve"].files


def test_ids_that_differ_in_case_are_two_students_who_are_told(tmp_path: Path) -> None:
    rows = collect([put(tmp_path, {"s1/layer_norm.py": GOOD, "S1/layer_norm.py": OTHER})], ["layer_norm"], "week08")
    assert [(row.student, row.status) for row in rows] == [("S1", "ready"), ("s1", "ready")]
    assert "under the id s1" in said(rows[0])


def test_both_unicode_spellings_of_an_id_are_one_student(tmp_path: Path) -> None:
    put(tmp_path, {"Zoe\u0308/layer_norm.py": GOOD})
    (row,) = collect([tmp_path], ["layer_norm"], "week08", Roster({"Zo\u00eb": None}))
    assert (row.student, row.status) == ("Zo\u00eb", "ready")


@pytest.mark.parametrize("name", ["a\nb", "x" * 255, "DOM\\user7", " s02", "a\u202eb", b"caf\xe9"])
def test_a_folder_name_that_is_no_id_becomes_a_printable_row(tmp_path: Path, name: str | bytes) -> None:
    put(tmp_path / "class" / os.fsdecode(name), {"layer_norm.py": GOOD})
    put(tmp_path / "class", {"s01/layer_norm.py": GOOD})
    rows = collect([tmp_path / "class"], ["layer_norm"], "week08")
    odd = next(row for row in rows if row.student != "s01")
    assert (len(rows), odd.status, dict(odd.files)) == (2, "needs attention", {})
    assert len(odd.student.encode()) <= 4 * 120
    assert odd.student.isprintable()
    assert said(odd).isprintable()


# -- what the paths may be


def test_a_path_given_twice_is_one_hand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"s02/layer_norm.py": GOOD})
    monkeypatch.chdir(tmp_path)
    (row,) = collect([Path("s02"), Path("./s02/"), tmp_path / "s02"], ["layer_norm"], "week08")
    assert (row.student, row.status) == ("s02", "ready")


def test_the_current_folder_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(put(tmp_path / "s02", {"layer_norm.py": GOOD}))
    (row,) = collect([Path(".")], ["layer_norm"], "week08")
    assert (row.student, row.status) == ("s02", "ready")


def test_a_path_that_does_not_exist_is_the_only_error(tmp_path: Path) -> None:
    with pytest.raises(IntakeError, match="There is no file or folder"):
        collect([tmp_path / "nowhere"], ["layer_norm"], "week08")


def test_a_class_is_told_from_a_submission(tmp_path: Path) -> None:
    put(tmp_path / "a", {"s01/layer_norm.py": GOOD, "s02/hw/layer_norm.py": GOOD, "README.md": b"", "s03/": b""})
    put(tmp_path / "b/week08", {"layer_norm.py": GOOD, "README.md": b""})
    put(tmp_path / "c", {"s01/layer_norm.py": GOOD})
    put(tmp_path / "d/download/week08", {"s01/layer_norm.py": GOOD, "s02/layer_norm.py": GOOD})
    put(tmp_path / "e", {})

    def students(folder: str, roster: Roster | None = None) -> dict[str, str]:
        return {row.student: row.status for row in collect([tmp_path / folder], ["layer_norm"], "week08", roster)}

    assert students("a") == {"s01": "ready", "s02": "ready", "s03": "not submitted"}
    assert students("b") == {"b": "ready"}
    assert students("c") == {"s01": "ready"}
    assert students("c", THREE) == {"s01": "ready", "s02": "not submitted", "s03": "not submitted"}
    assert students("d", THREE) == {"s01": "ready", "s02": "ready", "s03": "not submitted"}
    assert students("e") == {"e": "not submitted"}
    assert students("e", THREE) == dict.fromkeys(THREE, "not submitted")


def test_loose_files_are_sorted_by_the_roster(tmp_path: Path) -> None:
    put(tmp_path, {"s01_layer_norm.py": GOOD, "s02_layer_norm.py": OTHER, "s02_feed_forward.py": OTHER})
    rows = collect([tmp_path], BOTH, "week08", THREE)
    assert [list(row.files) for row in rows] == [["layer_norm"], list(BOTH), []]


def test_loose_code_in_a_class_folder_is_reported(tmp_path: Path) -> None:
    put(tmp_path, {"s01/layer_norm.py": GOOD, "conftest.py": GOOD, "grades.csv": b"", "s02.rar": b"Rar!"})
    rows = {row.student: row for row in collect([tmp_path], ["layer_norm"], "week08", THREE)}
    assert {name: row.status for name, row in rows.items()} == {
        "conftest.py": "needs attention",
        "s01": "ready",
        "s02": "unreadable",
        "s03": "not submitted",
    }
    assert "outside of any student's folder" in said(rows["conftest.py"])
    assert "archive of another kind" in said(rows["s02"])


def test_nothing_is_written_where_hand_ins_lie(tmp_path: Path) -> None:
    put(tmp_path / "class", {"s01/layer_norm.py": GOOD, "s02/hw/layer_norm (1).py": GOOD})
    before = sorted(tmp_path.rglob("*"))
    for path in before:
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o222)
    first = collect([tmp_path / "class"], EXERCISES, "week08", THREE)
    assert sorted(tmp_path.rglob("*")) == before
    assert first == collect([tmp_path / "class"], EXERCISES, "week08", THREE)
    for path in before:
        path.chmod(stat.S_IMODE(path.stat().st_mode) | 0o200)
