"""The answers file as students' own tools write it and read it again. Students get this file as well.

What is handed in may come from anywhere; `quiz.answers` reads that, and trusts nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

FORMAT = "autograder-answers-1"
NAME = "quiz_answers.json"


class AnswersTrouble(Exception):
    """The file cannot be read or written; the text says what to do."""


@dataclass
class Taken:
    """What was answered so far: the name that questions are drawn for, answers as typed, versions of the questions."""

    assignment: str
    student: str | None = None
    answers: dict[str, object] = field(default_factory=dict)
    versions: dict[str, object] = field(default_factory=dict)


def written(assignment: str, student: str | None, answers: Mapping[str, object], versions: Mapping[str, object]) -> str:
    """An answers file as text."""
    data = {"format": FORMAT, "assignment": assignment, "student": student, "answers": answers, "versions": versions}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def load(folder: Path, assignment: str) -> Taken:
    """The answers in a folder; none where there is no file. Raises AnswersTrouble."""
    path = folder / NAME
    try:
        found = json.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        return Taken(assignment)
    except (OSError, ValueError, RecursionError):
        found = None
    cure = "rename it to begin anew; what it holds is not lost"
    told = {"format": FORMAT, "assignment": assignment}
    if not isinstance(found, dict) or any(found.get(key, value) != value for key, value in told.items()):
        raise AnswersTrouble(f"{NAME} cannot be read as answers to the quiz of {assignment}; {cure}")
    student, answers, versions = found.get("student"), found.get("answers"), found.get("versions", {})
    if not isinstance(answers, dict) or not isinstance(versions, dict) or not isinstance(student, (str, type(None))):
        raise AnswersTrouble(f"{NAME} has a field of the wrong kind; {cure}")
    return Taken(assignment, student, answers, versions)


def save(folder: Path, taken: Taken) -> None:
    """Write the file in one step. Raises AnswersTrouble."""
    path = folder / NAME
    fresh = path.with_name(f".{NAME}.new")
    try:
        fresh.write_text(written(taken.assignment, taken.student, taken.answers, taken.versions), "utf-8")
        os.replace(fresh, path)
    except OSError as error:
        raise AnswersTrouble(f"nothing more can be saved: {NAME} cannot be written ({error.strerror})") from None
