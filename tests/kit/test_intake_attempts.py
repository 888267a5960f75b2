"""Of several attempts the latest counts as a whole; two hand-ins of one student are left to staff (B06)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from hand_ins import BOTH, GOOD, OTHER, THREE, put, said

from autograder.intake import collect

FIRST, SECOND = "2025-03-03-11-00-00", "2025-03-03-17-00-00"


def attempts(form: str, first: Mapping[str, bytes], second: Mapping[str, bytes]) -> dict[str, bytes]:
    named = {form.format(time=FIRST, file=file): content for file, content in first.items()}
    return named | {form.format(time=SECOND, file=file): content for file, content in second.items()}


FORMS = pytest.mark.parametrize(
    "form",
    ["week08_s02_attempt_{time}/{file}", "s02_{time}_{file}", "week08_s02_attempt_{time}_{file}"],
)


@FORMS
def test_the_latest_attempt_is_used_as_a_whole(tmp_path: Path, form: str) -> None:
    old = {"layer_norm.py": OTHER, "feed_forward.py": OTHER}
    new = {"layer_norm.py": GOOD, "feed_forward.py": GOOD}
    put(tmp_path, attempts(form, old, new))
    os.utime(tmp_path / form.format(time=SECOND, file="layer_norm.py"), (0, 0))
    row = collect([tmp_path], BOTH, "week08", THREE)[1]
    assert (row.student, row.status, row.attempt) == ("s02", "ready", "2025-03-03T17:00:00")
    assert [file.content for file in row.files.values()] == [GOOD, GOOD]
    assert "Only the latest attempt counts (2025-03-03T17:00:00)" in said(row)


@FORMS
def test_attempts_are_never_blended(tmp_path: Path, form: str) -> None:
    put(
        tmp_path,
        attempts(form, {"layer_norm.py": OTHER, "feed_forward.py": OTHER}, {"layer_norm.py": GOOD}),
    )
    row = collect([tmp_path], BOTH, "week08", THREE)[1]
    assert (row.status, row.attempt, list(row.files)) == ("needs attention", "2025-03-03T17:00:00", ["layer_norm"])
    assert "feed_forward.py is missing" in said(row)
    assert "the one of 2025-03-03T11:00:00 has it" in said(row)


def test_a_latest_attempt_without_anything_is_not_replaced_by_an_earlier_one(tmp_path: Path) -> None:
    put(tmp_path, {f"week08_s02_attempt_{FIRST}/layer_norm.py": GOOD, f"week08_s02_attempt_{SECOND}/": b""})
    row = collect([tmp_path], ["layer_norm"], "week08", THREE)[1]
    assert (row.status, dict(row.files), row.attempt) == ("needs attention", {}, "2025-03-03T17:00:00")
    assert "the one of 2025-03-03T11:00:00 has it" in said(row)


def test_files_of_an_attempt_keep_the_names_they_were_filed_under(tmp_path: Path) -> None:
    put(tmp_path, {f"s02_{FIRST}_layer_norm (1).py": GOOD, f"s02_{FIRST}_notes.txt": b""})
    row = collect([tmp_path], ["layer_norm"], "week08", THREE)[1]
    assert row.files["layer_norm"].path == f"s02_{FIRST}_layer_norm (1).py"
    assert f"graded s02_{FIRST}_layer_norm (1).py as layer_norm.py" in said(row)
    assert row.ignored == (f"s02_{FIRST}_notes.txt",)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2025-03-03-11-00", "2025-03-03T11:00:00"),
        ("2025-03-03T11:00:07Z", "2025-03-03T11:00:07Z"),
        ("20250303T110007", "2025-03-03T11:00:07"),
        ("2025-03-03 11.00.07", "2025-03-03T11:00:07"),
    ],
)
def test_times_are_read_in_the_usual_forms(tmp_path: Path, written: str, read: str) -> None:
    put(tmp_path, {f"week08_a_b_attempt_{written}/layer_norm.py": GOOD})
    (row,) = collect([tmp_path], ["layer_norm"], "week08")
    assert (row.student, row.attempt) == ("a_b", read)


def test_a_time_that_does_not_exist_is_not_an_attempt(tmp_path: Path) -> None:
    put(tmp_path, {"week08_s02_attempt_2025-13-41-99-00-00/layer_norm.py": GOOD, "s01/layer_norm.py": GOOD})
    rows = collect([tmp_path], ["layer_norm"], "week08", THREE)
    assert "is not in the roster" in said(rows[-1])


def test_an_attempt_at_another_assignment_is_not_graded(tmp_path: Path) -> None:
    put(tmp_path, {f"week07_s02_attempt_{SECOND}/layer_norm.py": OTHER})
    put(tmp_path, {f"week07_s01_attempt_{SECOND}/layer_norm.py": OTHER, "s01/layer_norm.py": GOOD})
    rows = collect([tmp_path], ["layer_norm"], "week08", THREE)
    assert [row.status for row in rows] == ["ready", "needs attention", "not submitted"]
    assert rows[0].files["layer_norm"].content == GOOD
    assert all("is it for another assignment?" in said(row) for row in rows[:2])


@pytest.mark.parametrize("other", ["tuesday/s02", f"monday/week08_s02_attempt_{FIRST}"])
def test_two_hand_ins_of_one_student_are_left_to_staff(tmp_path: Path, other: str) -> None:
    put(tmp_path, {"monday/s02/layer_norm.py": GOOD, f"{other}/layer_norm.py": OTHER, "tuesday/s01/": b""})
    row = collect([tmp_path / "monday", tmp_path / "tuesday"], ["layer_norm"], "week08", THREE)[1]
    assert (row.status, dict(row.files)) == ("needs attention", {})
    assert f"monday/s02 and {other}" in said(row) or f"{other} and monday/s02" in said(row)


def test_two_attempts_of_one_time_are_left_to_staff(tmp_path: Path) -> None:
    put(tmp_path, {f"week08_s02_attempt_{FIRST}/layer_norm.py": GOOD, f"s02_{FIRST}_layer_norm.py": OTHER})
    row = collect([tmp_path], ["layer_norm"], "week08", THREE)[1]
    assert (row.status, dict(row.files)) == ("needs attention", {})


def test_attempts_are_compared_by_the_moment_and_not_by_the_clock(tmp_path: Path) -> None:
    """Of a night in which clocks are set back, as Gradescope tells it."""
    attempts_of = {
        "submission_1": ("2024-11-03 01:50:00 -0700", OTHER),
        "submission_2": ("2024-11-03 01:10:00 -0800", GOOD),
    }
    for folder, (time, content) in attempts_of.items():
        put(tmp_path, {f"{folder}/layer_norm.py": content})
        with (tmp_path / "submission_metadata.yml").open("a") as file:
            file.write(f"{folder}:\n  :created_at: {time}\n  :submitters:\n  - :sid: s02\n")
    row = collect([tmp_path], BOTH, "week08", THREE)[1]
    assert (row.attempt, row.files["layer_norm"].content) == ("2024-11-03T01:10:00-08:00", GOOD)
