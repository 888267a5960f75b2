"""Tables about quizzes for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.grading.receipt import Receipt, shown
from autograder.grading.score import scores
from autograder.grading.store import Store
from autograder.quiz.marking import NOT_ANSWERED

Row = tuple[Receipt, Fraction, bool]
"""A receipt, the points that stand, and whether a person gave some of them."""


def standing_points(store: Store, receipts: Sequence[Receipt]) -> list[Row]:
    """Rows of a table, for receipts of one assignment."""
    by_hand = store.all_adjustments(receipts[0].assignment) if receipts else {}
    rows = []
    for receipt in receipts:
        given = by_hand.get(receipt.student, [])
        found = scores(receipt, given) if given else []
        points = sum((s.points for s in found), Fraction(0)) if given else receipt.earned
        rows.append((receipt, points, any(s.manual for s in found)))
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
        more = f" and {len(rewrite) - 3} more" if len(rewrite) > 3 else ""
        remarks = [*receipt.notes[:1], *([f"please rewrite: {', '.join(rewrite[:3])}{more}"] if rewrite else [])]
        numbers = (f"{answered}/{len(receipt.checks)}", shown(points) + "*" * is_manual, shown(receipt.possible))
        table.add_row(Text(receipt.student), *numbers, Text("; ".join(remarks)))
    console.print(table)


@dataclass(frozen=True)
class Question:
    """How a question did: the share of its points that was earned where it was answered (None: nobody answered), and
    the false idea met most, with how often."""

    item: str
    section: str
    share: float | None
    answered: int
    idea: str
    times: int


def hardest_first(rows: Iterable[Mapping[str, Any]]) -> list[Question]:
    """What `item_analysis` found, in the order of difficulty; questions that nobody answered come last."""
    found = []
    for row in rows:
        idea, times = row["ideas"].most_common(1)[0] if row.get("ideas") else ("", 0)
        answered = sum(count for outcome, count in row["outcomes"].items() if outcome != NOT_ANSWERED)
        share = row["earned"] / row["of"] if row["of"] else None
        found.append(Question(row["item"], row["section"], share, answered, idea, times))
    return sorted(found, key=lambda question: 2 if question.share is None else question.share)


def items_table(console: Console, rows: Iterable[Mapping[str, Any]]) -> None:
    """One line per question, hardest first: how many answered it, the share of its points that they earned, and the
    false idea met most."""
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, padding=(0, 1))
    table.add_column("question", overflow="fold")
    table.add_column("section")
    table.add_column("answered", justify="right")
    table.add_column("earned", justify="right")
    table.add_column("idea met most", overflow="fold")
    for question in hardest_first(rows):
        share = "-" if question.share is None else f"{100 * question.share:.0f} %"
        idea = Text(f"{question.idea} ({question.times})" if question.idea else "")
        table.add_row(question.item, question.section, str(question.answered), share, idea)
    console.print(table)
