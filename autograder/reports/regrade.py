"""Tables about a regrade for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.grading.changes import CheckChange
from autograder.grading.receipt import shown
from autograder.grading.regrade import Regraded, by_check


def regrade_tables(console: Console, found: Sequence[Regraded]) -> None:
    """Who gets other points, those who lose most first, and by which checks; then what each check does to the class."""
    different = sorted((one for one in found if one.is_different), key=lambda one: one.gain)
    if different:
        table = _table("student", ("before", "after", "change"))
        table.add_column("what changed", overflow="fold")
        for one in different:
            after = ("?", "") if one.failed else (shown(one.new.points), _signed(one.gain))
            table.add_row(Text(one.student), shown(one.standing.points), *after, Text("\n".join(_lines(one))))
        console.print(table)
    if moved := by_check(found):
        table = _table("check", ("worth", "gain", "lose", "points in all"))
        for change, gain, lose, points in moved:
            check = Text(f"{change.check.exercise}: {change.check.title}")
            table.add_row(check, _worth(change), str(gain), str(lose), _signed(points))
        console.print(table)


def change_lines(changes: Iterable[CheckChange]) -> list[str]:
    """Checks and what became of them, as far as points or outcomes are others."""
    return [
        f"{one.check.exercise}: {one.check.title}{'' if one.check.public else ' (hidden)'}: {one.sentence}"
        for one in changes
        if one.gain or one.ended_otherwise
    ]


def _worth(change: CheckChange) -> str:
    was, now = (shown(check.points) if check else "-" for check in (change.before, change.after))
    return now if was == now else f"{was} -> {now}"


def _signed(points: Fraction) -> str:
    """Points more or less, with their sign."""
    return f"+{shown(points)}" if points > 0 else shown(points)


def _lines(one: Regraded) -> list[str]:
    if one.failed:
        return ["regrade failed by the grader's fault; the result before stands"]
    kept = [f"stays at {shown(one.standing.points)} (--never-lower)"] if one.is_kept else []
    return [*change_lines(one.checks), *kept, *one.by_hand]


def _table(first: str, numbers: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, padding=(0, 1))
    table.add_column(first, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table
