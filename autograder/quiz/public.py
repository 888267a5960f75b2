"""What students get of a quiz: plain data made by naming each field that may leave, so that no key can.

Options, steps and right sides stand in an order that is made from a hash of their texts. It is the same for everybody,
and says nothing about the key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from autograder.course.points import shown
from autograder.quiz.bank import Bank, Group
from autograder.quiz.model import AnyItem, Drawn, Match, Multiple, Number, Open, Order, Output, Single

FORMAT = "autograder-quiz-1"
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def public_quiz(bank: Bank) -> dict[str, Any]:
    """The whole quiz as students get it."""
    return {
        "format": FORMAT,
        "assignment": bank.assignment,
        "title": bank.title,
        "sections": [_public_group(bank, group) for group in bank.groups],
    }


def _public_group(bank: Bank, group: Group) -> dict[str, Any]:
    return {
        "course": group.course,
        "title": group.title,
        "unit": group.unit,
        "optional": group.optional,
        "items": [public_item(bank, item) for item in group.items],
    }


def public_item(bank: Bank, item: AnyItem) -> dict[str, Any]:
    """One question as students get it, with a `version` that changes when anything of it does."""
    found: dict[str, Any] = {"id": item.id, "type": item.type, "prompt": item.prompt.strip()}
    found["points"] = shown(item.points) if item.counted else "0"
    if item.optional:
        found["optional"] = True
    if item.course:
        found["course"] = item.course
    if isinstance(item, (Single, Multiple)):
        found["options"] = [{"letter": LETTERS[i], "text": text} for i, text in enumerate(displayed_options(item))]
    if isinstance(item, (Multiple, Order)):
        found["scoring"] = item.scoring
    if isinstance(item, Drawn) and item.parameters:
        found["draws"] = [dict(draw.parameters) for draw in bank.draws(item)]
    if isinstance(item, Number) and item.key.percent:
        found["unit"] = "%"
    if isinstance(item, Order):
        found["steps"] = [{"letter": LETTERS[i], "text": text} for i, text in enumerate(displayed_steps(item))]
        found["count"] = len(item.steps)
    if isinstance(item, Match):
        found["left"] = [{"number": str(i), "text": text} for i, text in enumerate(displayed_lefts(item), 1)]
        found["right"] = [{"letter": LETTERS[i], "text": text} for i, text in enumerate(displayed_rights(item))]
    if isinstance(item, Output):
        found["code"] = item.code.strip("\n")
    if isinstance(item, Open):
        found["rubric"] = list(item.rubric)
    digest = hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()
    return {**found, "version": digest[:8]}


def displayed_options(item: Single | Multiple) -> list[str]:
    """Texts of the options in the order of their letters."""
    return shuffled(item.id, [option.text for option in item.options])


def displayed_steps(item: Order) -> list[str]:
    """Texts of the steps, and of those that belong nowhere, in the order of their letters; never the right order."""
    texts = shuffled(item.id, [*item.steps, *(extra.text for extra in item.extra)])
    return texts[1:] + texts[:1] if texts == list(item.steps) else texts


def displayed_lefts(item: Match) -> list[str]:
    """Left sides in the order of their numbers, from 1."""
    return shuffled(f"{item.id} left", [pair.left for pair in item.pairs])


def displayed_rights(item: Match) -> list[str]:
    """Right sides in the order of their letters."""
    return shuffled(f"{item.id} right", item.rights)


def shuffled(item: str, texts: Sequence[str]) -> list[str]:
    """The texts in an order that depends on them and the item only."""
    return list(_shuffled(item, tuple(texts)))


@lru_cache(maxsize=10_000)
def _shuffled(item: str, texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(texts, key=lambda text: hashlib.sha256(f"{item}\n{text}".encode()).digest()))
