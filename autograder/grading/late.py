"""How late a submission is, and what that costs: days of the calendar, not spans of 24 hours.

A day ends when the clocks of the course show the deadline's time again, also where they were changed meanwhile. What
came at the deadline itself is in time, one second later a day has begun. Nothing of this is stored: it follows from
when something was handed in and from the policy of `course.yml`. So a changed policy needs no regrade, and no penalty
is taken twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from autograder.course import Assignment
from autograder.course.moments import guesses
from autograder.grading.receipt import shown

ON_TIME = Fraction(0)


@dataclass(frozen=True)
class Late:
    """How late something came: `days` started after all grace (None: nobody knows), `percent` of the points that were
    earned to be taken off, and a sentence about that which the student may read ("" where there is nothing to say).
    """

    days: int | None
    percent: Fraction = ON_TIME
    sentence: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, percent as text."""
        return {"days": self.days, "percent": str(self.percent), "sentence": self.sentence}


UNKNOWN = Late(None, ON_TIME, "when it was handed in is not known; nothing is taken off")


def deadline_of(assignment: Assignment, student: str) -> datetime | None:
    """The student's own deadline, or everybody's; None where nothing of this student is late."""
    return assignment.late_policy.exemptions.get(student, assignment.deadline)


def lateness(assignment: Assignment, handed_in: datetime | None, student: str = "") -> Late:
    """How late a student handed in. `handed_in` has a time zone, any; fractions of a second do not count."""
    policy, deadline = assignment.late_policy, deadline_of(assignment, student)
    if deadline is None:
        return Late(0, sentence="lateness is waived")
    if handed_in is None:
        return UNKNOWN
    moment = handed_in.astimezone(UTC).replace(microsecond=0)
    if moment <= _after(deadline, 0):
        return Late(0)
    came = f"handed in {_read(moment.astimezone(deadline.tzinfo))}, due {_read(deadline)}"
    days = max(0, _started(deadline, moment) - policy.grace_days)
    grace = _days(policy.grace_days)
    if days == 0:
        return Late(0, sentence=f"{came}, with {grace} of grace: nothing is taken off")
    percent = min(days * policy.percent_per_day, policy.cap_percent)
    after = f", after {grace} of grace" if policy.grace_days else ""
    most = ", the most there is" if days * policy.percent_per_day > percent else ""
    return Late(days, percent, f"{came}; {_days(days)} late{after}: {shown(percent)} % of the points off{most}")


def _started(deadline: datetime, moment: datetime) -> int:
    """How many days have started since the deadline: as many as had to end to include the moment (UTC)."""
    days = max(0, (moment.astimezone(deadline.tzinfo).date() - deadline.date()).days - 2)
    while moment > _after(deadline, days):
        days += 1
    return days


def _after(deadline: datetime, days: int) -> datetime:
    """The last moment (UTC) at which clocks show the time of the deadline, so many days later."""
    if days == 0:
        return deadline.astimezone(UTC)
    wall = deadline.replace(tzinfo=None, fold=0) + timedelta(days=days)
    return guesses(wall, deadline.tzinfo or UTC)[1]


def _read(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S %Z}"


def _days(count: int) -> str:
    return "1 day" if count == 1 else f"{count} days"
