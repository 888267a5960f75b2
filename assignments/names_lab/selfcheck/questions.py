"""The quiz of a folder, without keys: its sections, questions as text, and which answers can be read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from selfcheck.plain import Layout
from selfcheck.answers_file import Taken
from selfcheck.drawing import drawn, filled
from selfcheck.reading import LONGEST, Rewrite, is_empty, letters, matches, number, output, shape, text

QUIZ = "quiz/quiz.json"

Question = Mapping[str, Any]

HOW = {
    "single": "one letter",
    "multiple": "one letter or several",
    "number": "a number, such as 0.125 or 1/8",
    "shape": "a shape, such as [2, 2, 4]",
    "text": "a word or two",
    "order": "letters in their order",
    "match": "a letter for each number, such as 1a 2b",
    "output": "what it prints",
    "open": "a few sentences; you judge them yourself",
}
SCORING = {
    "all_or_nothing": "all or nothing",
    "right_minus_wrong": "a choice that does not belong takes one that does away",
    "exact": "all or nothing",
    "neighbours": "neighbours that belong together count",
}


class QuizTrouble(Exception):
    """There is no such quiz or section; the text says what to do."""


def load_quiz(folder: Path) -> dict[str, Any]:
    """The quiz of a student's folder. Raises QuizTrouble."""
    try:
        found: dict[str, Any] = json.loads((folder / QUIZ).read_text("utf-8"))
        courses(found)
    except FileNotFoundError:
        raise QuizTrouble(f"there is no {QUIZ} in this folder; it comes with the exercises") from None
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        raise QuizTrouble(f"{QUIZ} cannot be read; take it from a fresh copy") from None
    return found


def courses(quiz: Mapping[str, Any]) -> dict[str, list[Question]]:
    """Cited place of each section, in the order they are read -> its questions."""
    found: dict[str, list[Question]] = {}
    for section in quiz["sections"]:
        found.setdefault(section["course"], []).extend(section["items"])
    return found


def chosen(quiz: Mapping[str, Any], wanted: Sequence[str]) -> list[str]:
    """The places of sections that are asked for by number (`9`) or words (`layer norm`); all when none is.

    Raises:
        QuizTrouble: one is not there.
    """
    known = list(courses(quiz))
    if not wanted:
        return known
    found: set[str] = set()
    for each in wanted:
        plain_one = each.strip().casefold().removeprefix("§")
        hits = {s["course"] for s in quiz["sections"] if _is_meant(plain_one, s["course"], s["title"])}
        if not hits:
            raise QuizTrouble(f'"{each}" is no section of this quiz; it has {", ".join(known)}')
        found |= hits
    return [course for course in known if course in found]


def _is_meant(wanted: str, course: str, title: str) -> bool:
    if wanted.isdecimal():
        numbers = re.findall(r"\d+$", course)
        return bool(numbers) and int(numbers[0]) == int(wanted)
    return wanted != "" and (course.casefold() == wanted or wanted in title.casefold())


def is_answered(question: Question, taken: Taken) -> bool:
    """Was it answered, and has not changed since?"""
    version = taken.versions.get(question["id"], question["version"])
    return version == question["version"] and not is_empty(taken.answers.get(question["id"]))


def answered(quiz: Mapping[str, Any], taken: Taken) -> dict[str, int]:
    """Place of each section -> how many of its questions are answered."""
    return {course: sum(is_answered(q, taken) for q in questions) for course, questions in courses(quiz).items()}


def shown(question: Question, student: str, layout: Layout) -> list[str]:
    """The lines of a question, with the numbers that this student gets."""
    draws = question.get("draws")
    parameters = draws[drawn(student, question["id"], len(draws))] if draws else {}
    lines = layout.plain(filled(question["prompt"], parameters))
    if "code" in question:
        lines += ["", *layout.code(question["code"])]
    for field in ("options", "steps", "left", "right"):
        if field in question:
            lines.append("")
        for entry in question.get(field, ()):
            lines += layout.entry(f"{entry.get('letter') or entry['number']})", entry["text"])
    if "rubric" in question:
        lines += ["", "A good answer"]
        lines += [line for point in question["rubric"] for line in layout.entry("-", point)]
    return lines


def how(question: Question) -> str:
    """What is to be typed, and how it counts."""
    said = HOW[question["type"]] if question.get("unit") != "%" else "a number of percent, such as 12.5"
    if "count" in question:
        said = f"{question['count']} {said}"
    return f"{said} ({SCORING[question['scoring']]})" if "scoring" in question else said


def refuse_unreadable(question: Question, typed: str) -> None:
    """Raises Rewrite where an answer cannot be read, by the rule that answers are marked by."""
    kind = question["type"]
    if kind in ("single", "multiple", "order"):
        known = [entry["letter"] for entry in question.get("options") or question["steps"]]
        letters(typed, known, kind != "single", in_order=kind == "order")
    elif kind == "match":
        matches(typed, [e["number"] for e in question["left"]], [e["letter"] for e in question["right"]])
    elif kind == "open":
        if len(typed) > LONGEST:
            raise Rewrite(f"an answer of {len(typed)} characters is too long; {LONGEST} are enough")
    elif kind == "number":
        number(typed, percent=question.get("unit") == "%")
    else:
        readers: dict[str, Callable[[str], object]] = {"shape": shape, "text": text, "output": output}
        readers[kind](typed)


def may_be_answer(question: Question, letter: str) -> bool:
    """Could this letter by itself be an answer?"""
    if question["type"] in ("single", "multiple"):
        return any(option["letter"] == letter for option in question["options"])
    return may_be_typed(question)


def may_be_typed(question: Question) -> bool:
    """Is any text an answer?"""
    return question["type"] in ("text", "output", "open")
