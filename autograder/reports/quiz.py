"""Tables about quizzes for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.grading.receipt import Receipt, shown
from autograder.grading.score import scores
from autograder.grading.store import Store

Row = tuple[Receipt, Fraction, bool]
"""A receipt, the points that stand, and whether a person gave some of them."""


def standing_points(store: Store, receipts: Sequence[Receipt]) -> list[Row]:
    """Rows of a table, for receipts of one assignment."""
    by_hand = store.all_adjustments(receipts[0].assignment) if receipts else {}
    rows = []
    for receipt in receipts:
        given = by_hand.get(receipt.student, [])
        points = sum((s.points for s in scores(receipt, given)), Fraction(0)) if given else receipt.earned
        rows.append((receipt, points, bool(given)))
    return rows


def quiz_table(console: Console, rows: Sequence[Row]) -> None:
    """One line per student: answered, points (with * where a person gave some), and what to look at."""
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, padding=(0, 1))
    table.add_column("student", overflow="fold")
    for name in ("answered", "points", "of"):
        table.add_column(name, justify="right")
    table.add_column("to look at", overflow="fold")
    for receipt, points, is_manual in rows:
        answered = sum(check.outcome != "not attempted" for check in receipt.checks)
        rewrite = [check.id for check in receipt.checks if check.outcome == "please rewrite"]
        remarks = [*receipt.notes[:1], *([f"please rewrite: {', '.join(rewrite[:3])}"] if rewrite else [])]
        numbers = (f"{answered}/{len(receipt.checks)}", shown(points) + "*" * is_manual, shown(receipt.possible))
        table.add_row(Text(receipt.student), *numbers, Text("; ".join(remarks)))
    console.print(table)


def items_table(console: Console, rows: Iterable[Mapping[str, Any]]) -> None:
    """One line per question, hardest first: how much of its points was earned, and the false idea met most."""
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, padding=(0, 1))
    table.add_column("question", overflow="fold")
    table.add_column("section")
    table.add_column("earned", justify="right")
    table.add_column("idea met most", overflow="fold")
    for row in sorted(rows, key=lambda row: row["earned"] / row["of"] if row["of"] else 2):
        share = f"{100 * row['earned'] / row['of']:.0f} %" if row["of"] else "-"
        idea = row.get("ideas") and row["ideas"].most_common(1)[0]
        table.add_row(row["item"], row["section"], share, Text(f"{idea[0]} ({idea[1]})" if idea else ""))
    console.print(table)
