"""When a student is told which mistake a submission looks like."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from grading import ROOT, sharing_zygotes, small_course, solution, with_body

from autograder.cli.grade import run as grade
from autograder.cli.show import run as show
from autograder.course import CourseError, load_course
from autograder.grading.disclosure import hint_withheld

WEEK08 = load_course(ROOT).assignment("week08")
BEFORE, AFTER = WEEK08.deadline - timedelta(minutes=1), WEEK08.deadline + timedelta(minutes=1)


@pytest.mark.parametrize(
    ("policy", "attempts", "now", "told"),
    [
        ("always", 1, BEFORE, True),
        ("after_first_attempt", 1, AFTER, False),
        ("after_first_attempt", 2, BEFORE, True),
        ("after_deadline", 5, BEFORE, False),
        ("after_deadline", 1, AFTER, True),
        ("never", 5, AFTER, False),
    ],
)
def test_the_policy_decides(policy: str, attempts: int, now: datetime, told: bool) -> None:
    withheld = hint_withheld(WEEK08.model_copy(update={"hint": policy}), attempts, now.astimezone(UTC))
    assert (withheld == "") == told, withheld


def test_another_policy_is_refused_with_those_there_are(tmp_path: Path) -> None:
    text = (ROOT / "course.yml").read_text("utf-8").replace("hint: always", "hint: sometimes")
    (tmp_path / "course.yml").write_text(text, "utf-8")
    with pytest.raises(CourseError, match=r"assignments\.week08\.hint: must be one of always, after_first_attempt"):
        load_course(tmp_path)


def test_what_is_withheld_is_in_no_view_of_the_student(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Graded once, shown under each policy: the receipt holds the diagnosis, the student's view only when it is told."""
    root = small_course(tmp_path)
    text = (root / "course.yml").read_text("utf-8").replace("    limits:", "    hint: always\n    limits:")
    (root / "course.yml").write_text(text, "utf-8")
    wrong = with_body(
        solution("layer_norm"),
        "layer_norm",
        "return gamma * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True, correction=0) + eps) + beta",
    )
    (tmp_path / "class/ada").mkdir(parents=True)
    (tmp_path / "class/ada/layer_norm.py").write_text(wrong, "utf-8")
    with sharing_zygotes():
        grade(root, "week08", [tmp_path / "class"], None, None, 1, False, False, True)
    name = json.loads(capsys.readouterr().out)[0]["diagnoses"]["layer_norm"][0]["name"].removeprefix(
        "ε "
    )  # JSON writes it otherwise
    for policy, told in (("always", True), ("after_first_attempt", False), ("after_deadline", False), ("never", False)):
        (root / "course.yml").write_text(text.replace("hint: always", f"hint: {policy}"), "utf-8")
        for as_json in (False, True):
            for instructor in (False, True):
                show(root, "ada", None, None, instructor, as_json)
                shown = " ".join(capsys.readouterr().out.split())
                assert (name in shown) == (told or instructor), (policy, as_json, instructor)
