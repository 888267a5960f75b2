"""Tables for the terminal and for a page of Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lab.faults import LabError

Table = Sequence[dict[str, Any]]


def show(table: Table, title: str = "") -> None:
    """Print a table; a narrow terminal wraps its cells."""
    try:
        from rich import box
        from rich.console import Console
        from rich.table import Table as Drawn
    except ImportError:
        raise LabError("the lab shows its tables with rich: python -m pip install rich") from None
    drawn = Drawn(title=title or None, box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for name in table[0]:
        numbers = [cell(row[name]) for row in table] if _has_numbers(table, name) else []
        whole = max(map(len, numbers), default=0)  # a number is never broken
        widths = {"min_width": whole, "max_width": max(whole, 8)} if whole else {}
        drawn.add_column(name.replace("_", " "), justify="right" if whole else "left", overflow="fold", **widths)
    for row in table:
        drawn.add_row(*map(cell, row.values()))
    Console().print(drawn)


def markdown(table: Table) -> list[str]:
    """The lines of a table in Markdown."""
    heads = [name.replace("_", " ") for name in table[0]]
    sides = ["---:" if _has_numbers(table, name) else "---" for name in table[0]]
    return [_line(heads), _line(sides), *(_line(map(cell, row.values())) for row in table)]


def cell(value: Any) -> str:
    """A value as a reader wants it: losses with four decimals, large numbers with commas."""
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return f"{value:.4f}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _line(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


def _has_numbers(table: Table, name: str) -> bool:
    return any(isinstance(row[name], (int, float)) and not isinstance(row[name], bool) for row in table)
