"""The history of a student for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.grading.final import Final
from autograder.grading.history import ByHand, Event, Graded
from autograder.grading.receipt import shown
from autograder.reports.regrade import change_lines


def history_report(console: Console, student: str, assignment: str, events: Sequence[Event], final: Final) -> None:
    """Everything that was kept about a student's work, oldest first, and what it comes to."""
    console.print(Text(f"{student} in {assignment}", style="bold"))
    grid = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for event in events:
        time, lines = _of_receipt(event) if isinstance(event, Graded) else _of_adjustment(event)
        grid.add_row(Text(f"  {time}"), Text("\n".join(lines)))
    console.print(grid)
    late = f"; {final.late.sentence}" if final.late.percent else ""
    console.print(Text(f"  stands: {shown(final.points)} of {shown(final.possible)} points{late}\n", style="bold"))


def _of_receipt(event: Graded) -> tuple[str, list[str]]:
    receipt = event.receipt
    points = f"{shown(receipt.earned)} of {shown(receipt.possible)} points by the checks"
    how = f"kit {receipt.kit_version}, seed {receipt.seed}, suite {receipt.suite_hash[:8]}"
    marks = [
        *(["this result counts"] if event.stands else []),
        *(["kept at a regrade whose result is lower"] if receipt.kept_over else []),
        *([] if receipt.complete else ["the grader was at fault"]),
        *([f"handed in {receipt.handed_in}"] if receipt.handed_in else []),
    ]
    lines = [f"{points} ({how})", *(["; ".join(marks)] if marks else []), *event.why, *change_lines(event.checks)]
    if event.again:  # nobody knows when
        return "later", [f"the result of {receipt.graded_at} once more: {lines[0]}", *lines[1:]]
    return receipt.graded_at, lines


def _of_adjustment(event: ByHand) -> tuple[str, list[str]]:
    given = event.adjustment
    what = "points by hand withdrawn" if given.withdrawn else f"{shown(given.points)} points by hand"
    later = "" if event.stands or given.withdrawn else " (does not count any more)"
    return given.made_at, [f"{given.exercise}: {what} by {given.author}: {given.reason}{later}"]
