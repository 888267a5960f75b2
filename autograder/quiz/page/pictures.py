"""Pictures of a section, drawn from the values of the worked examples, each with a table of the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from autograder.quiz.bank import Bank
from autograder.quiz.errors import QuizError
from autograder.quiz.files import Picture
from autograder.reports.pictures import Values, bars, heatmap, lines, short

_DRAW: Mapping[str, Callable[[Values, Sequence[str], Sequence[str]], Markup]] = {
    "heatmap": heatmap,
    "bars": bars,
    "line": lines,
}


@dataclass(frozen=True)
class Drawn:
    """A picture as it is shown: `rows` are labelled, and so are their `columns`; `cells` are the numbers as text."""

    svg: Markup
    caption: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]


def drawn(bank: Bank, picture: Picture) -> Drawn:
    """Raises QuizError where its values are no list of numbers, or the labels do not fit."""
    value = bank.value(picture.values)
    rows = value if isinstance(value, list) and value and isinstance(value[0], list) else [value]
    columns = list(picture.columns)
    values = [[float(x) for x in line if not isinstance(x, list)] for line in rows if isinstance(line, list)]
    if not values or any(len(line) != len(columns) for line in values) or len(picture.rows) not in (0, len(values)):
        raise QuizError(f"the picture of {picture.values} has labels for another number of rows or columns")
    names = list(picture.rows) or [""] * len(values)
    cells = [(name, [short(x) for x in line]) for name, line in zip(names, values, strict=True)]
    return Drawn(_DRAW[picture.draw](values, names, columns), picture.caption, columns, cells)
