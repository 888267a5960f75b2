"""Names under which learning platforms file a hand-in: who, when, and which file.

week08_s02_attempt_2025-03-03-17-00-00            a folder or a zip
week08_s02_attempt_2025-03-03-17-00-00_layer_norm.py
s02_2025-03-03-17-00-00_layer_norm.py
s02_layer_norm.py                                 only when a roster says that s02 is a student
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from autograder.intake.names import match, shown
from autograder.intake.roster import Roster

_TIME = r"(?P<date>\d{4}-?\d\d-?\d\d)[-_T ]?(?P<clock>\d\d[-:.]?\d\d(?:[-:.]?\d\d)?)(?P<zone>Z?)"
_ATTEMPT = re.compile(rf"(?P<head>.+)_attempt_{_TIME}(?:_(?P<file>.+))?", re.DOTALL | re.ASCII)
_TIMED_FILE = re.compile(rf"(?P<head>.+?)_{_TIME}_(?P<file>.+)", re.DOTALL | re.ASCII)


@dataclass(frozen=True)
class Filed:
    """What a name says. `file` is None for a folder or zip; `problem` is a sentence when it is about something else."""

    student: str
    attempt: str | None
    file: str | None
    problem: str | None = None


def parse(name: str, assignment: str, exercises: Sequence[str], roster: Roster | None = None) -> Filed | None:
    """Reads `name` (a zip's without its ending) as one of the forms above, else None."""
    attempt = _ATTEMPT.fullmatch(name)
    if attempt is not None:
        time = _time(attempt)
        if time is not None:
            return _with_assignment(attempt["head"], time, attempt["file"], assignment, roster)
    timed = _TIMED_FILE.fullmatch(name)
    if timed is not None:
        time = _time(timed)
        if time is not None:
            return Filed(timed["head"], time, timed["file"])
    return _named_by_roster(name, exercises, roster) if roster is not None else None


def _with_assignment(head: str, time: str, file: str | None, assignment: str, roster: Roster | None) -> Filed:
    if head.startswith(f"{assignment}_"):
        return Filed(head.removeprefix(f"{assignment}_"), time, file)
    student = head if roster is None else roster.find(head) or _ends_with_student(head, roster)
    if student == head and roster is not None:
        return Filed(student, time, file)
    problem = f"The name {shown(head)}_attempt_... does not start with {assignment}_; is it for another assignment?"
    return Filed(student or head, time, file, problem)


def _ends_with_student(head: str, roster: Roster) -> str | None:
    return max((student for student in roster if head.endswith(f"_{student}")), key=len, default=None)


def _named_by_roster(name: str, exercises: Sequence[str], roster: Roster) -> Filed | None:
    """The longest id that `name` starts with, when an exercise file follows it."""
    borders = (at for at in range(len(name) - 1, 0, -1) if name[at] == "_")
    for at in borders:
        student = roster.find(name[:at])
        if student is not None and match(name[at + 1 :], exercises) is not None:
            return Filed(student, None, name[at + 1 :])
    return None


def _time(found: re.Match[str]) -> str | None:
    """The time in ISO form, or None when there is no such time."""
    digits = re.sub(r"\D", "", found["date"] + found["clock"]).ljust(14, "0")
    try:
        return datetime.strptime(digits, "%Y%m%d%H%M%S").isoformat() + found["zone"]
    except ValueError:
        return None
