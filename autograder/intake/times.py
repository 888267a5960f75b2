"""When a submission was handed in: from a list, from the name it was filed under, or nobody knows.

Never from the file system, whose times change whenever somebody copies a folder or unpacks a zip, and from no file of
the submission, which the student can write. A time without a time zone is one of the course's clocks. Whatever is
unclear is decided for the student and told to the instructor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from autograder.course.moments import guesses, readings
from autograder.intake.names import shown
from autograder.intake.roster import plain, read_columns
from autograder.intake.submission import IntakeError, Submission

COLUMN = "handed_in"
EXAMPLE = "2027-03-07T23:59:00+01:00"
SKEW = timedelta(minutes=10)
"""So much the clocks of two machines may differ."""

_DAY_AND_TIME = re.compile(r"\d{4}-?\d\d-?\d\d[T ]\d\d")
_OFFSET = re.compile(r"Z|[+-]\d\d:?\d\d")


@dataclass(frozen=True)
class HandInTimes:
    """What is known about when things were handed in. `listed` are the texts of a list called `source`, by student."""

    zone: ZoneInfo
    listed: Mapping[str, str] | None = None
    source: str = ""
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def of(self, submission: Submission) -> dict[str, Any]:
        """The fields of a submission that say when it was handed in. The list goes before the name."""
        text = (self.listed or {}).get(plain(submission.student))
        if text is not None:
            return self._read(text, f" in {self.source}")
        if submission.attempt is not None:
            return self._read(submission.attempt, "")
        return _unknown("" if self.listed is None else f"{self.source} does not name this student")

    def _read(self, text: str, where: str) -> dict[str, Any]:
        if not text:
            return _unknown(f"the time{where} is empty")
        told = f'"{shown(text[:60])}"{where}'
        try:
            wall, zone = _parsed(text)
        except ValueError:
            return _unknown(f"{told} is no date and time such as {EXAMPLE}")
        moment, remark = _moment(wall, zone or self.zone)
        if moment > self.now + SKEW:
            return _unknown(f"{told} is in the future")
        if zone is None and wall.tzinfo is None:
            remark = f"has no time zone, it was read on the clocks of {self.zone}{remark}"
        elif remark:
            remark = f"is not clear{remark}"
        return {
            "handed_in": moment.astimezone(self.zone).isoformat(timespec="seconds"),
            "handed_in_remark": f"{told} {remark}" if remark else "",
        }


def read_times(path: Path, zone: ZoneInfo) -> HandInTimes:
    """Reads a CSV with the columns `student_id` and `handed_in`.

    Raises `IntakeError` for a file that is no such list. A time that cannot be read is no error: it is not known.
    """
    rows = read_columns(path, "list of times")
    if any(COLUMN not in fields for fields in rows.values()):
        raise IntakeError(f"{path.name} needs a column {COLUMN} with times such as {EXAMPLE}.")
    return HandInTimes(zone, {plain(student): fields[COLUMN] for student, fields in rows.items()}, shown(path.name))


def _unknown(remark: str) -> dict[str, Any]:
    return {"handed_in": None, "handed_in_remark": remark}


def _parsed(text: str) -> tuple[datetime, ZoneInfo | None]:
    """ISO 8601, which may be followed by a blank and an offset or the name of a zone. Raises ValueError."""
    if not _DAY_AND_TIME.match(text):
        raise ValueError(text)
    head, _, last = text.rpartition(" ")
    zone = _zone(last) if last[:1].isalpha() and last != "Z" else None
    text = head if zone else head + last if _OFFSET.fullmatch(last) else text
    moment = datetime.fromisoformat(text)
    if not 1970 <= moment.year < 3000:
        raise ValueError(text)
    return moment, zone


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, OSError):
        raise ValueError(name) from None


def _moment(wall: datetime, zone: ZoneInfo) -> tuple[datetime, str]:
    """The moment, in UTC; where clocks show that time twice, or never, the earliest, and a remark."""
    if wall.tzinfo is not None:
        return wall.astimezone(UTC), ""
    how_often = len(readings(wall, zone))
    if how_often == 1:
        return guesses(wall, zone)[0], ""
    often = "twice" if how_often else "never"
    return guesses(wall, zone)[0], f"; clocks showed it {often} that day, the earliest moment counts"
