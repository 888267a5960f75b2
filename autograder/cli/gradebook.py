"""`autograder gradebook`."""

from __future__ import annotations

from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.cli.exit_codes import ATTENTION, OK
from autograder.cli.setting import Setting
from autograder.cli.wording import counted
from autograder.grading import GradingError
from autograder.grading.receipt import WAITS, shown


def run(course: Path | None, what: str, assignment: str, store: str | None, file: Path | None) -> int:
    """Compare nbgrader's gradebook with the receipts, or carry scores over. Returns the exit code."""
    try:
        from autograder.notebooks import gradebook as book
    except ImportError as error:
        raise GradingError(f"{error.name} is not installed: pip install 'autograder[instructor]'") from None
    setting = Setting.find(course)
    graded = setting.course.assignment(assignment)
    with setting.store(store) as receipts, book.opened(setting.files.root, setting.course) as theirs:
        if what == "export":
            path = file or Path(f"{assignment}_gradebook.csv")
            click.echo(f"{counted(book.write_csv(theirs, graded, path), 'student')} written to {path}")
            return OK
        found = book.entries(theirs, receipts, graded)
        if not found:
            raise GradingError(f"there are no receipts for {assignment}; grade the submissions first")
        if what == "push":
            count = book.push(theirs, graded, found)
            click.echo(f"{count} of {len(found)} grades in nbgrader's gradebook changed")
            return OK
        if what == "pull":
            new = book.pull(receipts, found)
            for entry in new:
                click.echo(f"{entry.student}: {entry.exercise} stands at {entry.manual:g} by hand ({entry.reason})")
            click.echo(f"{counted(len(new), 'score')} typed in formgrader {'is' if len(new) == 1 else 'are'} new here")
            return OK
        return _differences(found)


def _differences(found: list) -> int:  # type: ignore[type-arg]  # of entries, which only nbgrader's side can make
    different = [entry for entry in found if entry.differs]
    if not different:
        click.echo(f"all {len(found)} grades agree")
        return OK
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for name in ("student", "exercise or cell"):
        table.add_column(name, overflow="fold")
    for name in ("here", "in the gradebook", "typed in formgrader"):
        table.add_column(name, justify="right")
    for entry in different:
        theirs = "" if entry.theirs is None else f"{entry.theirs:g}"
        manual = "" if entry.manual is None else f"{entry.manual:g}"
        ours = WAITS if entry.ours.is_open else shown(entry.ours.points)
        table.add_row(Text(entry.student), Text(entry.exercise), ours, theirs, manual)
    Console().print(table)
    click.echo(f"{len(different)} of {len(found)} grades differ")
    return ATTENTION
