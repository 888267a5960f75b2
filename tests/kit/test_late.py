"""Lateness: days of the calendar in the course's time zone, and what they cost."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta, timezone
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lateness_course import CLOCKS_SET_BACK, assignment_due, receipt

from autograder.course import Assignment, LatePolicy, load_course
from autograder.grading.final import Final, final_scores
from autograder.grading.late import UNKNOWN, Late, lateness
from autograder.grading.receipt import NOT_SUBMITTED, Receipt
from autograder.grading.score import ExerciseScore
from autograder.grading.store import Adjustment

ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"]


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
