"""How far a student is: what is recorded, what it adds up to, and a damaged record, of which nothing is lost."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ask as autograder
from keyed_course import keyed_course
from small_course import FILES, small_course

from autograder.authoring import release
from autograder.authoring.bundle.hints import hint
from autograder.authoring.bundle.plain import Layout
from autograder.authoring.bundle.progress import course_total, load_progress, mark_read, record_checks, report
from autograder.authoring.bundle.questions import QuizTrouble, load_quiz
from autograder.authoring.bundle.quiz import take

WIDE = Layout(80)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course of seven sections, of which two are in the quiz; with its students' files."""
    more = FILES["course.yml"].replace("total_sections: 2", "total_sections: 7")
    files, lines = keyed_course(tmp_path_factory.mktemp("course"), **{"course.yml": more})
    release(files, lines)
    return files.root


@pytest.fixture
def course(released: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(released, tmp_path / "course"))


@pytest.fixture
def folder(course: Path) -> Path:
    return course / "assignments/lines"


def record(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "progress.json").read_text("utf-8"))
    return found


def test_sections_read_are_counted_for_the_folder_and_the_course(folder: Path):
    assert "read: 0 of 2 sections (0 %)" in report(folder, WIDE)
    assert mark_read(folder, ["2"], True) == ""
    assert record(folder)["read"] == ["Week 1 §2"]
    assert "read: 1 of 2 sections (50 %)" in report(folder, WIDE)
    assert course_total([folder]) == ["the course: 1 of 7 sections (14 %) read"]
    assert mark_read(folder, ["slope"], True) == mark_read(folder, ["2"], False) == ""
    assert record(folder)["read"] == ["Week 1 §1"]
    with pytest.raises(QuizTrouble, match='"9" is no section'):
        mark_read(folder, ["9"], True)


def test_answers_are_counted_for_each_section(folder: Path, monkeypatch: pytest.MonkeyPatch):
    lines = iter(["mira", "a", ":s", "layer norm"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines, ":q"))
    take(folder, load_quiz(folder))
    assert record(folder)["quiz"] == {"Week 1 §1": 2}
    said = report(folder, WIDE)
    assert "quiz: 2 of 10 questions answered, 0 of 2 sections complete" in said
    assert "Week 1 §1  -     2 of 4" in said and "Week 1 §2  -     0 of 6" in said


def test_the_record_of_the_quiz_stands_in_for_an_answers_file_that_cannot_be_read(folder: Path):
    (folder / "progress.json").write_text('{"quiz": {"Week 1 §1": 4}}', "utf-8")
    assert "quiz: 0 of 10 questions answered, 0 of 2 sections complete" in report(folder, WIDE)
    (folder / "quiz_answers.json").write_text("{")
    said = report(folder, WIDE)
    assert "quiz: 4 of 10 questions answered, 1 of 2 sections complete" in said
    assert any(line.startswith("quiz_answers.json cannot be read as answers") for line in said)


def test_a_run_of_some_checks_leaves_what_was_found_of_the_others(folder: Path):
    totals = {"slope": 2, "line": 1}
    record_checks(folder, {"slope": {"test_a": True, "test_gone": False}}, totals)
    assert "slope     1 of 2         -" in report(folder, WIDE)
    record_checks(folder, {"slope": {"test_a": False}}, totals)
    assert record(folder)["checks"] == {"slope": {"test_a": False, "test_gone": False}}
    record_checks(folder, {"slope": {"test_a": True, "test_b": True}}, totals)
    assert record(folder)["checks"] == {"slope": {"test_a": True, "test_b": True}}


def test_each_part_leaves_what_the_others_recorded(folder: Path):
    (folder / "progress.json").write_text('{"of another tool": [1]}')
    mark_read(folder, ["1"], True)
    hint(folder, "slope", False, "")
    record_checks(folder, {"line": {"test_a": True}}, {"line": 1})
    assert record(folder) == {
        "of another tool": [1],
        "read": ["Week 1 §1"],
        "hints": {"slope": 1},
        "checks": {"line": {"test_a": True}},
    }
    assert "slope     not run        1" in report(folder, WIDE)


@pytest.mark.parametrize("damage", ["{", "[]", '{"hints": 3}', '{"read": {}}', "[" * 200_000, "\udcff"])
def test_a_damaged_record_is_kept_aside_and_said_in_one_sentence(folder: Path, damage: str):
    damaged = damage.encode("utf-8", "surrogateescape")
    (folder / "progress.json").write_bytes(damaged)
    sentence = "progress.json could not be read; it is kept as progress.damaged.json, and the count begins anew"
    assert report(folder, WIDE)[-1] == sentence
    assert (folder / "progress.damaged.json").read_bytes() == damaged
    (folder / "progress.json").write_bytes(damaged)
    assert mark_read(folder, ["1"], True) == sentence.replace("damaged.json", "damaged1.json")
    assert (
        (folder / "progress.damaged1.json").read_bytes() == damaged == (folder / "progress.damaged.json").read_bytes()
    )
    assert record(folder) == {"read": ["Week 1 §1"]}


@pytest.mark.parametrize("odd", ['{"quiz": {"Week 1 §1": "many"}}', '{"read": [3, null]}', '{"checks": {"slope": 7}}'])
def test_a_count_that_cannot_be_counts_as_nothing(folder: Path, odd: str):
    (folder / "progress.json").write_text(odd, "utf-8")
    said = report(folder, WIDE)
    assert "read: 0 of 2 sections (0 %)" in said and "slope     not run        -" in said


def test_a_folder_that_cannot_be_written_to_is_said(folder: Path):
    (folder / ".progress.json.new").mkdir()
    assert mark_read(folder, ["1"], True).startswith("this is not counted: progress.json cannot be written")
    assert load_progress(folder) == ({}, "")


def test_without_a_quiz_the_checks_are_shown_alone(tmp_path: Path):
    files, lines = small_course(tmp_path)
    release(files, lines)
    folder = files.stubs("lines")
    assert report(folder, WIDE)[2:4] == ["exercise  public checks  hints", "slope     not run        -"]
    assert course_total([folder]) == []


def test_students_ask_in_their_folder_without_the_kit(folder: Path):
    command = [sys.executable, "-S", "-m", "selfcheck", "progress", "--read", "2"]
    variables = {"PATH": "", "LC_ALL": "C"}
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="ascii", env=variables)
    assert done.returncode == 0, done.stderr
    assert "read: 1 of 2 sections (50 %)" in done.stdout and "the course: 1 of 7 sections (14 %) read" in done.stdout
    assert "section        read  answered\nWeek 1 sec. 1  -     0 of 4\nWeek 1 sec. 2  yes   0 of 6\n" in done.stdout


def test_the_command_shows_and_records_the_same(course: Path, folder: Path):
    done = autograder("progress", "--read", "1", cwd=course)
    assert done.returncode == 0 and "the course: 1 of 7 sections (14 %) read" in done.stdout, done.stderr
    assert record(folder)["read"] == ["Week 1 §1"]
    assert autograder("progress", "lines", cwd=course).stdout == autograder("progress", cwd=course).stdout
    wrong = autograder("progress", "--read", "x", cwd=course)
    assert wrong.returncode == 2 and wrong.stderr.startswith('autograder: "x" is no section of this quiz')
    shutil.rmtree(folder)
    done = autograder("progress", cwd=course)
    assert done.stderr == "autograder: there is no folder of exercises for lines yet; release it first\n"
