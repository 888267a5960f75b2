"""The history of a student: every receipt and adjustment, oldest first, what changed and who did it."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from command_line import ask
from example_course import make_course

from autograder.grading.receipt import GRADED, CheckResult, Receipt
from autograder.grading.store import Adjustment, Store


def receipt(earned: int, time: str, outcome: str = "failed", **changed: Any) -> Receipt:
    checks = (
        CheckResult(
            "running_mean::test_random_input", "running_mean", "right for other sizes", False, Fraction(5),
            "passed" if earned == 5 else outcome, Fraction(earned),
        ),
    )  # fmt: skip
    fields: dict[str, Any] = {
        "course": "example", "assignment": "week08", "student": "ana", "name": None, "status": GRADED,
        "submission_hash": "a" * 64, "suite_hash": "b" * 64, "kit_version": "1.0", "seed": 5, "torch_version": "2",
        "isolation": "full", "graded_at": f"2027-03-0{time}:00:00+00:00", "seconds": 0.1, "checks": checks,
    }  # fmt: skip
    return Receipt(**fields | changed)


FIRST = receipt(0, "1T10")
BETTER = receipt(5, "3T10", submission_hash="c" * 64)
OTHER_CHECKS = receipt(2, "5T10", submission_hash="c" * 64, suite_hash="d" * 64, kit_version="1.1")
TROUBLE = receipt(0, "6T10", "grader trouble", submission_hash="c" * 64, suite_hash="e" * 64, kit_version="1.1")


def by_hand(points: int, time: str, reason: str, withdrawn: bool = False) -> Adjustment:
    return Adjustment("running_mean", Fraction(points), reason, "Ada", f"2027-03-0{time}:00:00+00:00", withdrawn)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_course(tmp_path_factory.mktemp("history"))
    with Store.in_course(folder) as store:
        store.add_all([FIRST, BETTER, OTHER_CHECKS, TROUBLE])
        store.adjust("week08", "ana", by_hand(3, "2T10", "oral exam"))
        store.adjust("week08", "ana", by_hand(0, "4T10", "it was Ben's", withdrawn=True))
        store.add(receipt(1, "7T10", assignment="week08/quiz"))
    return folder


def test_everything_is_told_oldest_first(course: Path) -> None:
    lines = [line.strip() for line in ask("history", "ana", "--assignment", "week08", cwd=course).stdout.splitlines()]
    assert lines[0] == "ana in week08"
    day = {line.split()[0][:10]: line.split(" ", 1)[1].strip() for line in lines if line.startswith("2027")}
    assert day == {
        "2027-03-01": "0 of 5 points by the checks (kit 1.0, seed 5, suite bbbbbbbb)",
        "2027-03-02": "running_mean: 3 points by hand by Ada: oral exam (does not count any more)",
        "2027-03-03": "5 of 5 points by the checks (kit 1.0, seed 5, suite bbbbbbbb)",
        "2027-03-04": "running_mean: points by hand withdrawn by Ada: it was Ben's",
        "2027-03-05": "2 of 5 points by the checks (kit 1.1, seed 5, suite dddddddd)",
        "2027-03-06": "0 of 5 points by the checks (kit 1.1, seed 5, suite eeeeeeee)",
    }
    place = lines.index
    third, fifth = (next(i for i, line in enumerate(lines) if line.startswith(f"2027-03-0{n}")) for n in (3, 5))
    assert lines[third + 1 : third + 3] == [
        "something else was handed in",
        "running_mean: right for other sizes (hidden): failed (0 of 5) -> passed (5 of 5)",
    ]
    assert lines[fifth + 1 : fifth + 5] == [
        "this result counts",
        "the checks or the course changed (bbbbbbbb -> dddddddd)",
        "kit 1.0 -> 1.1",
        "running_mean: right for other sizes (hidden): passed (5 of 5) -> failed (2 of 5)",
    ]
    assert place("the grader was at fault") > fifth
    assert lines.count("this result counts") == 1
    assert "stands: 2 of 5 points" in lines


def test_all_assignments_are_told_unless_one_is_asked_for(course: Path) -> None:
    told = json.loads(ask("history", "ana", "--json", cwd=course).stdout)
    assert list(told) == ["week08", "week08/quiz"]
    events = told["week08"]["events"]
    assert [event["kind"] for event in events] == ["graded", "by hand", "graded", "by hand", "graded", "graded"]
    assert [event["stands"] for event in events] == [False, False, False, False, True, False]
    assert [event["points"] for event in events if event["kind"] == "by hand"] == ["3", None]
    assert events[2]["checks"] == [
        {"id": "running_mean::test_random_input", "gain": "5", "what": "failed (0 of 5) -> passed (5 of 5)"}
    ]
    assert told["week08"]["final"] == "2"


def test_an_adjustment_that_counts_says_so(course: Path) -> None:
    with Store.in_course(course) as store:
        store.adjust("week08", "ben", by_hand(4, "1T12", "second look"))
        store.add(receipt(1, "1T11", student="ben"))
        store.add(receipt(1, "1T09", student="ben"))  # kept later: it stands again
    told = json.loads(ask("history", "ben", "--json", cwd=course).stdout)["week08"]
    assert [(event["kind"], event["stands"]) for event in told["events"]] == [
        ("graded", False), ("graded", True), ("by hand", True)
    ]  # fmt: skip
    assert told["final"] == "4"


def test_a_result_that_stands_once_more_has_no_time_and_what_says_nothing_new_is_left_out(
    course: Path,
) -> None:
    first, other = receipt(0, "1T10", student="cy"), receipt(5, "3T10", student="cy", submission_hash="c" * 64)
    timed = replace(first, handed_in="2027-03-01T09:00:00+00:00")
    with Store.in_course(course) as store:
        store.add_all([first, replace(first, notes=("x",)), other, first, replace(first, notes=("y",)), timed, timed])
    points, how = "0 of 5 points by the checks", "(kit 1.0, seed 5, suite bbbbbbbb)"
    assert " ".join(ask("history", "cy", cwd=course).stdout.split()) == (
        f"cy in week08 2027-03-01T10:00:00+00:00 {points} {how} "
        f"2027-03-03T10:00:00+00:00 5 of 5 points by the checks {how} something else was handed in "
        "running_mean: right for other sizes (hidden): failed (0 of 5) -> passed (5 of 5) "
        f"later the result of 2027-03-01T10:00:00+00:00 once more: {points} {how} something else was handed in "
        "running_mean: right for other sizes (hidden): passed (5 of 5) -> failed (0 of 5) "
        f"later the result of 2027-03-01T10:00:00+00:00 once more: {points} {how} "
        "this result counts; handed in 2027-03-01T09:00:00+00:00 "
        "handed in: not known -> 2027-03-01T09:00:00+00:00 stands: 0 of 5 points"
    )
    events = json.loads(ask("history", "cy", "--json", cwd=course).stdout)["week08"]["events"]
    assert [(event["again"], event["stands"]) for event in events] == [
        (False, False), (False, False), (True, False), (True, True)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nobody"], 'there is no receipt for "nobody"; grade the submission first'),
        (["an"], "did you mean ana?"),
        (["ana", "--assignment", "week09"], '"ana" has no receipt for week09; there is one for week08, week08/quiz'),
    ],
)
def test_a_wrong_question_gets_one_sentence(course: Path, arguments: list[str], sentence: str) -> None:
    done = ask("history", *arguments, cwd=course)
    assert done.returncode == 2
    assert sentence in done.stderr.splitlines()[-1]
