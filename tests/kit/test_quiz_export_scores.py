"""Files for Canvas and Moodle score answers as the marker does, and differ exactly where the export says so.

Fifty answer sets for each whole bank: keys, named wrong answers, parts, other spellings, nonsense, nothing. Each is
marked by the kit, and scored by `quiz_scorers` from the exported file alone.
"""

from __future__ import annotations

import html
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count, pairwise
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import pytest
from quiz_formats import canvas_items, faults_of_canvas, faults_of_moodle, moodle_questions
from quiz_scorers import Response, by_canvas, by_conditions, by_moodle

from autograder.course import CourseFiles, load_course
from autograder.quiz.bank import Bank, load_bank
from autograder.quiz.drawing import drawn
from autograder.quiz.exports.canvas import canvas
from autograder.quiz.exports.moodle import moodle
from autograder.quiz.exports.notes import CHANGES_SCORES
from autograder.quiz.marking import mark
from autograder.quiz.model import (
    AnyItem,
    Drawn,
    Match,
    Multiple,
    Number,
    Open,
    Order,
    Output,
    Shape,
    ShortText,
    Single,
)
from autograder.quiz.public import LETTERS, displayed_lefts, displayed_options, displayed_rights, displayed_steps

ROOT = Path(__file__).parents[2]
SETS = 50
KINDS = ("key", "named", "part", "surplus", "spelled", "near", "far", "case", "sum", "nothing", "other")


@dataclass(frozen=True)
class Given:
    """An answer: as our marker gets it, and what it says: texts that are chosen, text that is typed, or pairs. `odd` is
    the code of a note, where it is typed in a way that only our marker reads."""

    typed: object
    chosen: Sequence[str] = ()
    text: str = ""
    pairs: Mapping[str, str] | None = None
    odd: str = ""


@dataclass(frozen=True)
class Exported:
    """A bank in both formats, as bytes and as questions by name; item -> codes of what can change its scores."""

    bank: Bank
    files: tuple[bytes, bytes]
    canvas: dict[str, Element]
    moodle: dict[str, Element]
    canvas_notes: dict[str, set[str]]
    moodle_notes: dict[str, set[str]]


@pytest.fixture(scope="module", params=["week08", "names_lab"])
def exported(request: Any) -> Exported:
    bank = load_bank(CourseFiles(ROOT), load_course(ROOT), request.param)
    one, two = canvas(bank), moodle(bank)
    files = (one.files[f"{request.param}_canvas.zip"], two.files[f"{request.param}_moodle.xml"])
    items = {ident.removeprefix(f"{request.param}_"): item for ident, item in canvas_items(files[0]).items()}
    return Exported(bank, files, items, moodle_questions(files[1]), _codes(one), _codes(two))


def _codes(export: Any) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for note in export.notes:
        found.setdefault(note.item, set()).update({note.code} & set(CHANGES_SCORES))
    return found


def test_whole_banks_are_as_the_importers_want_them(exported: Exported) -> None:
    assert list(faults_of_canvas(exported.files[0])) == []
    assert list(faults_of_moodle(exported.files[1])) == []
    assert set(exported.canvas) == set(exported.moodle) and len(exported.canvas) > len(list(exported.bank.items))


def test_fifty_answer_sets_score_as_the_marker_marks_them(exported: Exported) -> None:
    seed = random.randrange(10**6)
    print("seed", seed)
    rng = random.Random(seed)
    seen: dict[tuple[str, str], set[str]] = {}
    for number in range(SETS):
        for place, item in enumerate(exported.bank.items):
            ident, student = _variant(exported.bank, item, number)
            kind = KINDS[(number + place) % len(KINDS)]
            given = _given(exported.bank, item, student, kind, rng)
            ours = float(mark(exported.bank, item, given.typed, student).share)
            for program, share, codes in _shares(exported, item, ident, given):
                other = _differs(item, program, given, ours, codes)
                about = f"{program}: {ident} with {given.typed!r} ({kind}); seed {seed}"
                assert abs(share - (other[1] if other else ours)) < 1e-6, f"{share} of {ours}, {about}"
                if other and abs(share - ours) > 1e-6:
                    seen.setdefault((item.id, program.split()[0]), set()).add(other[0])
    _all_that_is_said_is_so(exported, seen)


def _all_that_is_said_is_so(exported: Exported, seen: Mapping[tuple[str, str], set[str]]) -> None:
    """Each note was seen to make a difference, but for what nobody can spell in another way."""
    for program, notes in (("canvas", exported.canvas_notes), ("moodle", exported.moodle_notes)):
        for item, codes in notes.items():
            assert codes - {"listed_spellings", "plain_numbers"} <= seen.get((item, program), set()), (program, item)
    assert {"listed_spellings", "plain_numbers"} <= {code for codes in seen.values() for code in codes}


