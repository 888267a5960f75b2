"""Help in steps: in a student's folder and with the kit; what is counted, and what a damaged count leads to."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from grading import ROOT
from small_course import small_course

from autograder.authoring import release
from autograder.authoring.bundle.hints import HintError, hint

MISTAKES = """\
ladder:
  question: What grows with x?
  pseudocode: |
    stretched = ___ times ___
    return ___
mistakes: []
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What students get of the small course, with a ladder for `slope` and none for `line`."""
    files, lines = small_course(tmp_path, **{"reference/mistakes/slope.yml": MISTAKES})
    release(files, lines)
    return files.stubs("lines")


def test_each_step_is_asked_for_and_the_last_says_where_to_read(folder: Path) -> None:
    first = hint(folder, "slope", False, "hint slope")
    assert "step 1 of 3: a question" in first and "What grows with x?" in first
    assert "next: the shape of the solution, with blanks, with hint slope --more" in first
    assert hint(folder, "slope", False, "").startswith("slope, step 1")
    second = hint(folder, "slope", True, "")
    assert "step 2 of 3" in second and "    stretched = ___ times ___\n    return ___" in second
    assert "Week 1 §1 Slope" in hint(folder, "slope", True, "")
    assert "this was the last step" in hint(folder, "slope", True, "")


def test_steps_are_counted_for_each_exercise_and_kept(folder: Path) -> None:
    hint(folder, "slope", True, "")
    hint(folder, "slope", True, "")
    hint(folder, "line", False, "")
    assert json.loads((folder / "progress.json").read_text())["hints"] == {"line": 1, "slope": 2}
    assert hint(folder, "slope", False, "").startswith("slope, step 2")


def test_what_others_keep_in_the_progress_file_stays(folder: Path) -> None:
    (folder / "progress.json").write_text('{"quiz": {"9": true}}')
    hint(folder, "slope", False, "")
    assert json.loads((folder / "progress.json").read_text())["quiz"] == {"9": True}


def test_an_exercise_without_a_ladder_says_where_to_read(folder: Path) -> None:
    assert "line, step 1 of 1: where to read\n\n    Week 1 §2 Offset" in hint(folder, "line", False, "")


def test_a_folder_that_cannot_be_written_to_costs_the_count_and_not_the_hint(folder: Path) -> None:
    (folder / ".progress.json.new").mkdir()
    said = hint(folder, "slope", False, "")
    assert "What grows with x?" in said and "this is not counted: progress.json cannot be written" in said


def test_a_damaged_progress_file_is_kept_aside_and_the_hint_given(folder: Path) -> None:
    (folder / "progress.json").write_text("{")
    said = hint(folder, "slope", True, "")
    assert "step 1 of 3" in said and said.endswith("it is kept as progress.damaged.json, and the count begins anew")
    assert (folder / "progress.damaged.json").read_text() == "{"
    assert json.loads((folder / "progress.json").read_text()) == {"hints": {"slope": 1}}


@pytest.mark.parametrize("count", ["-1", "99", '"two"', "true"])
def test_a_count_that_cannot_be_begins_anew(folder: Path, count: str) -> None:
    (folder / "progress.json").write_text(f'{{"hints": {{"slope": {count}}}}}')
    assert hint(folder, "slope", False, "").startswith("slope, step 1")


def test_an_unknown_exercise_is_answered_with_those_there_are(folder: Path) -> None:
    with pytest.raises(HintError, match='"slop" is not an exercise of this folder; it has slope, line'):
        hint(folder, "slop", False, "")


def test_students_ask_in_their_folder_without_the_kit(folder: Path) -> None:
    command = [sys.executable, "-S", "-m", "selfcheck", "hint", "slope.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={"PATH": ""})
    assert done.returncode == 0, done.stderr
    assert "python -m selfcheck hint slope --more" in done.stdout
    wrong = subprocess.run([*command[:-1], "slop"], cwd=folder, capture_output=True, text=True, env={"PATH": ""})
    assert wrong.returncode == 1
    assert wrong.stderr.splitlines() == ['"slop" is not an exercise of this folder; it has slope, line']


def test_the_command_reads_the_release(folder: Path) -> None:
    command = [sys.executable, "-c", "from autograder.cli import main; main()", "--course", str(folder.parents[1])]
    ask = [*command, "hint", "lines", "slope", "--more"]
    done = subprocess.run(ask, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT), "PATH": ""})
    assert done.stdout.startswith("slope, step 1 of 3"), done.stderr
    (folder / "selfcheck/hints.json").unlink()
    done = subprocess.run(ask, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT), "PATH": ""})
    assert done.returncode == 2
    assert done.stderr.startswith("autograder: there are no hints in this folder"), done.stderr
