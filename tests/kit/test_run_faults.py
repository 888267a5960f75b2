"""B25, B28: a suite or a course that is at fault is named before anybody is scored, and never becomes a mark."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from grading import ASSIGNMENT, ROOT, batch, handed_in, run, small_course, solution
from nursery import nursery

from autograder.course import CourseError, load_course
from autograder.grading import GradingError, Receipt

SUITE = """
import pytest
from autograder.suite.checking import expect


@pytest.mark.points(POINTS, "it is there")
def test_there(student):
    expect(student.layer_norm is not None, "not there")
"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return small_course(tmp_path)


def suite_of(root: Path) -> Path:
    return root / "tests/suites" / ASSIGNMENT / "test_layer_norm.py"


def fault_of(root: Path, **options: Any) -> str:
    """What the run says; it must stop before it begins with anybody."""
    begun: list[Any] = []
    receipts: list[Receipt] = []
    work = batch([handed_in("s01", {"layer_norm": solution("layer_norm")})], root=root, **options)
    with pytest.raises(GradingError) as raised:
        run(work, finished=receipts.append, started=begun.append)
    assert begun == []
    assert receipts == []
    assert "Traceback" not in str(raised.value)
    return str(raised.value)


def test_a_suite_under_another_name_is_missed(course: Path) -> None:
    suite_of(course).rename(suite_of(course).with_name("test_layernorm.py"))
    assert "test_layer_norm.py" in fault_of(course)


def test_a_suite_whose_checks_are_not_collected_is_named(course: Path) -> None:
    suite_of(course).write_text(SUITE.replace("POINTS", "10").replace("def test_there", "def check_there"))
    assert "layer_norm has no runnable checks" in fault_of(course)


@pytest.mark.parametrize(
    "first",
    ['pytest.importorskip("nosuchmodule")', 'pytest.skip("later", allow_module_level=True)'],
)
def test_a_suite_that_skips_itself_is_named(course: Path, first: str) -> None:
    suite_of(course).write_text(SUITE.replace("POINTS", "10").replace("import pytest\n", f"import pytest\n{first}\n"))
    assert "layer_norm has no runnable checks" in fault_of(course)


def test_an_empty_suite_is_no_full_mark(course: Path) -> None:
    suite_of(course).write_text("")
    assert "layer_norm has no runnable checks" in fault_of(course)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def test_there(:\n", "invalid syntax"),
        ("import no_such_module_of_the_kit\n", "no_such_module_of_the_kit"),
        ("1 / 0\n", "division by zero"),
        ("raise SystemExit(0)\n", ""),
        ("import sys\nsys.exit(0)\n", ""),
    ],
)
def test_a_suite_that_cannot_be_read_is_named(course: Path, text: str, told: str) -> None:
    suite_of(course).write_text(text)
    fault = fault_of(course)
    assert "test_layer_norm.py" in fault or "suites" in fault
    assert told in fault


@pytest.mark.parametrize(
    ("points", "told"),
    [
        ("9", "9 points, course.yml says 10"),
        ("11", "11 points, course.yml says 10"),
        ("9.99", "course.yml says 10"),
        ("0", "must be positive"),
        ("-10", "must be positive"),
        ('float("nan")', "must be a finite number"),
        ('float("inf")', "must be a finite number"),
        ('"ten"', "must be a number"),
        ('"10/0"', "must not divide by zero"),
        ("None", "must be a number"),
        ("True", "must be a number"),
        ("[10]", "must be a number"),
    ],
)
def test_points_that_are_no_points_or_do_not_add_up_are_named(course: Path, points: str, told: str) -> None:
    suite_of(course).write_text(SUITE.replace("POINTS", points))
    fault = fault_of(course)
    assert told in fault
    assert "layer_norm" in fault


