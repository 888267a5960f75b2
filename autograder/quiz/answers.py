"""Answers files: what a student hands in of a quiz. Read strictly, kept as typed, and nothing in them is executed.

    {"format": "autograder-answers-1", "assignment": "week08", "student": "mira",
     "answers": {"ln_axis": "b", "ln_variance": "1.25"}, "versions": {"ln_axis": "1f0c77aa"}}

The same in YAML will do; `versions`, which the kit's own tools write, may be left out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.course import CourseError
from autograder.course.yaml_file import parse_yaml
from autograder.intake.names import shown
from autograder.quiz.answers_file import FORMAT
from autograder.quiz.errors import QuizError
from autograder.quiz.reading import LONGEST

LARGEST, LARGEST_YAML = 500_000, 100_000
"""Bytes of an answers file; a full one has a tenth of it, and YAML takes far longer to read."""

DEEPEST = 4
"""Levels in an answers file, of which two are its own."""

_FIELDS = {"format": str, "assignment": str, "student": str, "answers": dict, "versions": dict}


@dataclass(frozen=True)
class Answers:
    """One answers file. `student` is the name the questions were drawn for, which anybody may type."""

    student: str | None
    answers: Mapping[str, object]
    versions: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class HandedInAnswers:
    """The answers of one student, or the sentence that says why there are none; `is_missing`: there is no file.

    `is_own_name`: is the name the questions were drawn for known to be this student's?
    """

    student: str
    answers: Answers | None = None
    problem: str = ""
    name: str | None = None
    is_missing: bool = False
    is_own_name: bool = False
    data: bytes = field(default=b"", repr=False)


def read_answers(data: bytes, name: str, assignment: str) -> Answers:
    """The answers in a file. Raises QuizError with one sentence for whatever is wrong with it."""
    if len(data) > LARGEST:
        raise QuizError(f"{name} is larger than {LARGEST // 1000} kB; hand in the answers file only")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise QuizError(f"{name} is not UTF-8 text; export the answers again") from None
    found = _json(text, name) if text.lstrip().startswith("{") else _yaml(text, name)
    if _is_deeper(found, DEEPEST):
        raise QuizError(f"{name} is nested too deeply; export the answers again")
    if not isinstance(found, dict) or "answers" not in found:
        raise QuizError(f"{name} is no answers file: it must have `answers`, a mapping of question ids to answers")
    for key, value in found.items():
        if key not in _FIELDS:
            raise QuizError(f"{name}: `{_short(key)}` is not a field of an answers file; it has {', '.join(_FIELDS)}")
        if not isinstance(value, _FIELDS[key]) and not (key == "student" and value is None):
            raise QuizError(f"{name}: `{key}` must be {'a mapping' if _FIELDS[key] is dict else 'text'}")
    if found.get("format", FORMAT) != FORMAT:
        raise QuizError(f"{name} has the format {_short(found['format'])}; this kit reads {FORMAT}")
    if found.get("assignment", assignment) != assignment:
        raise QuizError(f"{name} answers the quiz of {_short(found['assignment'])}, not of {assignment}")
    student = found.get("student") or ""
    if len(student) > 200 or shown(student) != student:
        raise QuizError(f"{name}: `student` must be a name of at most 200 characters, all of them visible")
    return Answers(found.get("student"), found["answers"], found.get("versions", {}))


def _json(text: str, name: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
            raise QuizError(f"{name}: `{_short(twice)}` is answered twice; keep the answer that is meant")
        return found

    def refuse(constant: str) -> Any:
        raise QuizError(f"{name}: {constant} is not a number that can be marked; write one, or leave it out")

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise QuizError(
            f"{name}, line {error.lineno}: not valid JSON ({error.msg}); export the answers again"
        ) from None
    except RecursionError:
        raise QuizError(f"{name} is nested too deeply; export the answers again") from None
    except ValueError:
        raise QuizError(f"{name} holds a number of too many digits; write an ordinary one") from None


def _yaml(text: str, name: str) -> Any:
    if len(text) > LARGEST_YAML:
        raise QuizError(f"{name} is larger than {LARGEST_YAML // 1000} kB; export the answers as JSON")
    try:
        return parse_yaml(text, Path(name), long=True, aliases=False)
    except CourseError as error:
        first = error.problems[0] if error.problems else str(error)
        raise QuizError(f"{name}, {shown(first[:300])}") from None


def _is_deeper(value: object, levels: int) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    return levels == 0 or any(
        _is_deeper(part, levels - 1) for part in (value.values() if isinstance(value, dict) else value)
    )


def _short(value: object) -> str:
    text = shown(str(value)[: LONGEST + 1])
    return text if len(text) <= 40 else text[:37] + "..."
