"""How far a student is: `progress.json` beside the exercises, which stays with the student, and what it adds up to.

{"read": ["Week 8 §9"], "quiz": {"Week 8 §9": 4}, "checks": {"layer_norm": {"test_by_hand": true}},
 "hints": {"layer_norm": 2}}
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from selfcheck.plain import Layout
from selfcheck.questions import QuizTrouble, answered, chosen, courses, load_quiz
from selfcheck.answers_file import AnswersTrouble, load

PROGRESS = "progress.json"
EXERCISES = "selfcheck/exercises.json"

_KINDS = {"read": list, "quiz": dict, "checks": dict, "hints": dict}
_COUNTED = re.compile(r"Week \d+ §\d+")


def load_progress(folder: Path) -> tuple[dict[str, Any], str]:
    """What is recorded; nothing, and a sentence, where the file is damaged, which is then kept aside."""
    path = folder / PROGRESS
    try:
        found = json.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        return {}, ""
    except (OSError, ValueError, RecursionError):
        found = None
    if isinstance(found, dict) and all(isinstance(found.get(key, kind()), kind) for key, kind in _KINDS.items()):
        return found, ""
    names = [f"{path.stem}.damaged{count or ''}.json" for count in range(100)]
    aside = next((name for name in names if not (folder / name).exists()), names[-1])
    try:
        path.rename(folder / aside)
    except OSError as error:
        return {}, f"{PROGRESS} cannot be read, nor put aside ({error.strerror}); what you did before is not counted"
    return {}, f"{PROGRESS} could not be read; it is kept as {aside}, and the count begins anew"


def save_progress(folder: Path, progress: Mapping[str, Any]) -> str:
    """Write the record in one step; a sentence where that cannot be done."""
    path = folder / PROGRESS
    fresh = path.with_name(f".{PROGRESS}.new")
    try:
        fresh.write_text(json.dumps(progress, indent=1, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")
        os.replace(fresh, path)
    except OSError as error:
        return f"this is not counted: {PROGRESS} cannot be written ({error.strerror})"
    return ""


def record_quiz(folder: Path, counts: Mapping[str, int]) -> str:
    """Keep how many questions of each section are answered; a sentence where something is amiss."""
    return _record(folder, "quiz", {place: count for place, count in counts.items() if count})


def record_checks(folder: Path, results: Mapping[str, Mapping[str, bool]], totals: Mapping[str, int]) -> str:
    """Keep which public checks passed in the run that has just ended: exercise -> check -> passed. What an earlier run
    found stays for checks that were not run now. A sentence where something is amiss."""
    progress, damaged = load_progress(folder)
    kept = progress.setdefault("checks", {})
    for exercise, found in results.items():
        before = kept.get(exercise) if len(found) < totals[exercise] else None
        kept[exercise] = {**(before if isinstance(before, dict) else {}), **found}
    return damaged or save_progress(folder, progress)


def mark_read(folder: Path, wanted: Sequence[str], is_read: bool) -> str:
    """Record sections as read, or as not read; a sentence where something is amiss. Raises QuizTrouble."""
    quiz = load_quiz(folder)
    places = set(chosen(quiz, wanted))
    progress, damaged = load_progress(folder)
    before = set(_read_places(progress))
    after = before | places if is_read else before - places
    progress["read"] = [place for place in courses(quiz) if place in after]
    return save_progress(folder, progress) or damaged


def _record(folder: Path, key: str, value: object) -> str:
    progress, damaged = load_progress(folder)
    if progress.get(key) == value:
        return damaged
    return save_progress(folder, {**progress, key: value}) or damaged


def _read_places(progress: Mapping[str, Any]) -> list[str]:
    return [place for place in progress.get("read", ()) if isinstance(place, str)]


def report(folder: Path, layout: Layout) -> list[str]:
    """The lines that say how far a student is with the assignment of a folder. Raises QuizTrouble."""
    known = _exercises(folder)
    progress, damaged = load_progress(folder)
    lines = [known["assignment"]["title"], ""]
    try:
        lines += [*_sections(folder, progress, layout), ""]
    except QuizTrouble:
        pass  # an assignment without a quiz has no sections
    lines += _columns(_exercise_rows(known["exercises"], progress))
    return [*lines, "", damaged] if damaged else lines


def course_total(folders: Iterable[Path]) -> list[str]:
    """The line that says how much of the course is read, where its sections are counted. Raises QuizTrouble."""
    read, listed, total = set(), set(), 0
    for folder in folders:
        total = _exercises(folder)["course"]["total_sections"]
        try:
            places = courses(load_quiz(folder))
        except QuizTrouble:
            continue
        listed |= {place for place in places if _COUNTED.fullmatch(place)}
        read |= listed & set(_read_places(load_progress(folder)[0]))
    return [f"the course: {_share(len(read), total)} read"] if listed else []


def _exercises(folder: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads((folder / EXERCISES).read_text("utf-8"))
        _ = found["assignment"]["title"], found["course"]["total_sections"], dict(found["exercises"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise QuizTrouble(f"{EXERCISES} is missing or cannot be read; take it from a fresh copy") from None
    return found


def _sections(folder: Path, progress: Mapping[str, Any], layout: Layout) -> list[str]:
    quiz = load_quiz(folder)
    questions = courses(quiz)
    counts, remark = progress.get("quiz", {}), ""
    try:
        counts = answered(quiz, load(folder, quiz["assignment"]))
    except AnswersTrouble as error:
        remark = str(error)
    read = set(_read_places(progress))
    done = {place: count for place in questions if type(count := counts.get(place, 0)) is int}
    full = sum(done.get(place, 0) >= len(questions[place]) for place in questions)
    rows = [("section", "read", "answered")]
    rows += [
        (layout.spelled(place), "yes" if place in read else "-", f"{done.get(place, 0)} of {len(questions[place])}")
        for place in questions
    ]
    total = sum(map(len, questions.values()))
    return [
        f"read: {_share(len(read & set(questions)), len(questions))}",
        f"quiz: {sum(done.values())} of {total} questions answered, {full} of {len(questions)} sections complete",
        *([remark] if remark else []),
        "",
        *_columns(rows),
    ]


def _exercise_rows(exercises: Mapping[str, Any], progress: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    rows = [("exercise", "public checks", "hints")]
    for name, record in exercises.items():
        found, hints = progress.get("checks", {}).get(name), progress.get("hints", {}).get(name, 0)
        passed = sum(value is True for value in found.values()) if isinstance(found, dict) else None
        checks = "not run" if passed is None else f"{min(passed, record['public_checks'])} of {record['public_checks']}"
        rows.append((name, checks, str(hints) if type(hints) is int and hints else "-"))
    return rows


def _columns(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _share(count: int, total: int) -> str:
    return f"{count} of {total} sections ({100 * count // total} %)"
