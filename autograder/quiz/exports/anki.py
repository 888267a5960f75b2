"""Flash cards for Anki: those of the bank, and one for each question that can be asked without choices.

Notes are known by their ids, so that a second import changes the notes that were edited, and no schedule is lost.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import genanki

from autograder.course.archive import zipped
from autograder.quiz.bank import Bank, Group
from autograder.quiz.errors import QuizError
from autograder.quiz.exports.dates import Dated, dated
from autograder.quiz.exports.forms import Essay, Numeric, Question, left_out, questions, rounded
from autograder.quiz.exports.markup import html, line, refuse_control_characters
from autograder.quiz.exports.notes import Export, Note
from autograder.quiz.model import Order, Output, Shape, ShortText
from autograder.quiz.public import displayed_steps

MODEL = 1_749_201_638
"""Anki's number of our kind of note. With another one every note would be new."""

_FIELDS = ("Id", "Front", "Back", "Course")
_STYLE = """\
.card { font-family: sans-serif; font-size: 1.2em; text-align: left; max-width: 40em; margin: 0 auto; }
.course { color: gray; font-size: 0.7em; }
pre, code { font-family: monospace; }
table { border-collapse: collapse; } th, td { padding: 0.1em 0.5em; }
"""


@dataclass(frozen=True)
class Flashcard:
    """Front, back and place in HTML; `deck` is one of the two decks of an assignment."""

    id: str
    front: str
    back: str
    course: str
    deck: str


class _Dated(genanki.Note):  # type: ignore[misc]  # ships no types
    """A note with a time of its own; the library gives all notes of a file the same."""

    def __init__(self, changed: int, **fields: Any) -> None:
        super().__init__(**fields)
        self._changed = changed

    def write_to_db(self, cursor: Any, timestamp: float, deck_id: int, id_gen: Iterator[int]) -> None:
        super().write_to_db(cursor, self._changed, deck_id, id_gen)


def anki(bank: Bank, course: str, before: Mapping[str, Dated], now: int) -> tuple[Export, dict[str, Dated]]:
    """The package of decks, and the record of when each card changed. `course` is the course's id.

    Raises QuizError where there is nothing to learn by cards, or for text that cannot be exported.
    """
    cards: list[Flashcard] = []
    notes: list[Note] = []
    for group in bank.groups:
        cards += _of_bank(group)
        for item in group.items:
            found = list(_of_item(questions(bank, group, item), group))
            cards += found
            notes += [] if found else [Note(item.id, "no_card")]
    if not cards:
        raise QuizError(f"{bank.assignment} has no cards, and no question that makes one")
    record = dated({card.id: (card.front, card.back, card.course, card.deck) for card in cards}, before, now)
    data = _package(bank, course, cards, record)
    return Export({f"{bank.assignment}.apkg": data}, len(cards), "cards", tuple(notes)), record


def _of_bank(group: Group) -> Iterator[Flashcard]:
    for card in group.cards:
        refuse_control_characters(card.id, card.model_dump())
        yield Flashcard(card.id, html(card.front), html(card.back), card.course, "Cards")


def _of_item(variants: list[Question], group: Group) -> Iterator[Flashcard]:
    """A card where there is one variant, and the question says all that is needed."""
    question, item = variants[0], variants[0].item
    if len(variants) > 1 or not (back := _answer(question)):
        return
    asked = html(item.prompt if isinstance(item, Shape) else question.ask)
    if isinstance(item, Order):
        listed = "\n".join(f"- {step}" for step in displayed_steps(item))
        asked = html(f"{item.prompt.strip()}{left_out(item)}\n\n{listed}")
    told = "" if isinstance(question.form, Essay) else html(item.why)
    yield Flashcard(item.id, question.pictures + asked, back + told, item.course or group.course, "Questions")


def _answer(question: Question) -> str:
    item, form = question.item, question.form
    if isinstance(item, ShortText):
        return f"<p><b>{escape(item.key.accept[0], quote=False)}</b></p>"
    if isinstance(item, Output):
        return f"<pre>{escape(item.key.output.strip(), quote=False)}</pre>"
    if isinstance(item, Order):
        return html("\n".join(f"1. {step}" for step in item.steps))
    if isinstance(item, Shape) and question.draw:
        return html(f"`{question.draw.value}`")
    if isinstance(form, Numeric):
        return html(f"**{rounded(form.key.value)}**")
    return html(form.model) if isinstance(form, Essay) else ""


def _package(bank: Bank, course: str, cards: list[Flashcard], record: Mapping[str, Dated]) -> bytes:
    model = genanki.Model(
        MODEL,
        "Course card",
        fields=[{"name": name} for name in _FIELDS],
        templates=[
            {
                "name": "Card",
                "qfmt": '{{Front}}<p class="course">{{Course}}</p>',
                "afmt": '{{Front}}<hr id="answer">{{Back}}<p class="course">{{Course}}</p>',
            }
        ],
        css=_STYLE,
    )
    decks: dict[str, genanki.Deck] = {}
    for card in cards:
        name = f"{bank.title.replace('::', ':')}::{card.deck}"
        deck = decks.setdefault(card.deck, genanki.Deck(_deck_id(course, bank.assignment, card.deck), name))
        fields = [card.id, card.front, card.back, line(card.course)]
        tag = "_".join(card.course.split())
        guid = genanki.guid_for(course, card.id)
        deck.add_note(_Dated(record[card.id].changed, model=model, fields=fields, guid=guid, tags=[tag]))
    buffer = io.BytesIO()
    genanki.Package(list(decks.values())).write_to_file(buffer, max(entry.changed for entry in record.values()))
    with zipfile.ZipFile(buffer) as archive:
        return zipped({name: archive.read(name) for name in archive.namelist()})


def _deck_id(*names: str) -> int:
    return 2**30 + int.from_bytes(hashlib.sha256("/".join(names).encode()).digest()[:4], "big") % 2**30