@pytest.mark.parametrize(
    ("mark", "told"),
    [
        ("", "mark it with @pytest.mark.points"),
        ("@pytest.mark.points(10)\n", "points takes two arguments"),
        ('@pytest.mark.points(10, "")\n', "points takes two arguments"),
        ('@pytest.mark.points(10, "a", "b")\n', "points takes two arguments"),
        ('@pytest.mark.points("a title", 10)\n', "points takes two arguments"),
    ],
)
def test_a_check_without_points_and_a_title_is_named(course: Path, mark: str, told: str) -> None:
    suite_of(course).write_text(SUITE.replace('@pytest.mark.points(POINTS, "it is there")\n', mark))
    fault = fault_of(course)
    assert told in fault
    assert "test_layer_norm.py::test_there" in fault


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("### BEGIN HIDDEN TESTS\n", "never ends"),
        ("### END HIDDEN TESTS\n", "never began"),
        ("### BEGIN HIDDEN TESTS\n### BEGIN HIDDEN TESTS\n### END HIDDEN TESTS\n", "inside another"),
    ],
)
def test_a_hidden_region_that_is_not_closed_is_named(course: Path, text: str, told: str) -> None:
    suite_of(course).write_text(f"{SUITE.replace('POINTS', '10')}\n{text}")
    fault = fault_of(course)
    assert told in fault
    assert "test_layer_norm.py" in fault


def test_a_fixture_that_does_not_exist_is_the_graders_trouble(course: Path) -> None:
    """It shows only when the check runs; then nobody gets a zero for it, and the receipt does not stand."""
    suite_of(course).write_text(SUITE.replace("POINTS", "10").replace("(student)", "(student, no_such_fixture)"))
    receipts = run(batch([handed_in("s01", {"layer_norm": solution("layer_norm")})], root=course))
    assert [check.outcome for check in receipts["s01"].checks] == ["grader trouble"]
    assert not receipts["s01"].complete
    assert "no_such_fixture" in receipts["s01"].checks[0].trouble


@pytest.mark.parametrize("points", ["0", "-1", ".nan", ".inf", "ten"])
def test_a_course_whose_points_are_no_points_is_refused(course: Path, points: str) -> None:
    path = course / "course.yml"
    path.write_text(path.read_text().replace("points: 10", f"points: {points}"))
    with pytest.raises(CourseError, match="points"):
        load_course(course)


def test_options_and_plugins_of_the_environment_do_not_reach_a_grading_run(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --collect-only -k nothing\n")
    (course / "pytest.ini").write_text("[pytest]\naddopts = --collect-only -k nothing\n")
    (course / "conftest.py").write_text("raise SystemExit(0)\n")
    (suite_of(course).parent / "conftest.py").write_text("raise SystemExit(0)\n")
    monkeypatch.setenv("PYTEST_ADDOPTS", "--collect-only -k nothing")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
    monkeypatch.chdir(tmp_path)
    receipts = run(batch([handed_in("s01", {"layer_norm": solution("layer_norm")})], root=course))
    assert receipts["s01"].earned == 10
    assert os.environ["PYTEST_ADDOPTS"] == "--collect-only -k nothing"


def test_a_second_run_of_the_process_reads_the_suites_as_they_are_then(tmp_path: Path) -> None:
    """The first course's suite is right; the second one has the same name and other points."""
    first, second = small_course(tmp_path / "one"), small_course(tmp_path / "two")
    suite_of(second).write_text(SUITE.replace("POINTS", "3"))
    receipts = run(batch([handed_in("s01", {})], root=first))
    assert receipts["s01"].possible == 10
    assert "3 points, course.yml says 10" in fault_of(second)


def test_the_command_names_the_fault_in_one_sentence_and_exits_with_2(course: Path) -> None:
    suite_of(course).write_text(SUITE.replace("POINTS", "9"))
    (course / "class/s01").mkdir(parents=True)
    (course / "class/s01/layer_norm.py").write_text(solution("layer_norm"))
    arguments = ["--course", course, "grade", ASSIGNMENT, course / "class"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = nursery().run("-c", "from autograder.cli import main; main()", *arguments, env=environment)
    assert done.returncode == 2
    assert "worth 9 points, course.yml says 10" in done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert done.stdout == ""