def _shares(exported: Exported, item: AnyItem, ident: str, given: Given) -> list[tuple[str, float, set[str]]]:
    of_canvas, of_moodle = exported.canvas[ident], exported.moodle[ident]
    sent = _sent_to_canvas(of_canvas, given)
    codes = exported.canvas_notes.get(item.id, set())
    return [
        ("canvas by its conditions", by_conditions(of_canvas, sent), codes),
        ("canvas", by_canvas(of_canvas, sent), codes),
        ("moodle", by_moodle(of_moodle, _sent_to_moodle(of_moodle, given)), exported.moodle_notes.get(item.id, set())),
    ]


def _differs(item: AnyItem, program: str, given: Given, ours: float, codes: set[str]) -> tuple[str, float] | None:
    """Where the export says that it scores in another way: by which code, and how."""
    if isinstance(item, Multiple):
        keys = {option.text for option in item.options if option.key}
        part = max(0.0, (len(keys & set(given.chosen)) - len(set(given.chosen) - keys)) / len(keys))
        if "no_part_elsewhere" in codes and program == "canvas by its conditions":
            return "no_part_elsewhere", float(ours == 1)
        if "part_of_all_or_nothing" in codes and program == "canvas":
            return "part_of_all_or_nothing", part
        if "part_of_all_or_nothing" in codes and program == "moodle":
            wrong = bool(set(given.chosen) - keys)
            return "part_of_all_or_nothing", 0.0 if wrong else len(keys & set(given.chosen)) / len(keys)
    if isinstance(item, Order) and "extra_steps_cost_nothing" in codes and given.pairs is not None:
        hits = sum(given.pairs.get(a) == b for a, b in pairwise(item.steps))
        return "extra_steps_cost_nothing", hits / (len(item.steps) - 1)
    if given.odd in codes and given.odd != "letter_case_ignored":
        return given.odd, 0.0
    if given.odd in codes and program == "canvas":
        return given.odd, 1.0
    return None


def _variant(bank: Bank, item: AnyItem, number: int) -> tuple[str, str]:
    """Name of a variant in the files, and a student who gets it."""
    if not isinstance(item, Drawn) or len(bank.draws(item)) == 1:
        return item.id, "nobody"
    draws = len(bank.draws(item))
    wanted = number % min(8, draws)
    student = next(f"s{i}" for i in count() if drawn(f"s{i}", item.id, draws) == wanted)
    return f"{item.id}_v{wanted + 1}", student


def _given(bank: Bank, item: AnyItem, student: str, kind: str, rng: random.Random) -> Given:
    if kind == "nothing":
        return Given(None)
    match item:
        case Single() | Multiple():
            return _chosen(item, kind, rng)
        case Order():
            return _ordered(item, kind, rng)
        case Match():
            return _matched(item, kind, rng)
        case Number():
            draw = bank.draw(item, student)
            if kind == "sum" and float(draw.value) > 0:
                return _typed(f"{3 * float(draw.value):.10f}/3", "plain_numbers")
            return _typed(_number(float(draw.value), draw.tolerance, [float(v) for v, _ in draw.wrong], kind, rng))
        case Shape():
            draw = bank.draw(item, student)
            value, *wrong = ([*v] for v in (draw.value, *(v for v, _ in draw.wrong)) if isinstance(v, list))
            names = {"named": rng.choice(wrong), "other": [rng.randrange(2, 9) for _ in range(rng.randrange(1, 5))]}
            names["far"] = [*value, 1]
            text = str(names.get(kind, value))
            if kind == "spelled":
                return _typed(text.replace("[", "[ ").replace(",", " ,"), "listed_spellings")
            return _typed(_shape(text, rng))
        case ShortText():
            return _word(item, kind, rng)
        case Output():
            return _printed(item, kind, rng)
        case Open():
            return _typed("whatever comes to mind")


def _typed(text: str, odd: str = "") -> Given:
    return Given(text, text=text, odd=odd)


def _chosen(item: Single | Multiple, kind: str, rng: random.Random) -> Given:
    shown = displayed_options(item)
    keys = [option.text for option in item.options if option.key]
    others = [option.text for option in item.options if not option.key]
    if isinstance(item, Single):
        chosen = [rng.choice(others)] if kind in ("named", "far", "other") else keys
    else:
        part = keys[: rng.randrange(1, len(keys))] if len(keys) > 1 else keys
        chosen = {
            "named": [*keys, rng.choice(others)],
            "part": part,
            "far": others,
            "other": [text for text in shown if rng.random() < 0.5] or others[:1],
        }.get(kind, keys)
    return Given([LETTERS[shown.index(text)] for text in chosen], chosen=chosen)


def _ordered(item: Order, kind: str, rng: random.Random) -> Given:
    shown, steps = displayed_steps(item), list(item.steps)
    if kind in ("part", "near"):
        i = rng.randrange(len(steps) - 1)
        steps[i], steps[i + 1] = steps[i + 1], steps[i]
    elif kind == "surplus" and item.extra:
        steps.insert(rng.randrange(len(steps) + 1), rng.choice(item.extra).text)
    elif kind in ("named", "other", "far"):
        steps = rng.sample(shown, rng.randrange(2, len(shown) + 1))
    letters = [LETTERS[shown.index(step)] for step in steps]
    typed = (";" if kind == "spelled" else rng.choice(["", " ", ", "])).join(letters)
    if item.scoring == "exact":
        return _typed(typed, "listed_spellings" if kind == "spelled" else "")
    return Given(typed, pairs=dict(pairwise(steps)))


