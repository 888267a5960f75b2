"""Names under which learning platforms file a hand-in: who, when, and which file.

week08_s02_attempt_2025-03-03-17-00-00            a folder or a zip
week08_s02_attempt_2025-03-03-17-00-00_layer_norm.py
s02_2025-03-03-17-00-00_layer_norm.py
doejane_12345_678901_layer_norm.py                Canvas: name, its id, number of the upload; LATE_ before the id
Jane Doe_1234567_assignsubmission_file_           Moodle, a folder; with a file's name behind it where all lie in one
week08-janedoe                                    GitHub Classroom: a clone, by the name on GitHub
s02_layer_norm.py                                 only when a roster says that s02 is a student

With a roster the student is found by whatever it says of them: id, ids elsewhere, name. Without one, a student is
called as the platform does: doejane_12345, Jane Doe_1234567, janedoe.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from autograder.intake.names import match, shown
from autograder.intake.roster import Roster

_TIME = r"(?P<date>\d{4}-?\d\d-?\d\d)[-_T ]?(?P<clock>\d\d[-:.]?\d\d(?:[-:.]?\d\d)?)(?P<zone>Z?)"
_ATTEMPT = re.compile(rf"(?P<head>.+?)_attempt_{_TIME}(?:_(?P<file>.+))?", re.DOTALL | re.ASCII)
_TIMED_FILE = re.compile(rf"(?P<head>.+?)_{_TIME}_(?P<file>.+)", re.DOTALL | re.ASCII)
_CANVAS = re.compile(r"(?P<name>[^_]+)(?P<late>_LATE)?_(?P<id>\d{2,})_\d{3,}_(?P<file>.+)", re.DOTALL | re.ASCII)
_MOODLE = re.compile(
    r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*))?", re.DOTALL | re.ASCII
)
_PARENT_OF_CLONES = "submissions"
_LATE = "Canvas marks {} as late; when it was handed in is not in the name."


@dataclass(frozen=True)
class Filed:
    """What a name says. `file` is None for a folder or zip; `problem` is a sentence when it is about something else,
    `remark` one that changes nothing."""

    student: str
    attempt: str | None
    file: str | None
    problem: str | None = None
    remark: str | None = None


def parse(name: str, assignment: str, exercises: Sequence[str], roster: Roster | None = None) -> Filed | None:
    """Reads `name` (a zip's without its ending) as one of the forms above, else None.

    What stands first counts: platforms put it in front of the name that a student chose.
    """
    canvas = _from_canvas(name, roster)
    if canvas is not None:
        return canvas
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
    found = _from_moodle(name, roster) or _clone(name, assignment, roster)
    if found is not None or roster is None:
        return found
    return _named_by_roster(name, exercises, roster)


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


def _from_canvas(name: str, roster: Roster | None) -> Filed | None:
    found = _CANVAS.fullmatch(name)
    if found is None:
        return None
    student, problem = _person(found["name"], found["id"], roster)
    remark = _LATE.format(shown(found["file"])) if found["late"] else None
    return Filed(student, None, found["file"], problem, remark)


def _from_moodle(name: str, roster: Roster | None) -> Filed | None:
    found = _MOODLE.fullmatch(name)
    if found is None:
        return None
    student, problem = _person(found["name"], found["id"], roster)
    if found["kind"] != "file":
        problem = f"Text that was typed into Moodle ({found['kind']}) is not graded; hand in the Python files."
    return Filed(student, None, found["file"] or None, problem)


def _person(name: str, id: str, roster: Roster | None) -> tuple[str, str | None]:
    """The student with this number or else this name; where nobody can tell, the platform's label, and why."""
    label = f"{name}_{id}"
    if roster is None:
        return label, None
    student = roster.find(id)
    called = [student] if student is not None else roster.called(name)
    if len(called) == 1:
        return called[0], None
    if called:
        return label, f"{shown(name)} may be {' or '.join(called)}; add the platform's id {id} to the roster."
    return label, None


def _clone(name: str, assignment: str, roster: Roster | None) -> Filed | None:
    """A clone of a student's repository. Where the assignment has another name there, the roster has to know them."""
    at = len(assignment)
    if name[:at].casefold().replace("_", "-") == assignment.casefold().replace("_", "-") and name[at : at + 1] == "-":
        login = name[at + 1 :]
        known = roster.find(login) if roster is not None else None
        return Filed(known or login, None, None) if login and login != _PARENT_OF_CLONES else None
    borders = (at for at, character in enumerate(name) if character == "-" and at > 0)
    logins = (roster.by_login(name[at + 1 :]) for at in borders) if roster is not None else ()
    student = next(filter(None, logins), None)
    return Filed(student, None, None) if student is not None else None


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
