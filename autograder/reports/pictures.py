"""Pictures as inline SVG: heat maps, bars and lines.

Coordinates are whole numbers and colours are classes of the page's style (`pictures.css`), so that a picture follows
dark mode and print. What it shows stands beside it as a table or text: to those who do not see it, it is not there.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from autograder.quiz.drawing import shown_number

LETTER = 7
"""Width of a letter at the size of labels."""

HEIGHT = 180
"""Of a chart without its labels."""

BARS, POINTS = 84, 46
"""Width of a column of a chart, narrow enough to be read on a phone."""

Values = Sequence[Sequence[float]]
"""The numbers of a picture: rows of one length."""


def heatmap(
    values: Values,
    names: Sequence[str],
    columns: Sequence[str],
    largest: float | None = None,
    framed: Collection[tuple[int, int]] = (),
    digits: int = 2,
) -> Markup:
    """A cell for each value: the larger, the stronger; values below zero have another colour.

    `largest` is the value of full strength (default: the largest there is), `framed` are cells with a frame, `digits`
    the decimals of small values.
    """
    return _svg(list(_heatmap(values, names, columns, largest, framed, digits)))


def bars(values: Values, names: Sequence[str], columns: Sequence[str], width: int = BARS) -> Markup:
    """A group of bars for each column, one for each row; a column is at least `width` wide."""
    return _svg(list(_bars(values, names, columns, width)))


def lines(values: Values, names: Sequence[str], columns: Sequence[str]) -> Markup:
    """A line for each row over all columns."""
    return _svg(list(_lines(values, names, columns)))


def short(value: float, most: int = 2) -> str:
    """A value at the digits that can be seen in a picture, at most so many decimals."""
    digits = most if abs(value) < 10 else 1 if abs(value) < 100 else 0
    rounded = round(value, digits)
    text = shown_number(int(rounded)) if rounded == int(rounded) else f"{rounded:.{digits}f}"
    return text.replace("-", "−")


def _mark(value: float) -> str:
    """A mark of a scale."""
    return f"{round(value, 9):g}".replace("-", "−") if abs(value) < 10000 else short(value)


@dataclass(frozen=True)
class _Part:
    """An element of the drawing and how far it reaches."""

    markup: Markup
    right: int
    bottom: int


def _svg(parts: list[_Part]) -> Markup:
    width, height = max(part.right for part in parts) + 2, max(part.bottom for part in parts) + 2
    inside = Markup("\n").join(part.markup for part in parts)
    # What it shows stands in the table beneath it, number by number.
    return Markup(
        '<svg viewBox="0 0 {w} {h}" width="{w}" height="{h}" aria-hidden="true" focusable="false">\n{}\n</svg>'
    ).format(inside, w=width, h=height)


def _text(x: int, y: int, text: str, anchor: str = "middle", kind: str = "label") -> _Part:
    half = {"middle": 0.5, "start": 1.0, "end": 0.0}[anchor]
    right = x + math.ceil(LETTER * len(text) * half)
    return _Part(
        Markup('<text x="{}" y="{}" text-anchor="{}" class="{}">{}</text>').format(x, y, anchor, kind, text),
        right,
        y + 4,
    )


def _box(x: int, y: int, width: int, height: int, kind: str, strength: float = 1.0) -> _Part:
    opacity = Markup(' fill-opacity="{:.2f}"').format(strength) if strength < 1 else ""
    markup = Markup('<rect x="{}" y="{}" width="{}" height="{}" class="{}"{}/>').format(
        x, y, width, height, kind, opacity
    )
    return _Part(markup, x + width, y + height)


def _rule(x1: int, y1: int, x2: int, y2: int, kind: str) -> _Part:
    markup = Markup('<line x1="{}" y1="{}" x2="{}" y2="{}" class="{}"/>').format(x1, y1, x2, y2, kind)
    return _Part(markup, max(x1, x2), max(y1, y2))


def _heatmap(
    values: Values,
    names: Sequence[str],
    columns: Sequence[str],
    largest: float | None,
    framed: Collection[tuple[int, int]],
    digits: int,
) -> Iterator[_Part]:
    left = LETTER * max(map(len, names)) + 12 if any(names) else 2
    width = max(56, LETTER * max(map(len, columns)) + 10)
    height = 36
    top = largest or max(abs(x) for line in values for x in line) or 1.0
    for j, column in enumerate(columns):
        yield _text(left + j * width + width // 2, 14, column)
    for i, (name, line) in enumerate(zip(names, values, strict=True)):
        y = 24 + i * height
        yield _text(left - 10, y + height // 2 + 4, name, "end")
        for j, value in enumerate(line):
            strength = min(1.0, abs(value) / top)
            kind = "warm" if value < 0 else "cool"
            yield _box(left + j * width, y, width - 2, height - 2, kind, strength)
            if (i, j) in framed:
                yield _box(left + j * width + 1, y + 1, width - 4, height - 4, "frame")
            yield _text(left + j * width + width // 2 - 1, y + height // 2 + 4, short(value, digits), kind="value")


@dataclass(frozen=True)
class _Scale:
    """Values to the heights of a chart. `step` is the distance of its marks."""

    low: float
    high: float
    step: float
    top: int

    def y(self, value: float) -> int:
        return self.top + round(HEIGHT * (self.high - value) / (self.high - self.low))


def _scale(values: Values, top: int) -> _Scale:
    low, high = min(0.0, *map(min, values)), max(0.0, *map(max, values))
    raw = ((high - low) or 1.0) / 4
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= raw)
    return _Scale(step * math.floor(low / step), step * math.ceil(high / step) or step, step, top)


def _frame(scale: _Scale, names: Sequence[str], left: int, width: int) -> Iterator[_Part]:
    """Legend and marks."""
    x = left
    for i, name in enumerate(names if any(names) else []):
        yield _box(x, 4, 14, 10, f"series{i % 3}")
        yield _text(x + 20, 13, name, "start")
        x += 44 + LETTER * len(name)
    for k in range(round((scale.high - scale.low) / scale.step) + 1):
        value = scale.low + k * scale.step
        yield _rule(
            left, scale.y(value), left + width, scale.y(value), "axis" if abs(value) < scale.step / 2 else "mark"
        )
        yield _text(left - 8, scale.y(value) + 4, _mark(value), "end")


def _margins(values: Values, names: Sequence[str]) -> tuple[_Scale, int]:
    scale = _scale(values, 42 if any(names) else 18)
    widest = max(
        len(_mark(scale.low + k * scale.step)) for k in range(round((scale.high - scale.low) / scale.step) + 1)
    )
    return scale, LETTER * widest + 14


def _bars(values: Values, names: Sequence[str], columns: Sequence[str], least: int) -> Iterator[_Part]:
    scale, left = _margins(values, names)
    group = max(least, *(LETTER * len(column) + 8 for column in columns))
    yield from _frame(scale, names, left, group * len(columns))
    width = min(48, (group - 16) // len(values))
    for j, column in enumerate(columns):
        start = left + j * group + (group - width * len(values)) // 2
        for i, line in enumerate(values):
            ends = sorted((scale.y(line[j]), scale.y(0)))
            yield _box(start + i * width, ends[0], width - 2, max(1, ends[1] - ends[0]), f"series{i % 3}")
            if width >= 24:
                y = ends[0] - 5 if line[j] >= 0 else ends[1] + 13
                yield _text(start + i * width + width // 2 - 1, y, short(line[j]), kind="value")
        yield from _column_label(left + j * group + group // 2, scale, column)


def _column_label(x: int, scale: _Scale, column: str) -> Iterator[_Part]:
    yield _text(x, scale.top + HEIGHT + 20, column)


def _lines(values: Values, names: Sequence[str], columns: Sequence[str]) -> Iterator[_Part]:
    scale, left = _margins(values, names)
    step = max(POINTS, *(LETTER * len(column) + 8 for column in columns))
    yield from _frame(scale, names, left, step * len(columns))
    places = [left + step * j + step // 2 for j in range(len(columns))]
    for i, line in enumerate(values):
        points = " ".join(f"{x},{scale.y(value)}" for x, value in zip(places, line, strict=True))
        yield _Part(Markup('<polyline points="{}" class="curve series{}"/>').format(points, i % 3), 0, 0)
    for x, column in zip(places, columns, strict=True):
        yield from _column_label(x, scale, column)
