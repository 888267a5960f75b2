"""Downloads of learning platforms as they come: Canvas, Moodle, Gradescope, GitHub Classroom; folders and zips of a class."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from autograder.intake import Roster, Submission, collect

GOOD = b"def layer_norm(x, gamma, beta, eps=1e-5):\n    return x\n"
OTHER = b"def layer_norm(x, gamma, beta, eps=1e-5):\n    return x * gamma + beta\n"
PEOPLE = Roster(
    {"s01": "Jane Doe", "s02": "Zoë Núñez", "s03": "Lee, Ann", "s04": "Ann Lee", "s05": None},
    {
        "s01": {"canvas_id": "12345", "github": "JaneD", "email": "jane@uni.example"},
        "s03": {"canvas_id": "777", "section": "A"},
        "s05": {"email": "five@uni.example", "section": "B"},
    },
)
"""Two students have the same name, one has none."""


def put(root: Path, tree: Mapping[str, bytes], form: str) -> Path:
    """The tree as a folder, or as a zip of it with or without a folder around it."""
    if form == "folder":
        for name, content in tree.items():
            path = root / "download" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir() if name.endswith("/") else path.write_bytes(content)
        return root / "download"
    with zipfile.ZipFile(root / "download.zip", "w") as archive:
        for name, content in tree.items():
            archive.writestr(f"outer/{name}" if form == "wrapped zip" else name, content)
    return root / "download.zip"


FORMS = pytest.mark.parametrize("form", ["folder", "zip", "wrapped zip"])


def rows(
    path: Path, roster: Roster | None = None, exercises: tuple[str, ...] = ("layer_norm",)
) -> dict[str, Submission]:
    return {row.student: row for row in collect([path], exercises, "week08", roster)}


def statuses(found: Mapping[str, Submission]) -> dict[str, str]:
    return {student: row.status for student, row in found.items()}


def said(row: Submission) -> str:
    return "\n".join(row.notes)


# -- Canvas: all files in one folder, named lastfirst_[LATE_]id_upload_file

CANVAS = {
    "doejane_12345_900001_layer_norm.py": GOOD,
    "doejane_12345_900002_notes.pdf": b"%PDF",
    "nunezzoe_LATE_222_900003_layer_norm-1.py": OTHER,
    "leeann_777_900004_layer_norm.py": GOOD,
    "stranger_888_900005_essay.docx": b"PK\x03\x04",
}


@FORMS
def test_a_canvas_download_is_a_class(tmp_path: Path, form: str) -> None:
    found = rows(put(tmp_path, CANVAS, form), PEOPLE)
    assert statuses(found) == {
        "s01": "ready",
        "s02": "ready",
        "s03": "ready",
        "s04": "not submitted",
        "s05": "not submitted",
        "stranger_888": "needs attention",
    }
    assert found["s01"].files["layer_norm"].content == GOOD and found["s02"].files["layer_norm"].content == OTHER
    assert found["s01"].ignored == ("doejane_12345_900002_notes.pdf",)
    assert "Canvas marks layer_norm-1.py as late" in said(found["s02"])
    assert "is not in the roster" in said(found["stranger_888"])


@FORMS
def test_without_a_roster_students_are_called_as_canvas_calls_them(tmp_path: Path, form: str) -> None:
    found = rows(put(tmp_path, CANVAS, form))
    assert statuses(found) == {
        "doejane_12345": "ready",
        "leeann_777": "ready",
        "nunezzoe_222": "ready",
        "stranger_888": "needs attention",
    }


def test_a_zip_that_a_student_gave_to_canvas_is_opened(tmp_path: Path) -> None:
    path = put(tmp_path, {"layer_norm.py": GOOD, "__MACOSX/._layer_norm.py": b"\0\5\x16\7"}, "zip")
    download = put(tmp_path, {"doejane_12345_900001_hw 8.zip": path.read_bytes()}, "folder")
    assert rows(download, PEOPLE)["s01"].files["layer_norm"].content == GOOD


def test_two_students_of_one_name_are_told_apart_by_the_number_only(tmp_path: Path) -> None:
    found = rows(put(tmp_path, {"leeann_999_900001_layer_norm.py": GOOD}, "folder"), PEOPLE)
    assert statuses(found)["leeann_999"] == "needs attention"
    assert "leeann may be s03 or s04; add the platform's id 999 to the roster" in said(found["leeann_999"])


def test_a_students_own_data_file_makes_no_class_of_a_hand_in(tmp_path: Path) -> None:
    found = rows(put(tmp_path, {"layer_norm.py": GOOD, "losses_2024_123_run.csv": b""}, "folder"))
    assert statuses(found) == {"download": "ready"}


# -- Moodle

MOODLE = {
    "Jane Doe_1234567_assignsubmission_file_/layer_norm.py": GOOD,
    "Jane Doe_1234567_assignsubmission_onlinetext_/onlinetext.html": b"<p>see file</p>",
    "Zoe\u0308 Nu\u0301n\u0303ez_1234568_assignsubmission_file/hw/layer_norm (1).py": OTHER,
    "Nobody_1234569_assignsubmission_onlinetext_/onlinetext.html": b"<p>my answer</p>",
}


@FORMS
def test_a_moodle_download_is_a_class(tmp_path: Path, form: str) -> None:
    found = rows(put(tmp_path, MOODLE, form), PEOPLE)
    ready = {student for student, row in found.items() if row.status == "ready"}
    assert ready == {"s01", "s02"}
    assert found["s02"].files["layer_norm"].content == OTHER
    assert "typed into Moodle (onlinetext) is not graded" in said(found["s01"])
    assert found["Nobody_1234569"].status == "needs attention"


def test_moodles_flat_download_is_the_same_class(tmp_path: Path) -> None:
    flat = {
        "Jane Doe_1234567_assignsubmission_file_layer_norm.py": GOOD,
        "Jane Doe_1234567_assignsubmission_file_notes.txt": b"",
        "Zoë Núñez_1234568_assignsubmission_file_layer_norm.py": OTHER,
    }
    found = rows(put(tmp_path, flat, "folder"))
    assert statuses(found) == {"Jane Doe_1234567": "ready", "Zoë Núñez_1234568": "ready"}
    assert list(rows(tmp_path / "download", PEOPLE)["s01"].files) == ["layer_norm"]


# -- Gradescope

METADATA = """\
---
submission_1:
  :submitters:
  - :name: Jane Doe
    :sid: '0042'
    :email: jane@uni.example
  :created_at: 2025-03-03 16:59:12.345678000 Z
  :score: 3.0
  :results: !ruby/object:Results {tests: []}
