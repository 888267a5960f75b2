"""`autograder nbgrade`."""

from __future__ import annotations

from pathlib import Path

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from autograder.cli.exit_codes import ATTENTION, OK
from autograder.cli.setting import Setting
from autograder.cli.wording import attention, counted
from autograder.grading.receipt import shown
from autograder.notebooks.batch import FAILED, UNCHANGED, ClassOfNotebooks, Row


def run(course: Path | None, assignment: str, jobs: int, force: bool) -> int:
    """Grade all submitted notebooks of an assignment through nbgrader. Returns the exit code."""
    setting = Setting.find(course)
    graded = setting.course.assignment(assignment)
    notices = Console(stderr=True)
    notebooks = ClassOfNotebooks(setting.files.root, setting.course, graded)
    rows: list[Row] = []
    columns = (TextColumn("grading"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"))
    with Progress(
        *columns, TimeRemainingColumn(), console=notices, transient=True, disable=not notices.is_terminal
    ) as progress:
        task = progress.add_task("grading", total=len(notebooks.students))

        def finished(row: Row) -> None:
            rows.append(row)
            progress.advance(task)

        notebooks.grade(jobs, force, finished)
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    table.add_column("student", overflow="fold")
    for name in ("modules", "gradebook"):
        table.add_column(name, justify="right")
    table.add_column("", overflow="fold")
    for row in rows:
        whole = "" if row.score is None else f"{row.score:g} of {row.max_score:g}"
        remarks = [row.outcome] if row.outcome in (FAILED, UNCHANGED) else []
        remarks += ["answers to read"] if row.needs_manual_grade else []
        remarks += [*row.receipt.attention(), *row.notes]
        table.add_row(Text(row.student), shown(row.receipt.earned), whole, Text("; ".join(remarks)))
    Console().print(table)
    look = [row for row in rows if row.outcome == FAILED or row.receipt.attention() or row.notes]
    notices.print(f"{counted(len(rows), 'submission')}; {attention(len(look), len(rows))}")
    return ATTENTION if look else OK
