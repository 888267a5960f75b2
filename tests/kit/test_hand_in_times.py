"""When something was handed in: how lists and names tell it, and what is said where they do not."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from lateness_course import CLOCKS_SET_BACK, NEW_YORK, assignment_due, receipt

from autograder.grading.late import lateness
from autograder.grading.reuse import with_known_times
from autograder.intake import HandInTimes, IntakeError, Submission, collect, read_times


def told(tmp_path: Path, times: dict[str, str], zone: ZoneInfo = NEW_YORK) -> dict[str, Submission]:
    """What a list of times says about submissions in folders."""
    for student in times:
        (tmp_path / "class" / student).mkdir(parents=True)
        (tmp_path / "class" / student / "slope.py").write_text("x = 1")
    lines = [f'{student},"{text}"' for student, text in times.items()]
    (tmp_path / "times.csv").write_text("\n".join(["student_id,handed_in", *lines]), "utf-8")
    found = collect([tmp_path / "class"], ["slope"], "lines", times=read_times(tmp_path / "times.csv", zone))
    return {submission.student: submission for submission in found}


def test_a_night_in_which_clocks_are_set_back_line_by_line(tmp_path: Path) -> None:
    found = told(
        tmp_path,
        {
            "in_time": "2024-11-03T00:00:00Z",
            "grace": "2024-11-04T00:30:00Z",
            "late": "2024-11-04T01:00:01Z",
            "twice": "2024-11-03 01:30",
            "empty": "",
            "words": "yesterday",
            "future": "2999-01-01T00:00:00Z",
        },
    )
    work = assignment_due(tmp_path, CLOCKS_SET_BACK)
    moments = {who: s.handed_in and datetime.fromisoformat(s.handed_in) for who, s in found.items()}
    late = {who: (lateness(work, moment).days, int(lateness(work, moment).percent)) for who, moment in moments.items()}
    assert late == {
        "in_time": (0, 0),
        "grace": (0, 0),
        "late": (1, 10),
        "twice": (0, 0),
        "empty": (None, 0),
        "words": (None, 0),
        "future": (None, 0),
    }
    assert found["in_time"].handed_in == "2024-11-02T20:00:00-04:00"
    assert found["twice"].handed_in == "2024-11-03T01:30:00-04:00"
    assert {who: s.handed_in_remark for who, s in found.items()} == {
        "in_time": "",
        "grace": "",
        "late": "",
        "twice": '"2024-11-03 01:30" in times.csv has no time zone, it was read on the clocks of America/New_York; '
        "clocks showed it twice that day, the earliest moment counts",
        "empty": "the time in times.csv is empty",
        "words": '"yesterday" in times.csv is no date and time such as 2027-03-07T23:59:00+01:00',
        "future": '"2999-01-01T00:00:00Z" in times.csv is in the future',
    }
    assert all(s.status == "ready" for s in found.values())


@pytest.mark.parametrize(
    ("text", "moment", "remark"),
    [
        ("2025-03-03T17:00:00+01:00", "2025-03-03T11:00:00-05:00", ""),
        ("20250303T160000Z", "2025-03-03T11:00:00-05:00", ""),
        ("2025-03-03 08:00:00 -0800", "2025-03-03T11:00:00-05:00", ""),
        ("2025-03-03 16:00:00.948203 UTC", "2025-03-03T11:00:00-05:00", ""),
        ("2025-03-03 17:00 Europe/Berlin", "2025-03-03T11:00:00-05:00", ""),
        ("2024-10-27 02:30 Europe/Berlin", "2024-10-26T20:30:00-04:00", "is not clear; clocks showed it twice"),
        ("2025-03-03 11:00", "2025-03-03T11:00:00-05:00", "has no time zone, it was read on the clocks of America/"),
        ("2024-03-10 02:30", "2024-03-10T01:30:00-05:00", "clocks showed it never that day"),
        ("2025-03-03", None, "is no date and time"),
        ("03/04/2025 11:00", None, "is no date and time"),
        ("2025-03-03 11:00 PM", None, "is no date and time"),
        ("2025-03-03 11:00 ../../etc", None, "is no date and time"),
        ("2025-02-30 11:00", None, "is no date and time"),
        ("0001-01-01 00:00", None, "is no date and time"),
        ("9999-12-31T23:59:59-12:00", None, "is no date and time"),
        ("x" * 5000, None, "is no date and time"),
    ],
)
def test_a_time_is_read_exactly_or_is_not_known(tmp_path: Path, text: str, moment: str | None, remark: str) -> None:
    found = told(tmp_path, {"ana": text})["ana"]
    assert found.handed_in == moment
    assert remark in found.handed_in_remark
    assert bool(remark) == bool(found.handed_in_remark)
    assert len(found.handed_in_remark) < 300


def test_the_name_tells_the_time_and_a_list_goes_before_it(tmp_path: Path) -> None:
    for name in ("lines_ana_attempt_2024-11-03-01-00-00", "lines_bo_attempt_2024-11-03-06-00-00Z", "cy"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "slope.py").write_text("x = 1")
    where = [tmp_path / "class"], ["slope"], "lines", None

    def times(known: HandInTimes | None) -> dict[str, tuple[str | None, str]]:
        return {s.student: (s.handed_in, s.handed_in_remark[:20]) for s in collect(*where, known)}

    by_name = times(HandInTimes(NEW_YORK))
    assert by_name["bo"] == ("2024-11-03T01:00:00-05:00", "")
    assert by_name["ana"][0] == "2024-11-03T01:00:00-04:00"
    assert by_name["cy"] == (None, "")
    (tmp_path / "t.csv").write_text("student_id;handed_in\nana;2024-11-02T12:00:00Z\n")
    listed = times(read_times(tmp_path / "t.csv", NEW_YORK))
    assert listed["ana"] == ("2024-11-02T08:00:00-04:00", "")
    assert listed["bo"] == by_name["bo"]
    assert listed["cy"] == (None, "t.csv does not name ")
    assert {found for found, _ in times(None).values()} == {None}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("student_id,name\nana,x\n", "needs a column handed_in with times such as"),
        ("student_id,handed_in\nana,x\nana,y\n", "line 3: the student id 'ana' is already in line 2"),
        ("id,handed_in\nana,x\n", "needs exactly one column student_id"),
    ],
)
def test_a_list_that_is_none_is_one_sentence(tmp_path: Path, content: str, sentence: str) -> None:
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(IntakeError, match=sentence):
        read_times(tmp_path / "t.csv", NEW_YORK)


def test_a_run_that_knows_no_time_keeps_what_was_known_of_the_same_work() -> None:
    work, changed = Submission("ana"), Submission("ana", attempt="x", handed_in="2024-11-03T01:00:00-04:00")
    before = {"ana": receipt(submission_hash=work.digest, handed_in="2024-11-02T01:00:00-04:00")}
    assert with_known_times([work], before)[0].handed_in == "2024-11-02T01:00:00-04:00"
    assert with_known_times([changed], before) == [changed]
    assert with_known_times([work], {"ana": receipt(handed_in="2024-11-02T01:00:00-04:00")}) == [work]
    assert with_known_times([work], {}) == [work]