submission_2:
  :submitters:
  - :name: Five
    :sid: ''
    :email: FIVE@uni.example
  - :name: Zoe
    :sid: s02
  :created_at: 2025-03-03 18:00:00 +0100
submission_3:
  :submitters:
  - :name: Lost
    :email: lost@uni.example
"""


@FORMS
def test_a_gradescope_download_gives_each_member_of_a_group_a_row(tmp_path: Path, form: str) -> None:
    tree = {
        "assignment_9_export/submission_metadata.yml": METADATA.encode(),
        "assignment_9_export/submission_1/layer_norm.py": GOOD,
        "assignment_9_export/submission_2/layer_norm.py": OTHER,
    }
    path = put(tmp_path, tree, form)
    found = rows(path, PEOPLE)
    assert {s for s, row in found.items() if row.status == "ready"} == {"s01", "s02", "s05"}
    assert found["s01"].attempt == "2025-03-03T16:59:12Z" and found["s05"].attempt == "2025-03-03T18:00:00+01:00"
    assert found["s02"].files["layer_norm"].content == OTHER == found["s05"].files["layer_norm"].content
    assert "submission_3 is listed, but not there" in said(found["lost@uni.example"])
    assert rows(path)["0042"].status == "ready"


@pytest.mark.parametrize("content", [b"", b"[", b"a: [", b"- 1", b"\xff\xfe", b"a: 1", b"a: {':submitters': [1]}"])
def test_metadata_of_another_kind_leaves_folders_under_their_names(tmp_path: Path, content: bytes) -> None:
    path = put(tmp_path, {"submission_metadata.yml": content, "s01/layer_norm.py": GOOD}, "folder")
    assert rows(path, PEOPLE)["s01"].status == "ready"


# -- GitHub Classroom


@pytest.mark.parametrize("prefix", ["week08", "Week08", "week-8-transformers-2027"])
def test_clones_are_found_by_the_name_on_github(tmp_path: Path, prefix: str) -> None:
    tree = {f"{prefix}-janed/layer_norm.py": GOOD, f"{prefix}-janed/.git/config": b"", f"{prefix}-janed/README.md": b""}
    found = rows(put(tmp_path / "week08-submissions", tree, "folder"), PEOPLE)
    assert found["s01"].files["layer_norm"].content == GOOD


def test_clones_of_an_assignment_need_no_roster(tmp_path: Path) -> None:
    tree = {"week08-submissions/week08-jane-d/layer_norm.py": GOOD, "week08-submissions/week08-bo/layer_norm.py": OTHER}
    assert statuses(rows(put(tmp_path, tree, "folder"))) == {"bo": "ready", "jane-d": "ready"}


# -- every submission gets a row, whatever is in it (B29)


def test_a_class_zip_gives_everybody_a_row_whatever_is_in_it(tmp_path: Path) -> None:
    tree = {
        "s01/layer_norm.py": GOOD,
        "s02/layer_norm.py": b"",
        "s03/../../layer_norm.py": GOOD,
        "s04/layer_norm.py/inner.txt": b"",
        "s05/week08.zip": b"no zip",
        "__MACOSX/s01/._layer_norm.py": b"\0\5\x16\7",
    }
    found = rows(put(tmp_path, tree, "zip"), PEOPLE)
    assert statuses(found) == {
        "s01": "ready",
        "s02": "unreadable",
        "s03": "needs attention",
        "s04": "unreadable",
        "s05": "unreadable",
    }
    assert "leads out of the archive" in said(found["s03"])
    assert all(row.notes for row in found.values() if row.status != "ready")


def test_one_students_zip_stays_one_hand_in(tmp_path: Path) -> None:
    tree = {"part1/layer_norm.py": GOOD, "part2/feed_forward.py": GOOD}
    assert statuses(rows(put(tmp_path, tree, "zip"), exercises=("layer_norm", "feed_forward"))) == {"download": "ready"}
    put(tmp_path, {"s02/layer_norm.py": GOOD}, "zip").rename(tmp_path / "s01.zip")
    assert statuses(rows(tmp_path / "s01.zip", PEOPLE))["s01"] == "ready"


def test_an_id_elsewhere_counts_only_where_it_is_one_students(tmp_path: Path) -> None:
    shared = Roster({"s01": None, "s02": None}, {"s01": {"email": "x@y"}, "s02": {"email": "X@y", "section": "only"}})
    assert shared.find("x@y") is None and shared.find("only") is None
    assert PEOPLE.find("FIVE@UNI.EXAMPLE") == "s05" and PEOPLE.find("12345") == "s01"
