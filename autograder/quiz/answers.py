"""Answers files: what a student hands in of a quiz. Read strictly, kept as typed, and nothing in them is executed.

    {"format": "autograder-answers-1", "assignment": "week08", "student": "mira",
     "answers": {"ln_axis": "b", "ln_variance": "1.25"}, "versions": {"ln_axis": "1f0c77aa"}}

The same in YAML will do; `versions`, which the kit's own tools write, may be left out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.course import CourseError
from autograder.course.yaml_file import parse_yaml
from autograder.intake import nbgrader
from autograder.intake.files import FolderTree, Refused, kind_of, mode_of, read_file
from autograder.intake.names import is_junk, shown
from autograder.intake.roster import Roster
from autograder.quiz.answers_file import FORMAT, NAME
from autograder.quiz.errors import QuizError
from autograder.quiz.reading import LONGEST

NAMES = (NAME, "quiz_answers.yml", "quiz_answers.yaml")
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
    """The answers of one student, or the sentence that says why there are none; `is_missing`: there is no file."""

    student: str
    answers: Answers | None = None
    problem: str = ""
    name: str | None = None
    is_missing: bool = False
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


def find_answers(paths: Sequence[Path], assignment: str) -> list[HandedInAnswers]:
    """One row per student, sorted: from answers files named after their students, folders that hold one, or folders of
    either, nbgrader's too. Raises QuizError for a path that does not exist; nothing that is handed in raises."""
    found: dict[str, list[tuple[Path, str]]] = {}
    for path in paths:
        if not path.exists():
            raise QuizError(f"{path} does not exist; give answers files, or folders that hold them")
        for student, file, problem in _below(path, assignment):
            found.setdefault(student, []).append((file, problem))
    return [_one(student, files, assignment) for student, files in sorted(found.items())]


def by_roster(found: Sequence[HandedInAnswers], roster: Roster) -> tuple[list[HandedInAnswers], list[HandedInAnswers]]:
    """Exactly one row for everybody in the roster, and what was handed in under other names."""
    rows: dict[str, HandedInAnswers] = {}
    strangers = []
    for one in found:
        student = roster.find(one.student)
        if student is None:
            similar = roster.similar(one.student)
            guess = f"if it is {similar}'s, rename it" if similar else "correct the name or the roster"
            strangers.append(replace(one, answers=None, problem=f"{one.student} is not in the roster; {guess}"))
        elif student in rows:
            rows[student] = HandedInAnswers(student, problem=f"two answers files are named after {student}; keep one")
        else:
            rows[student] = one
    for student in roster:
        rows.setdefault(student, HandedInAnswers(student, problem="nothing was handed in", is_missing=True))
    return [replace(rows[s], student=s, name=roster.students[s]) for s in sorted(rows)], strangers


def _below(path: Path, assignment: str) -> list[tuple[str, Path, str]]:
    """Student, file and problem of each hand-in at a path."""
    if not path.is_dir():
        student = path.resolve().parent.name if path.name in NAMES else path.stem
        return [(shown(student), path, _archived(path))]
    if mine := _answers_in(path) or _answers_in(path / assignment):
        return [(shown(path.resolve().name), file, "") for file in mine]
    rows = []
    for child in _class_in(path, assignment):
        student = shown(child.name if child.is_dir() else child.stem)
        if child.is_symlink():
            rows.append((student, child, f"{shown(child.name)} is a symbolic link; hand in the file itself"))
        elif child.is_dir():
            mine, problem = _answers_of(child, assignment)
            rows += [(student, file, "") for file in mine] or [(student, child, problem)]
        elif child.suffix.lower() in (".json", ".yml", ".yaml", ".zip"):
            rows.append((student, child, _archived(child)))
    return rows


def _archived(path: Path) -> str:
    """What is wrong with a file that is an archive."""
    is_one = path.suffix.lower() == ".zip"
    return f"{shown(path.name)} is an archive; unpack it to a folder of the same name" if is_one else ""


def _class_in(folder: Path, assignment: str) -> list[Path]:
    """What lies in a folder, sorted; in place of nbgrader's folder what lies in that."""
    is_nbgraders = nbgrader.holds_students(FolderTree(folder.resolve()), nbgrader.FOLDER, assignment)
    found = [path for path in folder.iterdir() if not (is_nbgraders and path.name == nbgrader.FOLDER)]
    found += (folder / nbgrader.FOLDER).iterdir() if is_nbgraders else []
    return sorted(path for path in found if not is_junk(path.name))


def _answers_of(folder: Path, assignment: str) -> tuple[list[Path], str]:
    """A student's answers files: in the folder, in that of the assignment in it, or in the only other one that has any.
    Or why there are none."""
    if mine := _answers_in(folder) or _answers_in(folder / assignment):
        return mine, ""
    try:
        inside = [entry.name for entry in FolderTree(folder).children("") if entry.kind == "folder"]
    except Refused as refusal:
        return [], str(refusal).rstrip(".")
    others = [name for name in inside if _answers_in(folder / name)]
    if len(others) == 1 and assignment not in inside:
        return _answers_in(folder / others[0]), ""
    where = shown(f"{folder.name}/{assignment}" if assignment in inside else folder.name)
    elsewhere = " and ".join(shown(f"{folder.name}/{name}") for name in others[:3])
    hint = f" (but in {elsewhere})" if others else ""
    return [], f"nothing was answered: there is no {NAMES[0]} in {where}{hint}"


def _answers_in(folder: Path) -> list[Path]:
    return [folder / name for name in NAMES if mode_of(folder / name)]


def _one(student: str, files: list[tuple[Path, str]], assignment: str) -> HandedInAnswers:
    if len(files) > 1:
        names = " and ".join(shown("/".join(path.parts[-2:])) for path, _ in files)
        return HandedInAnswers(student, problem=f"{len(files)} answers files were found ({names}); keep the one meant")
    path, problem = files[0]
    if problem:
        return HandedInAnswers(student, problem=problem, is_missing=path.is_dir() and not path.is_symlink())
    data = b""
    try:
        data = read_file(path, LARGEST)
        return HandedInAnswers(student, read_answers(data, shown(path.name), assignment), data=data)
    except Refused as refusal:
        if not mode_of(path):
            return HandedInAnswers(student, problem=f"{shown(path.name)} is {kind_of(0)}")
        return HandedInAnswers(student, problem=str(refusal).rstrip("."))
    except QuizError as error:
        return HandedInAnswers(student, problem=str(error), data=data)


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
