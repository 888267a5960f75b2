"""The command line: quick help, the course found from anywhere, and one sentence instead of a traceback."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from command_line import ROOT, Ran, ask, autograder
from example_course import SOLUTION, SUITE, make_course

from autograder.sandbox.levels import FULL, PARTIAL, PROCESS_ONLY, name_of

C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
CODE_PAGE = {"PYTHONIOENCODING": "cp1252"}

EVERY_HELP = """
import sys
from autograder.cli import main

for command in ([], *([name] for name in main.commands)):
    try:
        main([*command, "--help"], prog_name="autograder")
    except SystemExit as end:
        assert not end.code, command
heavy = {"torch", "pytest", "_pytest", "numpy", "sqlalchemy", "pydantic", "rich", "msgpack"} & set(sys.modules)
print("commands:", *main.commands)
print("heavy:", *sorted(heavy))
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small course in a folder that few tools like, graded once."""
    folder = make_course(tmp_path_factory.mktemp("home") / "Übung 1 #2 100%41")
    shutil.copytree(folder / "class/wrong", folder / "class/adjusted")
    done = ask("grade", "week08", "class", "--seed", "5", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert [line.split() for line in done.stdout.splitlines() if "5" in line or "1" in line] == [
        ["adjusted", "1", "1"],
        ["right", "5", "5"],
        ["wrong", "1", "1"],
    ]
    return folder


def refused(done: Ran, *words: str) -> None:
    """The command ended with exit code 2 and said why in its last line, without a traceback."""
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stdout + done.stderr
    assert done.stderr.strip(), "nothing was said"
    last = done.stderr.strip().splitlines()[-1]
    for word in words:
        assert word in last


def test_help_of_every_command_answers_without_heavy_imports():
    done = subprocess.run([sys.executable, "-c", EVERY_HELP], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    *_, commands, heavy = done.stdout.splitlines()
    assert {"grade", "show", "adjust", "release"} <= set(commands.split()[1:])
    assert done.stdout.count("Usage: autograder") == len(commands.split())
    assert heavy.split() == ["heavy:"]


def test_version_is_the_package_version():
    from autograder import __version__

    assert autograder("--version").stdout.split()[-1] == __version__


@pytest.mark.parametrize("below", [".", "class/wrong", "reference/traces"])
def test_commands_find_the_course_from_any_folder_in_it(course, below):
    done = ask("show", "wrong", cwd=course / below)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("wrong: 1 of 5 points in week08")


def test_course_can_be_named_from_outside(course, tmp_path):
    done = ask("--course", course, "show", "right", cwd=tmp_path)
    assert done.stdout.startswith("right: 5 of 5 points")
    refused(ask("show", "right", cwd=tmp_path), "no course.yml in", "or above it")
    refused(ask("--course", tmp_path / "none", "show", "right", cwd=tmp_path), "none does not exist")


def test_grading_works_in_a_locale_that_knows_only_ascii(course):
    graded = autograder(
        "grade", "week08", "class", "--force", "--seed", "5", cwd=course, environment=C_LOCALE | CODE_PAGE
    )
    assert graded.returncode == 0, graded.stderr
    assert "3 of 3 submissions graded" in graded.stderr


@pytest.mark.parametrize("environment", [C_LOCALE, CODE_PAGE, C_LOCALE | CODE_PAGE], ids=["C", "cp1252", "both"])
def test_terminals_that_cannot_write_everything_get_an_answer(course, environment):
    shown = autograder("show", "wrong", cwd=course, environment=environment)
    assert shown.returncode == 0, shown.stderr
    assert "gives the means of Week 8" in shown.stdout
    refused(autograder("show", "Zoë", cwd=course, environment=environment), "there is no receipt")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["grade", "week08"], ["PATHS"]),
        (["grade", "week09", "class"], ['"week09" is not an assignment of this course', "week08"]),
        (["grade", "week08", "klass"], ["no file or folder klass"]),
        (["grade", "week08", "class", "--seed", "-1"], ["--seed"]),
        (["grade", "week08", "class", "--seed", "now"], ["--seed"]),
        (["grade", "week08", "class", "--roster", "none.csv"], ["none.csv"]),
        (["grade", "week08", "class", "--store", "nonsense"], ["nonsense"]),
        (["grade", "week08", "class", "--store", "sqlite:////nowhere/at/all.sqlite"], ["/nowhere/at/all.sqlite"]),
        (["show", "nobody"], ['no receipt for "nobody"', "grade the submission first"]),
        (["show", "WRON"], ['no receipt for "WRON"', "did you mean wrong?"]),
        (["show", "wrong", "--assignment", "week09"], ["week09", "week08"]),
        (["release", "week09"], ['"week09" is not an assignment of this course']),
        (["undo"], ["undo"]),
    ],
    ids=" ".join,
)
def test_wrong_arguments_get_one_sentence(course, arguments, words):
    refused(ask(*arguments, cwd=course), *words)


def test_wrong_course_file_names_the_place(tmp_path):
    make_course(tmp_path)
    text = (tmp_path / "course.yml").read_text("utf-8")
    (tmp_path / "course.yml").write_text(text.replace("points: 5\n", "points: 0\n"), "utf-8")
    done = ask("grade", "week08", "class", cwd=tmp_path)
    refused(done)
    assert "assignments.week08.exercises[0].points: must be positive, got 0" in done.stderr


def test_suite_at_fault_ends_the_run_before_anything_is_scored(tmp_path):
    make_course(tmp_path)
    suite = tmp_path / SUITE
    suite.write_text(suite.read_text("utf-8").replace('points(2, "right', 'points(3, "right'), "utf-8")
    refused(ask("grade", "week08", "class", cwd=tmp_path), "running_mean", "worth 6 points, course.yml says 5")
    refused(ask("show", "right", cwd=tmp_path), "there is no receipt")


def test_damaged_and_blocked_stores_get_one_sentence(tmp_path):
    make_course(tmp_path)
    (tmp_path / ".autograder").write_text("a file where a folder should be")
    refused(ask("show", "right", cwd=tmp_path), ".autograder")
    (tmp_path / ".autograder").unlink()
    (tmp_path / ".autograder").mkdir()
    (tmp_path / ".autograder" / "receipts.sqlite").write_bytes(b"no database at all " * 100)
    refused(ask("show", "right", cwd=tmp_path), "damaged", "restore a backup")


def test_password_of_a_database_is_never_printed(course):
    done = ask("show", "right", "--store", "postgresql+nodriver://staff:geheim@db/receipts", cwd=course)
    refused(done, "staff:***@db")
    assert "geheim" not in done.stdout + done.stderr


WITHOUT_JINJA = """
import sys
sys.modules["jinja2"] = None
from autograder.cli import main
main(["report", "week08"], prog_name="autograder")
"""


def test_a_package_that_is_missing_is_named_with_what_brings_it():
    done = subprocess.run([sys.executable, "-c", WITHOUT_JINJA], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr == "autograder: jinja2 is not installed: pip install 'autograder[instructor]'\n"


def test_fault_of_the_kit_has_a_traceback_and_exit_code_2(course):
    broken = "import autograder.cli.show as s; s.run = lambda *a, **k: 1 / 0; from autograder.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", broken, "show", "right"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert "ZeroDivisionError" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("autograder: this is a fault of the kit")


def test_show_as_json_tells_a_student_nothing_hidden(course):
    student = json.loads(ask("show", "wrong", "--json", cwd=course).stdout)
    instructor = json.loads(ask("show", "wrong", "--json", "--instructor", cwd=course).stdout)
    assert [check["outcome"] for check in student["checks"]] == ["failed", "passed", "failed", "failed"]
    assert not {"seed", "suite_hash", "output", "flags"} & set(student)
    assert not any("id" in check or "trouble" in check for check in student["checks"])
    assert instructor["seed"] == 5
    assert name_of(instructor["isolation"]) in (FULL, PARTIAL, PROCESS_ONLY)
    assert "curious" not in student
    hidden = [check["message"] for check in student["checks"] if not check["public"]]
    assert not any("expected" in message or "call" in message for message in hidden)


def test_adjustment_stands_beside_the_receipt_and_survives_a_regrade(course):
    given = ["adjust", "week08", "adjusted", "running_mean", "10/3", "--reason", "right idea", "--author", "Ada"]
    done = ask(*given, cwd=course)
    assert done.stdout == "adjusted: running_mean stands at 3.33 of 5 by hand (Ada)\n"
    assert "running_mean  3.33 of 5, given by Ada: right idea" in ask("show", "adjusted", cwd=course).stdout
    receipt = json.loads(ask("show", "adjusted", "--json", "--instructor", cwd=course).stdout)
    assert receipt["earned"] == "1"
    file = course / "class/adjusted/running_mean.py"
    file.write_text(file.read_text("utf-8").replace("x.cumsum(dim=0)", "x.flip(1)"), "utf-8")
    again = ask("grade", "week08", "class/adjusted", cwd=course)
    assert "running_mean: manual score 3.33 kept, automatic changed from 1 to 0" in again.stdout


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ("5.01", ["between 0 and 5", "5.01"]),
        ("-1", ["-1"]),
        ("nan", ["nan"]),
        ("1e400", ["1e400"]),
        ("five", ["five"]),
        ("1/0", ["1/0"]),
        ("", ["points"]),
    ],
)
def test_adjustment_must_fit_the_exercise(course, points, words):
    options = ["--reason", "x", "--author", "Ada"]
    refused(ask("adjust", *options, "--", "week08", "right", "running_mean", points, cwd=course), *words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["week08", "right", "running_mean", "1", "--author", "Ada"], ["--reason"]),
        (["week08", "right", "running_mean", "1", "--author", "Ada", "--reason", " "], ["--reason"]),
        (["week08", "right", "mean", "1", "--author", "A", "--reason", "x"], ['"mean" is not an exercise of week08']),
        (["week08", "nobody", "running_mean", "1", "--author", "A", "--reason", "x"], ['no receipt for "nobody"']),
    ],
)
def test_adjustment_needs_a_receipt_a_reason_and_an_author(course, arguments, words):
    refused(ask("adjust", *arguments, cwd=course), *words)


def test_example_of_the_contributing_page_is_released_with_its_answer_cut(tmp_path):
    course = make_course(tmp_path)
    done = ask("release", "week08", cwd=course)
    assert done.returncode == 0, done.stderr
    stub = (course / "assignments/week08/running_mean.py").read_text("utf-8")
    assert 'raise NotImplementedError("running_mean")' in stub
    assert "cumsum" in (course / SOLUTION).read_text("utf-8")
    assert "cumsum" not in stub
    assert ask("release", "week08", cwd=course).stdout == "week08 is up to date\n"


def test_a_command_that_is_stopped_before_it_can_tell_how_far_it_is_ends_with_130() -> None:
    with patch("autograder.cli.setting.Setting.find", side_effect=KeyboardInterrupt):
        done = ask("quiz", "mark", "week08", ".", cwd=ROOT)
    assert (done.returncode, done.stderr) == (130, "autograder: stopped\n")
