"""From a bank to its page: one HTML file that asks for nothing.

A graded page is made from what `quiz.public` gives, and from the pictures; it has no key. A practice page has the keys
and says so. The same bank gives the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from autograder.course import Course
from autograder.quiz import prose
from autograder.quiz.bank import Bank, Group
from autograder.quiz.drawing import filled, shown_number
from autograder.quiz.errors import QuizError
from autograder.quiz.model import AnyItem, Open
from autograder.quiz.page.keys import answer_text, practice_key
from autograder.quiz.page.pictures import Drawn, drawn
from autograder.quiz.public import public_quiz
from autograder.reports.templates import source, templates

SCRIPTS = ("reading.js", "marking.js", "store.js", "controls.js", "page.js")
"""In the order of the page; marking.js is for practice only."""

_FIELDS = {
    "number": "A number, such as 0.125 or 1/8",
    "shape": "A shape, such as [2, 2, 4]",
    "text": "A word or two",
    "output": "What it prints",
    "open": "Your answer, not counted",
}
_RULES = {
    ("multiple", "all_or_nothing"): "Choose all that apply. Points for the whole set only.",
    (
        "multiple",
        "right_minus_wrong",
    ): "Choose all that apply. A choice that does not belong takes away what one that does gives.",
    ("order", "exact"): "Points for the whole order only.",
    ("order", "neighbours"): "Points for each pair of steps that follow each other.",
}


@dataclass(frozen=True)
class Section:
    """The knowledge check of a section. `listed`: course.yml has it; `required` are the items that make it done."""

    place: str
    label: str
    title: str
    optional: bool
    listed: bool
    pictures: tuple[Drawn, ...]
    items: tuple[Mapping[str, Any], ...]

    @property
    def counted(self) -> list[str]:
        return [item["id"] for item in self.items if item["type"] != "open"]

    @property
    def required(self) -> list[str]:
        """All counted items, without optional ones where there are others."""
        needed = [item["id"] for item in self.items if item["id"] in self.counted and not item.get("optional")]
        return needed or self.counted


@dataclass(frozen=True)
class Unit:
    title: str
    sections: tuple[Section, ...]


def page(bank: Bank, course: Course, practice: bool = False) -> str:
    """The page's HTML. Raises QuizError for a formula or a picture that cannot be shown."""
    jinja = _jinja()
    quiz = public_quiz(bank)
    units = tuple(_units(bank, course, quiz["sections"]))
    sections = [section for unit in units for section in unit.sections]
    css = source(jinja, "pictures.css") + source(jinja, "page.css")
    scripts = [name for name in SCRIPTS if practice or name != "marking.js"]
    js = '"use strict";\n(() => {\n' + "\n".join(source(jinja, name) for name in scripts) + "\n})();\n"
    total = course.total_sections if any(section.listed for section in sections) else 0
    lines = _Lines()
    data = {
        "assignment": bank.assignment,
        "practice": practice,
        "course": total,
        "items": [_data(bank, item, lines if practice else None) for section in sections for item in section.items],
        "sections": [
            {"place": s.place, "items": s.counted, "required": s.required, "listed": s.listed} for s in sections
        ],
    }
    return jinja.get_template("page.html.j2").render(
        quiz=quiz,
        course_title=course.title,
        course_total=total,
        practice=practice,
        units=units,
        field_names=_FIELDS,
        policy=_policy(css, js),
        css=Markup(css),
        js=Markup(js),
        data=Markup(_json(data)),
        templates=[*_explanations(bank), *lines.templates()] if practice else [],
    )


