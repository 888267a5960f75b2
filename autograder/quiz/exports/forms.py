"""A question in the few forms that learning platforms have, with a note wherever such a form does it in another way.

single, multiple -> Choice      number -> Numeric       text, shape, output, order (exact) -> Typed
match, order (neighbours) -> Pairs                      open -> Essay
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from autograder.quiz import reading
from autograder.quiz.bank import Bank, Draw, Group, one_number, sizes
from autograder.quiz.drawing import filled
from autograder.quiz.exports import markup, typed
from autograder.quiz.exports.notes import VARIANTS, Note
from autograder.quiz.model import (
    AnyItem,
    Drawn,
    Match,
    Multiple,
    Number,
    Open,
    Option,
    Order,
    Output,
    Shape,
    ShortText,
    Single,
)
from autograder.quiz.public import LETTERS, displayed_lefts, displayed_options, displayed_rights, displayed_steps

_PICTURE = re.compile(r"\bpictures?\b", re.IGNORECASE)


@dataclass(frozen=True)
class Said:
    """Feedback on a named wrong answer; `spellings` are ways to type it, the first one is for people to read."""

    spellings: tuple[str, ...]
    feedback: str


@dataclass(frozen=True)
class Choice:
    """Options in the order of their letters. With `all_or_nothing` a part of the keys should earn nothing."""

    options: tuple[Option, ...]
    several: bool
    all_or_nothing: bool = False


@dataclass(frozen=True)
class Typed:
    """One line of text. `otherwise` is what everybody is told whose answer is not named."""

    accepted: tuple[str, ...]
    case: bool
    wrong: tuple[Said, ...]
    otherwise: str = ""


@dataclass(frozen=True)
class Numeric:
    """A number between bounds; wrong ones have bounds too."""

    key: typed.Bounds
    wrong: tuple[tuple[typed.Bounds, Said], ...]


@dataclass(frozen=True)
class Pairs:
    """Each left side with its right side; `rights` are all that can be chosen, each once."""

    pairs: tuple[tuple[str, str], ...]
    rights: tuple[str, ...]
    wrong: tuple[Said, ...]
    otherwise: str = ""


@dataclass(frozen=True)
class Essay:
    """A text of any length, with what to look for in it and a model of it."""

    rubric: tuple[str, ...]
    model: str


@dataclass(frozen=True)
class Question:
    """One variant of an item. `ident` is the item's id, with the number of the variant where there are several; `ask`
    is Markdown, `pictures` HTML."""

    ident: str
    item: AnyItem
    ask: str
    form: Choice | Typed | Numeric | Pairs | Essay
    draw: Draw | None = None
    pictures: str = ""


def questions(bank: Bank, group: Group, item: AnyItem) -> list[Question]:
    """The variants of an item; one where it has no parameters. Raises QuizError for what cannot be exported."""
    markup.refuse_control_characters(item.id, item.model_dump(warnings=False))
    shown = "".join(markup.table(p, bank) for p in group.pictures) if _PICTURE.search(item.prompt) else ""
    if not isinstance(item, Drawn):
        return [Question(item.id, item, *_asked(item), None, shown)]
    draws = bank.draws(item)[:VARIANTS]
    idents = [f"{item.id}_v{i}" for i in range(1, len(draws) + 1)] if len(draws) > 1 else [item.id]
    asked = [filled(item.prompt, draw.parameters).strip() + _hint(item) for draw in draws]
    return [
        Question(ident, item, ask, _of_draw(item, draw), draw, shown)
        for ident, ask, draw in zip(idents, asked, draws, strict=True)
    ]


def notes_on(question: Question, in_one_text: tuple[type, ...]) -> Iterator[Note]:
    """How the form differs from the item, in a program that has one feedback for all wrong answers to some forms."""
    item, form = question.item, question.form
    if item.id != question.ident:
        yield Note(item.id, "variants")
    if question.pictures:
        yield Note(item.id, "table_for_picture")
    if isinstance(form, Typed):
        yield Note(item.id, "listed_spellings")
    if isinstance(form, Numeric):
        yield Note(item.id, "plain_numbers")
    if isinstance(form, Choice) and form.all_or_nothing and sum(option.key for option in form.options) > 1:
        yield Note(item.id, "part_of_all_or_nothing")
    if isinstance(form, Essay):
        yield Note(item.id, "not_counted")
    extra = isinstance(item, Order) and item.extra
    if extra or (isinstance(form, in_one_text) and not isinstance(form, (Choice, Essay)) and form.wrong):
        yield Note(item.id, "feedback_in_one_text")
    if isinstance(item, Order):
        yield Note(item.id, "letters_for_order" if item.scoring == "exact" else "next_step_for_order")
        if item.extra and item.scoring == "neighbours":
            yield Note(item.id, "extra_steps_cost_nothing")


def _hint(item: AnyItem) -> str:
    return "\n\nWrite the shape with square brackets and commas, such as `[2, 3]`." if isinstance(item, Shape) else ""


def _of_draw(item: Drawn, draw: Draw) -> Numeric | Typed:
    if isinstance(item, Number):
        wrong = [(typed.bounds(one_number(value), draw.tolerance), one.feedback) for value, one in draw.wrong]
        key = typed.bounds(one_number(draw.value), draw.tolerance)
        return Numeric(key, tuple((each, Said((rounded(each.value),), feedback)) for each, feedback in wrong))
    said = tuple(Said(typed.shape_spellings(sizes(value))[:3], one.feedback) for value, one in draw.wrong)
    return Typed(typed.shape_spellings(sizes(draw.value)), False, said)


def rounded(number: str) -> str:
    """A number for people to read: whole or short ones as they are, others with four digits."""
    value = float(number)
    return number if value == int(value) or len(number) < 8 else typed.decimal(float(f"{value:.4g}"))


def _asked(item: AnyItem) -> tuple[str, Choice | Typed | Pairs | Essay]:
    prompt = item.prompt.strip()
    match item:
        case Single() | Multiple():
            by_text = {option.text: option for option in item.options}
            options = tuple(by_text[text] for text in displayed_options(item))
            exact = isinstance(item, Multiple) and item.scoring == "all_or_nothing"
            return prompt, Choice(options, isinstance(item, Multiple), exact)
        case ShortText():
            case = item.key.case
            said = [Said(typed.text_spellings(each.text, case), each.feedback) for each in item.wrong]
            accepted = [s for text in item.key.accept for s in typed.text_spellings(text, case)]
            return prompt, Typed(typed.once(accepted, case), case, tuple(said))
        case Output():
            said = [Said(typed.output_spellings(each.output), each.feedback) for each in item.wrong]
            return _with_code(item), Typed(typed.output_spellings(item.key.output), True, tuple(said))
        case Order(scoring="exact"):
            return _letters(item)
        case Order():
            return _next_steps(item)
        case Match():
            rights = {pair.left: pair.right for pair in item.pairs}
            pairs = tuple((left, rights[left]) for left in displayed_lefts(item))
            said = [Said((markup.plain(f"{each.left} - {each.right}"),), each.feedback) for each in item.confusions]
            return prompt, Pairs(pairs, tuple(displayed_rights(item)), tuple(said))
        case Open():
            return prompt, Essay(item.rubric, item.model)
    raise TypeError(f"{item.type} items have no form")


def _with_code(item: Output) -> str:
    lines = reading.output(item.key.output).count("\n")
    hint = f"\n\nWrite all lines in one, with `{typed.LINES}` between them." if lines else ""
    return f"{item.prompt.strip()}\n\n````python\n{item.code.strip()}\n````{hint}"


def left_out(item: Order) -> str:
    """A sentence for those who put the steps in order, where there are more than belong there."""
    return " Leave out what belongs nowhere." if item.extra else ""


def _letters(item: Order) -> tuple[str, Typed]:
    texts = displayed_steps(item)
    letter = {text: LETTERS[i] for i, text in enumerate(texts)}
    listed = "\n\n".join(f"**{letter[text]})** {text}" for text in texts)
    asked = f"{item.prompt.strip()}{left_out(item)} Write the letters in order, without blanks, the first step first."
    key = "".join(letter[step] for step in item.steps)
    otherwise = " ".join([item.feedback, *(f"{extra.text}: {extra.feedback}" for extra in item.extra)])
    return f"{asked}\n\n{listed}", Typed(typed.letters_spellings(key), False, (), otherwise)


def _next_steps(item: Order) -> tuple[str, Pairs]:
    texts = displayed_steps(item)
    after: Mapping[str, str] = dict(pairwise(item.steps))
    said = tuple(Said((markup.plain(extra.text),), extra.feedback) for extra in item.extra)
    pairs = tuple((text, after[text]) for text in texts if text in after)
    asked = f"{item.prompt.strip()}\n\nChoose for each of these steps the one that comes right after it."
    return asked, Pairs(pairs, tuple(texts), said, item.feedback)
