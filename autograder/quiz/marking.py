"""Marking one answer: outcome, points by the item's declared rule, feedback, the idea behind a wrong answer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from autograder.grading.receipt import PASSED
from autograder.quiz import reading
from autograder.quiz.bank import Bank, Draw, one_number
from autograder.quiz.model import AnyItem, Match, Multiple, Number, Order, Output, Shape, ShortText, Single
from autograder.quiz.public import LETTERS, displayed_lefts, displayed_options, displayed_rights, displayed_steps
from autograder.quiz.reading import Rewrite

PARTLY, FAILED, NOT_ANSWERED, REWRITE, SELF_ASSESSED = (
    "partly",
    "failed",
    "not attempted",
    "please rewrite",
    "self-assessed",
)

NOTHING, ALL = Fraction(0), Fraction(1)

LAST_BITS = 1e-9
"""What arithmetic may do to a number, as a share of it."""


@dataclass(frozen=True)
class Mark:
    """How an answer was marked. `typed` is the answer as it came; `share` the part of the points it earns, 0 to 1."""

    item: str
    outcome: str
    share: Fraction
    typed: object
    feedback: tuple[str, ...] = ()
    misconceptions: tuple[str, ...] = ()


def mark(bank: Bank, item: AnyItem, typed: object, student: str) -> Mark:
    """The mark of an answer as it was typed. A question that is drawn is marked by the student's own variant."""
    if reading.is_empty(typed):
        return Mark(item.id, NOT_ANSWERED, NOTHING, typed)
    if not item.counted:
        return Mark(item.id, SELF_ASSESSED, NOTHING, typed)
    try:
        share, found = _judged(bank, item, typed, student)
    except Rewrite as error:
        return Mark(item.id, REWRITE, NOTHING, typed, (str(error),))
    outcome = PASSED if share == ALL else PARTLY if share else FAILED
    lines = tuple(dict.fromkeys(line for line, _ in found))
    return Mark(item.id, outcome, share, typed, lines, tuple(dict.fromkeys(m for _, m in found if m)))


Said = list[tuple[str, str | None]]
"""Lines of feedback, each with the false idea that it is about."""


def _judged(bank: Bank, item: AnyItem, typed: object, student: str) -> tuple[Fraction, Said]:
    match item:
        case Single() | Multiple():
            return _choice(item, typed)
        case Number():
            return _number(bank.draw(item, student), reading.number(typed, item.key.percent))
        case Shape():
            return _shape(bank.draw(item, student), reading.shape(typed))
        case ShortText():
            return _text(item, typed)
        case Order():
            return _order(item, typed)
        case Match():
            return _match(item, typed)
        case Output():
            return _output(item, typed)
    raise TypeError(f"{item.type} items are not marked")


def _choice(item: Single | Multiple, typed: object) -> tuple[Fraction, Said]:
    texts = displayed_options(item)
    several = isinstance(item, Multiple)
    chosen = {texts[LETTERS.index(x)] for x in reading.letters(typed, LETTERS[: len(texts)], several)}
    keys = {option.text for option in item.options if option.key}
    said: Said = [(o.feedback, o.misconception) for o in item.options if o.text in chosen]
    if chosen == keys:
        return ALL, said
    if not isinstance(item, Multiple) or item.scoring == "all_or_nothing":
        return NOTHING, [each for each in said if each[1]]
    hits, misses = len(chosen & keys), len(chosen - keys)
    return max(NOTHING, Fraction(hits - misses, len(keys))), [each for each in said if each[1]]


def _number(draw: Draw, given: float) -> tuple[Fraction, Said]:
    if close(given, one_number(draw.value), draw.tolerance):
        return ALL, []
    for value, wrong in draw.wrong:
        if close(given, one_number(value), draw.tolerance):
            return NOTHING, [(wrong.feedback, wrong.misconception)]
    return NOTHING, []


def close(given: float, value: float, tolerance: float) -> bool:
    """Within the tolerance, the border included: the last bits of a decimal number decide nothing.

    A tolerance of 0 is exact: for 0 itself nothing but 0 will do.
    """
    return abs(given - value) <= tolerance + LAST_BITS * max(abs(value), tolerance)


def _shape(draw: Draw, given: list[int]) -> tuple[Fraction, Said]:
    if given == draw.value:
        return ALL, []
    return NOTHING, [(wrong.feedback, wrong.misconception) for value, wrong in draw.wrong if given == value]


def _text(item: ShortText, typed: object) -> tuple[Fraction, Said]:
    given = reading.text(typed, item.key.case)
    if any(given == _key_text(accepted, item.key.case) for accepted in item.key.accept):
        return ALL, []
    found = [w for w in item.wrong if _key_text(w.text, item.key.case) == given]
    return NOTHING, [(wrong.feedback, wrong.misconception) for wrong in found]


def _order(item: Order, typed: object) -> tuple[Fraction, Said]:
    texts = displayed_steps(item)
    given = [texts[LETTERS.index(x)] for x in reading.letters(typed, LETTERS[: len(texts)], True, True)]
    if given == list(item.steps):
        return ALL, []
    said: Said = [(extra.feedback, extra.misconception) for extra in item.extra if extra.text in given]
    said.append((item.feedback, None))
    if item.scoring == "exact":
        return NOTHING, said
    wanted, found = set(pairwise(item.steps)), set(pairwise(given))
    surplus = sum(extra.text in given for extra in item.extra)
    return max(NOTHING, Fraction(len(wanted & found) - surplus, len(wanted))), said


def _match(item: Match, typed: object) -> tuple[Fraction, Said]:
    lefts, rights = displayed_lefts(item), displayed_rights(item)
    numbers = [str(i) for i in range(1, len(lefts) + 1)]
    chosen = reading.matches(typed, numbers, LETTERS[: len(rights)])
    given = {lefts[int(left) - 1]: rights[LETTERS.index(right)] for left, right in chosen.items()}
    hits = sum(given.get(pair.left) == pair.right for pair in item.pairs)
    said: Said = [(c.feedback, c.misconception) for c in item.confusions if given.get(c.left) == c.right]
    return Fraction(hits, len(item.pairs)), said


def _output(item: Output, typed: object) -> tuple[Fraction, Said]:
    given = reading.output(typed)
    if given == _key_output(item.key.output):
        return ALL, []
    found = [w for w in item.wrong if _key_output(w.output) == given]
    return NOTHING, [(wrong.feedback, wrong.misconception) for wrong in found]


_key_text, _key_output = lru_cache(5_000)(reading.text), lru_cache(5_000)(reading.output)
"""Keys are read as answers are, but not once more for each student."""
