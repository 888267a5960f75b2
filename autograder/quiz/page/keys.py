"""What a practice page needs to mark an item in the browser: its key, in the terms that students see, and its feedback.

`marking.js` reads it. Texts are compared as `quiz.reading` reads them, letters and numbers are those of `quiz.public`.
Lines of feedback are numbers of entries of `lines`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograder.quiz import reading
from autograder.quiz.bank import Bank
from autograder.quiz.formula import Value
from autograder.quiz.model import (
    AnyItem,
    Drawn,
    Match,
    Multiple,
    Number,
    Order,
    Output,
    ShortText,
    Single,
)
from autograder.quiz.public import LETTERS, displayed_lefts, displayed_options, displayed_rights, displayed_steps


def practice_key(bank: Bank, item: AnyItem) -> dict[str, Any]:
    """The key of a counted item as plain data."""
    lines = _Lines()
    key = _key(bank, item, lines)
    return {**key, "lines": lines.texts}


class _Lines:
    """Lines of feedback, each kept once."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def number(self, text: str) -> int:
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text)


def _key(bank: Bank, item: AnyItem, lines: _Lines) -> dict[str, Any]:
    match item:
        case Single() | Multiple():
            letters = _letters(displayed_options(item))
            options = [
                {"letter": letters[o.text], "key": o.key, "line": lines.number(o.feedback)} for o in item.options
            ]
            return {"options": options, "scoring": getattr(item, "scoring", "all_or_nothing")}
        case Drawn():
            draws = [
                {
                    "value": draw.value,
                    "tolerance": draw.tolerance,
                    "wrong": [[value, lines.number(wrong.feedback)] for value, wrong in draw.wrong],
                    "shown": shown_value(draw.value),
                }
                for draw in bank.draws(item)
            ]
            return {"draws": draws, "percent": isinstance(item, Number) and item.key.percent}
        case ShortText():
            case = item.key.case
            return {
                "case": case,
                "accept": [reading.text(text, case) for text in item.key.accept],
                "wrong": [[reading.text(each.text, case), lines.number(each.feedback)] for each in item.wrong],
            }
        case Order():
            letters = _letters(displayed_steps(item))
            return {
                "steps": [letters[step] for step in item.steps],
                "extra": [[letters[extra.text], lines.number(extra.feedback)] for extra in item.extra],
                "scoring": item.scoring,
                "line": lines.number(item.feedback),
            }
        case Match():
            rights = _letters(displayed_rights(item))
            numbers = {left: str(i) for i, left in enumerate(displayed_lefts(item), 1)}
            return {
                "pairs": [[numbers[pair.left], rights[pair.right]] for pair in item.pairs],
                "confusions": [[numbers[c.left], rights[c.right], lines.number(c.feedback)] for c in item.confusions],
            }
        case Output():
            wrong = [[reading.output(each.output), lines.number(each.feedback)] for each in item.wrong]
            return {"output": reading.output(item.key.output), "wrong": wrong}
    return {}


def answer_text(item: AnyItem) -> str:
    """The answer as a reader is told it, in Markdown; empty where it differs between students or never counts."""
    match item:
        case Single() | Multiple():
            return "; ".join(option.text for option in item.options if option.key)
        case ShortText():
            return " or ".join(item.key.accept)
        case Order():
            return " → ".join(item.steps)
        case Match():
            return "; ".join(f"{pair.left}: {pair.right}" for pair in item.pairs)
        case Output():
            return f"```\n{item.key.output.strip()}\n```"
    return ""


def shown_value(value: Value) -> str:
    """A number or a shape as a reader is told it."""
    if isinstance(value, list):
        return "[" + ", ".join(shown_value(part) for part in value) + "]"
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def _letters(texts: Sequence[str]) -> dict[str, str]:
    return dict(zip(texts, LETTERS, strict=False))
