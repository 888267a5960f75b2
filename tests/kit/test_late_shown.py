"""What people see of lateness: the class in its table, a student in the receipt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import ask
from example_course import make_course
from lateness_course import CLOCKS_SET_BACK

from autograder.intake.times import EXAMPLE


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small course whose deadline is over, graded with a list of times."""
    folder = make_course(tmp_path_factory.mktemp("late"))
    text = (folder / "course.yml").read_text("utf-8").replace("timezone: UTC", "timezone: America/New_York")
    (folder / "course.yml").write_text(text.replace("2027-03-07T23:59:00+00:00", CLOCKS_SET_BACK), "utf-8")
    (folder / "times.csv").write_text("student_id,handed_in\nright,2024-11-05T03:00:00Z\nwrong,yesterday\n")
    return folder


def table(text: str) -> dict[str, list[str]]:
    lines = [line.split() for line in text.partition("to look at")[0].splitlines()]
    return {words[0]: words[1:] for words in lines if words}


def test_lateness_in_the_table_of_the_class_and_in_what_a_student_reads(course: Path) -> None:
    on_time = ask("grade", "week08", "class", "--seed", "5", cwd=course)
    assert "late" not in on_time.stdout
    assert "when it was handed in is not known for 2 of 2" in on_time.stderr
    graded = ask("grade", "week08", "class", "--handed-in", "times.csv", cwd=course)
    rows = table(graded.stdout)
    assert rows["right"] == ["5", "-30", "%", "3.5"]
    assert rows["wrong"] == ["1", "1", "note"]
    assert '"yesterday" in times.csv is no date and time' in " ".join(graded.stdout.split())
    assert "2 unchanged, receipts reused" in graded.stderr  # what time it was is no reason to grade again
    again = ask("grade", "week08", "class", "--json", cwd=course)  # and without the list it is still known
    found = {one["student"]: one for one in json.loads(again.stdout)}
    assert (found["right"]["earned"], found["right"]["final"], found["right"]["late"]["days"]) == ("5", "7/2", 3)
    assert (found["wrong"]["final"], found["wrong"]["late"]["days"]) == ("1", None)
    text = " ".join(ask("show", "right", cwd=course).stdout.split())
    assert text.startswith("right: 3.5 of 5 points in week08 note: handed in 2024-11-04 22:00:00 EST, due 2024-11-02")
    assert "3 days late: 30 % of the points off (without that: 5)" in text
    assert "not known" not in ask("show", "wrong", cwd=course).stdout
    assert "when it was handed in is not known" in ask("show", "wrong", "--instructor", cwd=course).stdout
    assert json.loads(ask("show", "right", "--json", cwd=course).stdout)["final"] == "7/2"


def test_another_policy_needs_no_regrade(course: Path) -> None:
    text = (course / "course.yml").read_text("utf-8")
    (course / "course.yml").write_text(text.replace("cap_percent: 50", "cap_percent: 20"), "utf-8")
    graded = ask("grade", "week08", "class", cwd=course)
    assert "2 unchanged, receipts reused" in graded.stderr
    assert table(graded.stdout)["right"] == ["5", "-20", "%", "4"]


def test_whose_time_cannot_be_told_is_said_before_the_deadline_too(course: Path) -> None:
    text = (course / "course.yml").read_text("utf-8")
    (course / "course.yml").write_text(text.replace(CLOCKS_SET_BACK, "2099-11-02T20:00:00"), "utf-8")
    (course / "some.csv").write_text('student_id,handed_in\nwrong,"[/b] nonsense"\n', "utf-8")
    for options in (["--handed-in", "some.csv"], ["--handed-in", "some.csv", "--json"], []):  # still known without it
        said = ask("grade", "week08", "class", *options, cwd=course).stderr.splitlines()
        assert said[1] == (
            "when it was handed in cannot be told: right (some.csv does not name this student); "
            f'wrong ("[/b] nonsense" in some.csv is no date and time such as {EXAMPLE})'
        )