def _policy(css: str, js: str) -> str:
    """Nothing but this style and this script; no text becomes markup by a script."""
    rules = {
        "default-src": "'none'",
        "style-src": _digest(css),
        "script-src": _digest(js),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json(data: Any) -> str:
    """JSON in which nothing ends a script element."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _units(bank: Bank, course: Course, public: list[Mapping[str, Any]]) -> Iterator[Unit]:
    """Study units in the order of the bank; what belongs to none stands before or after them."""
    titles = {unit.number: f"Unit {unit.number}: {unit.title}" for week in course.weeks for unit in week.units}
    known = {f"Week {week.number} §{section.number}" for week in course.weeks for section in week.sections}
    sections = [
        (group.unit, _section(bank, group, item, place, group.course in known))
        for place, (group, item) in enumerate(zip(bank.groups, public, strict=True))
    ]
    runs = [(unit, tuple(s for _, s in run)) for unit, run in groupby(sections, key=lambda pair: pair[0])]
    for i, (unit, run) in enumerate(runs):
        beside = "Questions" if len(runs) == 1 else "Introduction" if i == 0 else "Beyond the units"
        yield Unit(titles[unit] if unit else beside, run)


def _section(bank: Bank, group: Group, public: Mapping[str, Any], place: int, listed: bool) -> Section:
    return Section(
        place=f"section-{place}",
        label=re.sub(r"^Week \d+ (?=§)", "", public["course"]),
        title=public["title"],
        optional=public["optional"],
        listed=listed,
        pictures=tuple(drawn(bank, picture) for picture in group.pictures),
        items=tuple(_shown(item) for item in public["items"]),
    )


def _shown(item: Mapping[str, Any]) -> dict[str, Any]:
    """A public item, and what the page says about it."""
    worth = "not counted" if item["points"] == "0" else f"{item['points']} point{'' if item['points'] == '1' else 's'}"
    return {
        "optional": False,
        "course": "",
        "draws": [],
        "options": [],
        **item,
        "worth": worth,
        "rule": _RULES.get((item["type"], item.get("scoring", "")), ""),
    }


def _data(bank: Bank, item: Mapping[str, Any], lines: _Lines | None) -> dict[str, Any]:
    """What the scripts need of an item; with `lines` also its key."""
    found: dict[str, Any] = {"id": item["id"], "type": item["type"], "version": item["version"]}
    found["counted"] = item["type"] != "open"
    found["optional"] = item["optional"]
    lettered = item["options"] or item.get("steps") or item.get("right")
    if lettered:
        found["letters"] = [each["letter"] for each in lettered]
    if "left" in item:
        found["numbers"] = [each["number"] for each in item["left"]]
    if item["draws"]:
        found["draws"] = [{name: shown_number(value) for name, value in draw.items()} for draw in item["draws"]]
    if lines is not None:
        key = practice_key(bank, bank.by_id[item["id"]])
        found["key"] = {**key, "lines": [lines.number(text) for text in key["lines"]]}
    return found


class _Lines:
    """Lines of feedback of the whole page, each once."""

    def __init__(self) -> None:
        self._texts: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def templates(self) -> Iterator[tuple[str, Markup]]:
        return ((f"line-{number}", prose.line(text)) for text, number in self._texts.items())


def _explanations(bank: Bank) -> Iterator[tuple[str, Markup]]:
    """For each item its answer and why it is one."""
    return ((f"why-{item.id}", _explanation(item)) for item in bank.items)


def _explanation(item: AnyItem) -> Markup:
    if isinstance(item, Open):
        return prose.html(item.model)
    answer = answer_text(item)
    return prose.html(f"Answer: {answer}\n\n{item.why}" if answer else item.why)


def _jinja() -> Environment:
    found = templates(__package__)
    found.filters.update(line=prose.line, prompt=_prompt, bare=_bare)
    return found


def _prompt(text: str, draws: list[Mapping[str, Any]]) -> Markup:
    """A prompt as HTML, in which ⟦C⟧ stands for the parameter C."""
    names = list(draws[0]) if draws else []
    signs = {name: _Sign(i) for i, name in enumerate(names)}
    found = str(prose.html(filled(text, signs)))
    for name, sign in signs.items():
        found = found.replace(f"<mi>{sign:}</mi>", f"<mn>⟦{name}⟧</mn>").replace(f"{sign:}", f"⟦{name}⟧")
    return Markup(found)


class _Sign:
    """Stands for a parameter while its prompt becomes HTML: a sign that no author writes, shown as a number is."""

    def __init__(self, number: int) -> None:
        self._sign = chr(0xE000 + number)

    def __format__(self, spec: str) -> str:
        return self._sign


def _bare(text: str) -> str:
    """A line without marks, for places that hold plain text only."""
    if "$" in text:
        raise QuizError(f"a formula cannot stand in `{text}`; write it in words or as code")
    return text.replace("`", "").replace("**", "")