def _matched(item: Match, kind: str, rng: random.Random) -> Given:
    lefts, rights = displayed_lefts(item), displayed_rights(item)
    pairs = {pair.left: pair.right for pair in item.pairs}
    if kind == "named":
        wrong = rng.choice(item.confusions)
        pairs[wrong.left] = wrong.right
    elif kind in ("part", "near"):
        pairs = dict(rng.sample(sorted(pairs.items()), rng.randrange(1, len(pairs))))
    elif kind in ("other", "far", "surplus"):
        pairs = {left: rng.choice(rights) for left in lefts if rng.random() < 0.8} or {lefts[0]: rights[0]}
    typed = {str(lefts.index(left) + 1): LETTERS[rights.index(right)] for left, right in pairs.items()}
    return Given(typed, pairs=pairs)


def _number(value: float, tolerance: float, wrong: list[float], kind: str, rng: random.Random) -> str:
    found = {
        "named": rng.choice(wrong),
        "near": value + rng.choice([-0.99, 0.99]) * tolerance,
        "far": value + rng.choice([-1, 1]) * (1.01 * tolerance + 1e-6 * max(1.0, abs(value))),
        "other": rng.uniform(-10, 100),
    }.get(kind, value)
    return f"{found:.10f}"


def _shape(text: str, rng: random.Random) -> str:
    """One of the ways in which shapes are written."""
    ways = [text, text.replace(" ", ""), text.replace("[", "(").replace("]", ")"), text[1:-1], f"torch.Size({text})"]
    return rng.choice([*ways, text[1:-1].replace(", ", "x"), text[1:-1].replace(", ", " x ")])


def _word(item: ShortText, kind: str, rng: random.Random) -> Given:
    accepted = rng.choice(item.key.accept)
    if kind == "spelled":
        return _typed("- ".join(accepted), "listed_spellings")
    if kind == "case":
        return _typed(accepted.swapcase(), "letter_case_ignored" if item.key.case else "")
    if kind in ("part", "near"):
        return _typed(re.sub(r"[\s-]+", rng.choice([" ", "-", "", "_"]), accepted))
    if kind in ("named", "far"):
        return _typed(rng.choice(item.wrong).text)
    return _typed(f"no {accepted}" if kind == "other" else accepted)


def _printed(item: Output, kind: str, rng: random.Random) -> Given:
    """Texts of one line; banks with longer ones need more here."""
    text = item.key.output.strip()
    assert "\n" not in text
    if kind == "spelled" and re.search(r"[\[( ]", text):
        return _typed(re.sub(r"([\[( ])", r"\1  ", text), "listed_spellings")
    if kind == "case":
        return _typed(text.swapcase(), "letter_case_ignored" if text.swapcase() != text else "")
    if kind in ("part", "near"):
        return _typed(text.replace(", ", ","))
    if kind in ("named", "far"):
        return _typed(rng.choice(item.wrong).output.strip())
    return _typed(f"{text} {text}" if kind == "other" else text)


def _sent_to_canvas(item: Element, given: Given) -> Response:
    if given.typed is None:
        return {}
    if given.pairs is None and item.find(".//response_lid") is None:
        return {"response1": [given.text]}
    names = {_seen(part.findtext("material/mattext")): str(part.get("ident")) for part in item.iter("response_label")}
    if given.pairs is None:
        return {"response1": [names[_meant(text)] for text in given.chosen]}
    fields = {_seen(field.findtext("material/mattext")): str(field.get("ident")) for field in item.iter("response_lid")}
    pairs = {_meant(left): names[_meant(right)] for left, right in given.pairs.items()}
    return {fields[left]: [right] for left, right in pairs.items() if left in fields}


def _sent_to_moodle(question: Element, given: Given) -> Response:
    if given.typed is None:
        return {}
    if given.pairs is None and question.get("type") != "multichoice":
        return {"answer": [given.text]}
    if given.pairs is None:
        texts = {_seen(answer.findtext("text")): answer.findtext("text") or "" for answer in question.iter("answer")}
        return {"answer": [texts[_meant(text)] for text in given.chosen]}
    lefts = {_seen(part.findtext("text")): part.findtext("text") or "" for part in question.iter("subquestion")}
    rights = {_seen(part.findtext("text")): part.findtext("text") or "" for part in question.iter("answer")}
    pairs = {_meant(left): rights[_meant(right)] for left, right in given.pairs.items()}
    return {lefts[left]: [right] for left, right in pairs.items() if left in lefts}


@cache
def _seen(markup: str | None) -> str:
    """What HTML shows, without formulas' marks and blanks."""
    return re.sub(r"\s|\\[()]", "", html.unescape(re.sub(r"<[^>]+>", "", markup or "")))


@cache
def _meant(markdown: str) -> str:
    """The same of Markdown."""
    return re.sub(r"\s|\$|`|\*\*", "", markdown)
