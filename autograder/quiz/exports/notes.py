"""What an export does in another way than the kit: for each question by code, and each code in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

VARIANTS = 8
"""Of a question with parameters so many variants are exported, the first ones of the bank."""

SENTENCES = {
    "variants": f"{VARIANTS} fixed variants, of which one is to be drawn for each student",
    "first_variant": "the first variant is printed; --student NAME prints the one of a student",
    "listed_spellings": "what is typed is compared with a list of spellings, letter by letter",
    "plain_numbers": "numbers are read as decimals with a point; fractions and percent are not read",
    "letters_for_order": "the order of the steps is typed as letters",
    "next_step_for_order": "for each step the one that follows is chosen; each neighbouring pair earns its share",
    "extra_steps_cost_nothing": "a chosen step that belongs nowhere earns nothing, but takes nothing away either",
    "part_of_all_or_nothing": "some of the keys earn a part, where the kit gives all or nothing",
    "no_part_elsewhere": "Canvas pays some of the keys in part, as the kit does; other readers of the file do not",
    "letter_case_ignored": "Canvas's classic quizzes do not tell capital from small letters",
    "feedback_in_one_text": "feedback on the named wrong answers stands in one text that names them",
    "table_for_picture": "the picture is a table of its values",
    "not_counted": "an open question is worth 0 points; its model answer is shown afterwards",
    "no_card": "no card: the question needs its choices, or is drawn for each student",
}

CHANGES_SCORES = (
    "listed_spellings",
    "plain_numbers",
    "extra_steps_cost_nothing",
    "part_of_all_or_nothing",
    "no_part_elsewhere",
    "letter_case_ignored",
)
"""Codes of what can change a score. An export that has none of them for a question marks it as the kit does."""


@dataclass(frozen=True)
class Note:
    """One way in which one question differs."""

    item: str
    code: str

    def __post_init__(self) -> None:
        if self.code not in SENTENCES:
            raise KeyError(self.code)


@dataclass(frozen=True)
class Export:
    """The files of an export by name, for how many questions or cards they are, and what is other in them."""

    files: Mapping[str, bytes] = field(repr=False)
    count: int
    what: str
    notes: tuple[Note, ...] = ()


def sentences(notes: Iterable[Note]) -> list[str]:
    """Each code that occurs once, with the number of questions it is about."""
    items: dict[str, set[str]] = {}
    for note in notes:
        items.setdefault(note.code, set()).add(note.item)
    return [f"{len(items[code])} x {sentence}" for code, sentence in SENTENCES.items() if code in items]
