"""Markdown of a quiz for learning platforms: HTML with formulas that they draw themselves, and bare text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape
from typing import Any

from markdown_it.token import Token

from autograder.quiz import prose
from autograder.quiz.bank import Bank
from autograder.quiz.errors import QuizError
from autograder.quiz.files import Picture

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def _formula(content: str, options: dict[str, Any]) -> str:
    left, right = (r"\[", r"\]") if options["display_mode"] else (r"\(", r"\)")
    return escape(f"{left}{content}{right}", quote=False)


_PARSER = prose.parser(_formula)


def html(source: str) -> str:
    """Blocks of HTML."""
    return str(_PARSER.render(source.strip())).strip()


def line(source: str) -> str:
    """One line of HTML, without a paragraph around it."""
    return str(_PARSER.renderInline(" ".join(source.split())))


def plain(source: str) -> str:
    """The text alone, for places that show no HTML."""
    return " ".join("".join(_texts(_PARSER.parseInline(" ".join(source.split())))).split())


def _texts(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if token.children:
            yield from _texts(token.children)
        else:
            yield " " if token.type in ("softbreak", "hardbreak") else token.content


def table(picture: Picture, bank: Bank, shown: Callable[[str], str] = line) -> str:
    """The values of a picture as a table of HTML, three digits behind the point; `shown` makes HTML of its words."""
    value = bank.value(picture.values)
    assert isinstance(value, list)
    rows = [row if isinstance(row, list) else [row] for row in (value if isinstance(value[0], list) else [value])]
    names = picture.rows or ("",) * len(rows)
    head = "".join(f'<th scope="col">{shown(name)}</th>' for name in ("", *picture.columns))
    body = "".join(
        f'<tr><th scope="row">{shown(name)}</th>{"".join(f"<td>{_number(x)}</td>" for x in row)}</tr>'
        for name, row in zip(names, rows, strict=True)
    )
    return f'<table border="1"><caption>{shown(picture.caption)}</caption><tr>{head}</tr>{body}</table>'


def _number(value: object) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def refuse_control_characters(where: str, value: object) -> None:
    """Raises QuizError for text that no XML and no page can carry, however deep it lies in the value."""
    if isinstance(value, str) and (found := _FORBIDDEN.search(value)):
        raise QuizError(f"{where} holds the character U+{ord(found[0]):04X}, which cannot be exported; remove it")
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
        refuse_control_characters(where, part)
