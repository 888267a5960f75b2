"""Attention weights, or other shares, out of the message of a public check: what came back and what was expected."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from autograder.reports.pictures import heatmap

_MOST = 12
"""A picture of more rows or columns would not be read."""

_ROUNDED = 0.02
_LARGEST = 1e6
_LINE = re.compile(r"^(returned|expected) (\[\[.*\]\])(?:  \(.*\))?$", re.MULTILINE)

Matrix = list[list[float]]


@dataclass(frozen=True)
class Compared:
    """Weights that came back beside those expected, and how many of the numbers differ."""

    returned: Markup
    expected: Markup
    different: int
    count: int


def compared(message: str) -> Compared | None:
    """The weights in a message, drawn; None where it shows none.

    Weights are known by what they are: a table in which no number is below 0 and each row is shared out to 1.
    """
    found = {name: table for name, text in _LINE.findall(message) if (table := _table(text))}
    if found.keys() != {"returned", "expected"}:
        return None
    returned, expected = found["returned"], found["expected"]
    if _shape(returned) != _shape(expected) or not all(_is_shared_out(row) for row in expected):
        return None
    cells = [(i, j) for i, row in enumerate(expected) for j in range(len(row))]
    different = {(i, j) for i, j in cells if returned[i][j] != expected[i][j]}
    largest = max(abs(x) for row in (*returned, *expected) for x in row)
    rows, columns = [f"row {i}" for i in range(len(expected))], [str(j) for j in range(len(expected[0]))]
    yours, wanted = (heatmap(table, rows, columns, largest, different, digits=3) for table in (returned, expected))
    return Compared(yours, wanted, len(different), len(cells))


def _table(text: str) -> Matrix | None:
    """A nested list of numbers as the grader writes it; None where it is anything else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or not all(isinstance(row, list) and row for row in found):
        return None
    if max(len(found), *map(len, found)) > _MOST or len({len(row) for row in found}) != 1:
        return None
    return found if all(map(_is_number, (x for row in found for x in row))) else None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _LARGEST


def _shape(table: Sequence[Sequence[float]]) -> tuple[int, int]:
    return len(table), len(table[0])


def _is_shared_out(row: Sequence[float]) -> bool:
    return len(row) > 1 and min(row) >= 0 and abs(sum(row) - 1) <= _ROUNDED
