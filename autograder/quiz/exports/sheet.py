"""A bank on paper: a sheet of questions and, in a file of its own, the sheet of keys. The browser prints them, or makes
a PDF of them; nothing is fetched and nothing runs in them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from markupsafe import Markup

from autograder.course.points import shown
from autograder.quiz import prose
from autograder.quiz.bank import Bank, Draw, Group, one_number
from autograder.quiz.drawing import filled
from autograder.quiz.exports.forms import left_out, rounded
from autograder.quiz.exports.markup import refuse_control_characters, table
from autograder.quiz.exports.notes import Export, Note
from autograder.quiz.exports.typed import bounds, decimal
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
from autograder.reports.templates import source, templates

_SCORING = {
    "all_or_nothing": "Choose all that apply; all of them earn the points.",
    "right_minus_wrong": "Choose all that apply; one that does not takes away what one that does earns.",
    "exact": "Write the letters in order.",
    "neighbours": "Write the letters in order; each neighbouring pair earns a part.",
}

_CODE = Markup("<code>{}</code>")


def sheet(bank: Bank, student: str | None = None) -> Export:
    """Both files, with the variants that this student gets; without a name with the first ones of the bank.

    Raises QuizError for text that no page can carry.
    """
    groups = [_group(bank, group, student) for group in bank.groups if group.items]
    drawn = [item for item in bank.items if isinstance(item, Drawn) and len(bank.draws(item)) > 1]
    notes = [] if student is not None else [Note(item.id, "first_variant") for item in drawn]
    count = sum(len(group["questions"]) for group in groups)
    jinja = templates(__package__)
    css = Markup(source(jinja, "sheet.css"))
    template = jinja.get_template("sheet.html.j2")
    files = {}
    for name, keys in (("sheet", False), ("key", True)):
        page = template.render(title=bank.title, css=css, student=student, groups=groups, keys=keys)
        files[f"{bank.assignment}_{name}.html"] = f"{page}\n".encode()
    return Export(files, count, "questions", tuple(notes))


def _group(bank: Bank, group: Group, student: str | None) -> dict[str, Any]:
    points = sum((item.points for item in group.items if item.counted), Fraction(0))
    return {
        "heading": f"{group.course}: {group.title}",
        "optional": group.optional,
        "points": shown(points),
        "pictures": [Markup(table(picture, bank, prose.line)) for picture in group.pictures],
        "questions": [_question(bank, item, student) for item in group.items],
    }


def _question(bank: Bank, item: AnyItem, student: str | None) -> dict[str, Any]:
    refuse_control_characters(item.id, item.model_dump(warnings=False))
    draw = None
    if isinstance(item, Drawn):
        draw = bank.draws(item)[0] if student is None else bank.draw(item, student)
    found: dict[str, Any] = {
        "id": item.id,
        "type": item.type,
        "points": shown(item.points) if item.counted else None,
        "optional": item.optional,
        "prompt": prose.html(filled(item.prompt, draw.parameters) if draw else item.prompt),
        "how": _SCORING.get(getattr(item, "scoring", ""), "") + (left_out(item) if isinstance(item, Order) else ""),
        "why": None if isinstance(item, Open) else prose.html(item.why),
        "key": _key(item, draw),
        "said": [(wrong, prose.line(feedback)) for wrong, feedback in _said(item, draw)],
    }
    if isinstance(item, (Single, Multiple)):
        found["options"] = _lettered(displayed_options(item))
    elif isinstance(item, Order):
        found["options"] = _lettered(displayed_steps(item))
    elif isinstance(item, Match):
        found["lefts"] = [prose.line(left) for left in displayed_lefts(item)]
        found["options"] = _lettered(displayed_rights(item))
    elif isinstance(item, Output):
        found["code"] = item.code.strip("\n")
    elif isinstance(item, Open):
        found["rubric"] = [prose.line(point) for point in item.rubric]
    return found


def _lettered(texts: list[str]) -> list[tuple[str, Markup]]:
    return [(LETTERS[i], prose.line(text)) for i, text in enumerate(texts)]


def _key(item: AnyItem, draw: Draw | None) -> Markup:
    """The answer as it would stand on the question sheet."""
    match item:
        case Single() | Multiple():
            texts = displayed_options(item)
            keys = {option.text for option in item.options if option.key}
            return Markup(", ").join(LETTERS[i] for i, text in enumerate(texts) if text in keys)
        case Number() if draw:
            key = bounds(one_number(draw.value), draw.tolerance)
            near = f", from {key.low} to {key.high}" if draw.tolerance else ""
            return Markup(rounded(key.value) + near)
        case Shape() if draw:
            return Markup(str(draw.value))
        case ShortText():
            return Markup(" / ").join(_CODE.format(text) for text in item.key.accept)
        case Order():
            texts = displayed_steps(item)
            return Markup(" ").join(LETTERS[texts.index(step)] for step in item.steps)
        case Match():
            lefts, rights = displayed_lefts(item), displayed_rights(item)
            right = {pair.left: pair.right for pair in item.pairs}
            return Markup(" ").join(f"{i}{LETTERS[rights.index(right[left])]}" for i, left in enumerate(lefts, 1))
        case Output():
            return Markup("<pre>{}</pre>").format(item.key.output.strip("\n"))
        case Open():
            return prose.html(item.model)
    raise TypeError(f"{item.type} items have no key")


def _said(item: AnyItem, draw: Draw | None) -> list[tuple[str | Markup, str]]:
    """The named wrong answers, each with its feedback in Markdown."""
    match item:
        case Single() | Multiple():
            texts = displayed_options(item)
            said = [(texts.index(each.text), each.feedback) for each in item.options if not each.key]
            return [(LETTERS[place], feedback) for place, feedback in sorted(said)]
        case Drawn() if draw:
            return [
                (str(value) if isinstance(value, list) else rounded(decimal(value)), one.feedback)
                for value, one in draw.wrong
            ]
        case ShortText():
            return [(_CODE.format(each.text), each.feedback) for each in item.wrong]
        case Output():
            return [(_CODE.format(each.output.strip()), each.feedback) for each in item.wrong]
        case Order():
            extras = [(prose.line(each.text), each.feedback) for each in item.extra]
            return [*extras, ("another order", item.feedback)]
        case Match():
            return [(prose.line(f"{each.left} - {each.right}"), each.feedback) for each in item.confusions]
    return []
