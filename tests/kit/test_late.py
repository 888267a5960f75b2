"""Lateness: days of the calendar in the course's time zone, what they cost, and how times of handing in are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta, timezone
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from command_line import ask
from example_course import make_course
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from small_course import FILES

from autograder.course import Assignment, LatePolicy, load_course
from autograder.grading.final import Final, final_scores
from autograder.grading.late import UNKNOWN, Late, lateness
from autograder.grading.receipt import GRADED, NOT_SUBMITTED, CheckResult, Receipt
from autograder.grading.reuse import with_known_times
from autograder.grading.score import ExerciseScore
from autograder.grading.store import Adjustment
from autograder.intake import HandInTimes, IntakeError, Submission, collect, read_times
from autograder.intake.times import EXAMPLE

NEW_YORK = ZoneInfo("America/New_York")
CLOCKS_SET_BACK = "2024-11-02T20:00:00"
"""A deadline in the evening before clocks are set back there."""
ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"]


def assignment_due(
    folder: Path, deadline: str, zone: str = "America/New_York", grace: int = 1, more: str = ""
) -> Assignment:
    """An assignment of a course read from its file."""
    policy = f"late_policy: {{grace_days: {grace}, percent_per_day: 10, cap_percent: 50{more}}}"
    text = FILES["course.yml"].replace("timezone: UTC", f"timezone: {zone}")
    text = text.replace("2027-03-07T23:59:00+00:00", deadline)
    text = text.replace("late_policy: {grace_days: 1, percent_per_day: 10, cap_percent: 50}", policy)
    (folder / "course.yml").write_text(text, "utf-8")
    return load_course(folder).assignment("lines")


@pytest.fixture
def due(tmp_path: Path) -> Callable[..., Assignment]:
    return lambda deadline, **how: assignment_due(tmp_path, deadline, **how)


def off(assignment: Assignment, moment: str) -> tuple[int | None, int]:
    """Days late and percent off."""
    late = lateness(assignment, datetime.fromisoformat(moment))
    assert late.percent.denominator == 1
    return late.days, int(late.percent)


# -- days


def test_a_day_of_grace_ends_at_the_same_time_of_the_clock_though_clocks_were_set_back(due: Any) -> None:
    work = due(CLOCKS_SET_BACK)
    assert off(work, "2024-11-03T00:00:00Z") == (0, 0)  # the deadline itself
    assert off(work, "2024-11-04T00:30:00Z") == (0, 0)  # 24.5 hours later
    assert off(work, "2024-11-04T01:00:00Z") == (0, 0)
    assert off(work, "2024-11-04T01:00:01Z") == (1, 10)
    assert off(work, "2024-11-05T01:00:00Z") == (1, 10)
    assert off(work, "2024-11-05T01:00:01Z") == (2, 20)


def test_a_day_is_shorter_where_clocks_are_set_forward(due: Any) -> None:
    work = due("2024-03-09T20:00:00", grace=0)
    assert off(work, "2024-03-11T00:00:00Z") == (1, 10)  # 23 hours later
    assert off(work, "2024-03-11T00:00:01Z") == (2, 20)


def test_a_leap_day_is_a_day(due: Any) -> None:
    assert off(due("2028-02-28T12:00:00Z", zone="UTC", grace=0), "2028-03-01T12:00:00Z") == (2, 20)
    assert off(due("2027-02-28T12:00:00Z", zone="UTC", grace=0), "2027-03-01T12:00:00Z") == (1, 10)


def test_one_second_is_a_started_day_and_a_fraction_of_one_is_none(due: Any) -> None:
    work = due("2027-03-07T23:59:00", zone="Europe/Berlin", grace=0)
    assert off(work, "2027-03-07T23:59:00.999999+01:00") == (0, 0)
    assert off(work, "2027-03-07T23:59:01+01:00") == (1, 10)
    assert off(work, "2027-03-08T04:29:01+05:30") == (1, 10)
    assert off(work, "2027-03-08T04:29:00+05:30") == (0, 0)


def test_days_cost_up_to_the_cap_and_the_sentence_says_all_of_it(due: Any) -> None:
    work = due(CLOCKS_SET_BACK)
    assert lateness(work, datetime(2024, 11, 3, 1, tzinfo=UTC)).sentence == (
        "handed in 2024-11-02 21:00:00 EDT, due 2024-11-02 20:00:00 EDT, with 1 day of grace: nothing is taken off"
    )
    assert lateness(work, datetime(2024, 11, 5, 3, tzinfo=UTC)).sentence == (
        "handed in 2024-11-04 22:00:00 EST, due 2024-11-02 20:00:00 EDT; 2 days late, after 1 day of grace: "
        "20 % of the points off"
    )
    capped = lateness(work, datetime(2025, 11, 5, 3, tzinfo=UTC))
    assert (capped.days, capped.percent) == (367, 50)
    assert capped.sentence.endswith("50 % of the points off, the most there is")


def test_a_student_may_have_a_deadline_of_their_own_or_none(due: Any) -> None:
    more = ", exemptions: {ana: 2024-11-05T20:00:00, 'Zoë B': waived}"
    work = due(CLOCKS_SET_BACK, more=more)
    late = datetime(2024, 11, 7, 1, 0, 1, tzinfo=UTC)
    assert lateness(work, late, "bo").percent == 40
    assert lateness(work, late, "ana").percent == 10
    assert lateness(work, late, "ana").sentence.startswith("handed in 2024-11-06 20:00:01 EST, due 2024-11-05 20:00")
    assert lateness(work, late, "Zoë B") == Late(0, sentence="lateness is waived")


def test_nobody_is_late_whose_time_is_not_known(due: Any) -> None:
    assert lateness(due(CLOCKS_SET_BACK), None) == UNKNOWN
    assert (UNKNOWN.days, UNKNOWN.percent) == (None, 0)


seconds = st.integers(-3 * 86400, 40 * 86400)
walls = st.datetimes(datetime(2005, 1, 1), datetime(2030, 1, 1)).map(lambda wall: wall.replace(microsecond=0))
changes = st.sampled_from(
    [
        ("America/New_York", datetime(2024, 11, 3, 1, 30)),  # comes twice
        ("America/New_York", datetime(2024, 3, 10, 2, 30)),  # does not exist
        ("Australia/Lord_Howe", datetime(2024, 4, 7, 1, 45)),  # half an hour
        ("Pacific/Apia", datetime(2011, 12, 30, 12, 0)),  # a day that was left out
    ]
)
near_changes = st.tuples(changes, st.integers(-10, 10)).map(lambda c: (c[0][0], c[0][1] - timedelta(days=c[1])))
places = st.tuples(st.sampled_from(ZONES), walls) | near_changes
policies = st.tuples(st.integers(0, 5), st.integers(0, 100), st.integers(0, 100))


def policy_of(numbers: tuple[int, int, int]) -> LatePolicy:
    grace, per_day, cap = numbers
    return LatePolicy(grace_days=grace, percent_per_day=Fraction(per_day, 3), cap_percent=Fraction(cap))


BASE = load_course(Path(__file__).parents[2]).assignment("week08")


def work_due(place: tuple[str, datetime], numbers: tuple[int, int, int]) -> Assignment:
    zone, wall = place
    deadline = wall.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC).astimezone(ZoneInfo(zone))
    return BASE.model_copy(update={"deadline": deadline, "late_policy": policy_of(numbers)})


def counted(deadline: datetime, moment: datetime) -> int:
    """Days started since the deadline, one after the other, on the clocks of its zone."""
    ends, day = deadline.timestamp(), 0
    while moment.timestamp() > ends:
        day += 1
        date = deadline.date() + timedelta(days=day)
        clock = time(deadline.hour, deadline.minute, deadline.second)
        both = [datetime.combine(date, clock, deadline.tzinfo).replace(fold=fold) for fold in (0, 1)]
        ends = max(end.timestamp() for end in both)
    return day


@settings(max_examples=300, deadline=None)
@given(places, policies, seconds)
def test_days_are_those_of_a_count_day_by_day(place: Any, numbers: Any, after: int) -> None:
    work = work_due(place, numbers)
    moment = datetime.fromtimestamp(work.deadline.timestamp() + after, UTC)
    late = lateness(work, moment)
    days = max(0, counted(work.deadline, moment) - work.late_policy.grace_days)
    assert late.days == days
    assert late.percent == min(days * work.late_policy.percent_per_day, work.late_policy.cap_percent)


@settings(max_examples=200, deadline=None)
@given(st.tuples(st.sampled_from(ZONES), walls), seconds)
def test_where_no_clock_is_changed_a_day_has_24_hours(place: Any, after: int) -> None:
    work = work_due(place, (0, 1, 100))
    moment = datetime.fromtimestamp(work.deadline.timestamp() + after, UTC)
    assume(len({(work.deadline + timedelta(days=day)).utcoffset() for day in range(-3, 42)}) == 1)
    assert lateness(work, moment).days == max(0, -(-after // 86400))


@settings(max_examples=200, deadline=None)
@given(places, policies, seconds, seconds)
def test_who_hands_in_later_never_gets_more(place: Any, numbers: Any, one: int, other: int) -> None:
    work = work_due(place, numbers)
    start = work.deadline.timestamp()
    first, second = (lateness(work, datetime.fromtimestamp(start + after, UTC)) for after in sorted((one, other)))
    assert 0 <= first.percent <= second.percent <= work.late_policy.cap_percent
    assert first.days <= second.days


@settings(max_examples=200, deadline=None)
@given(places, policies, seconds)
def test_a_day_more_of_grace_is_a_day_less_late(place: Any, numbers: Any, after: int) -> None:
    grace, *others = numbers
    work, kinder = work_due(place, numbers), work_due(place, (grace + 1, *others))
    moment = datetime.fromtimestamp(work.deadline.timestamp() + after, UTC)
    assert lateness(kinder, moment).days == max(0, lateness(work, moment).days - 1)


@settings(max_examples=100, deadline=None)
@given(places, policies, seconds, st.integers(-14 * 60, 14 * 60))
def test_the_offset_in_which_a_moment_is_written_changes_nothing(
    place: Any, numbers: Any, after: int, minutes: int
) -> None:
    work = work_due(place, numbers)
    moment = datetime.fromtimestamp(work.deadline.timestamp() + after, UTC)
    elsewhere = moment.astimezone(timezone(timedelta(minutes=minutes)))
    assert lateness(work, moment) == lateness(work, elsewhere)


# -- points


def receipt(**changed: Any) -> Receipt:
    checks = tuple(
        CheckResult(f"{name}::t", name, name, True, Fraction(of), "passed", Fraction(earned))
        for name, earned, of in (("slope", "10/3", 6), ("line", 4, 4))
    )
    fields: dict[str, Any] = {
        "course": "small", "assignment": "lines", "student": "ana", "name": None, "status": GRADED,
        "submission_hash": "a", "suite_hash": "b", "kit_version": "1", "seed": 1, "torch_version": "2",
        "isolation": "full", "graded_at": "2024-12-01T00:00:00+00:00", "seconds": 0.1, "checks": checks,
    }  # fmt: skip
    return Receipt(**fields | changed)


LATE = receipt(handed_in="2024-11-04T01:00:01+00:00")
BY_HAND = Adjustment("slope", Fraction(3), "oral exam", "Ada", "2024-12-02")


def test_a_percentage_of_what_was_earned_is_gone_and_nothing_is_rounded(due: Any) -> None:
    work = due(CLOCKS_SET_BACK)
    final = final_scores(LATE, [], work)
    assert (final.raw, final.points) == (Fraction(22, 3), Fraction(22, 3) * Fraction(9, 10))
    assert [score.points for score in final.exercises] == [Fraction(10, 3), 4]
    assert final_scores(LATE, [], work) == final  # asked twice, taken once


def test_what_a_person_gave_is_not_lowered_unless_the_policy_says_so(due: Any) -> None:
    assert final_scores(LATE, [BY_HAND], due(CLOCKS_SET_BACK)).points == 3 + Fraction(36, 10)
    strict = due(CLOCKS_SET_BACK, more=", manual_too: true")
    assert final_scores(LATE, [BY_HAND], strict).points == Fraction(63, 10)


def test_points_are_never_below_nothing() -> None:
    scores = (ExerciseScore("slope", Fraction(2), Fraction(6)), ExerciseScore("line", Fraction(0), Fraction(4)))
    assert Final(scores, Late(9, Fraction(100))).points == 0
    assert Final((), Late(9, Fraction(100))).points == 0


def test_what_was_graded_in_time_was_in_time(due: Any) -> None:
    """Nobody knows when it was handed in, but it was there already."""
    work = due(CLOCKS_SET_BACK)
    assert final_scores(receipt(graded_at="2024-11-03T23:00:00+00:00"), [], work).late.days == 0
    assert final_scores(receipt(graded_at="2024-11-05T23:00:00+00:00"), [], work).late == UNKNOWN


def test_nothing_handed_in_is_not_late(due: Any) -> None:
    assert final_scores(receipt(status=NOT_SUBMITTED), [], due(CLOCKS_SET_BACK)).late == Late(0)


def test_receipts_of_before_have_no_time() -> None:
    data = LATE.to_dict()
    for name in ("handed_in", "handed_in_remark", "kept_over"):
        del data[name]
    old = Receipt.from_dict(json.loads(json.dumps(data)))
    assert (old.handed_in, old.handed_in_remark, old.kept_over) == (None, "", "")


# -- when was it handed in?


def told(tmp_path: Path, times: dict[str, str], zone: ZoneInfo = NEW_YORK) -> dict[str, Submission]:
    """What a list of times says about submissions in folders."""
    for student in times:
        (tmp_path / "class" / student).mkdir(parents=True)
        (tmp_path / "class" / student / "slope.py").write_text("x = 1")
    lines = [f'{student},"{text}"' for student, text in times.items()]
    (tmp_path / "times.csv").write_text("\n".join(["student_id,handed_in", *lines]), "utf-8")
    found = collect([tmp_path / "class"], ["slope"], "lines", times=read_times(tmp_path / "times.csv", zone))
    return {submission.student: submission for submission in found}


def test_a_night_in_which_clocks_are_set_back_line_by_line(tmp_path: Path, due: Any) -> None:
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
    work = due(CLOCKS_SET_BACK)
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


# -- what people see


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
