"""`autograder report` and `autograder dashboard`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import click

from autograder.cli.setting import Setting
from autograder.cli.wording import counted
from autograder.grading.parts import MODULES, QUIZ, assignment_of, part_of
from autograder.reports.pages import REPORT, is_page, page_name, prepare_file, prepare_folder, write_page
from autograder.reports.records import chosen, records

FOLDER, STUDENTS, CLASS = "reports", "students", "dashboard.html"


def report(
    course: Path | None, assignment: str, students: Sequence[str], output: Path | None, store: str | None
) -> None:
    """Write a page for each of the students, or for everybody."""
    from rich.console import Console
    from rich.progress import track

    from autograder.reports.student.page import StudentPages

    setting = Setting.find(course)
    graded = setting.course.assignment(assignment_of(assignment))
    with setting.store(store) as receipts:
        wanted = chosen(records(receipts, assignment, graded), students, assignment)
    folder = output or _home(setting, assignment) / STUDENTS
    prepare_folder(folder, setting.files.root)
    pages, size = StudentPages(setting.course, graded, datetime.now(UTC)), 0
    notices = Console(stderr=True)
    steps = track(wanted, "writing", console=notices, transient=True, disable=not notices.is_terminal)
    for record in steps:
        size += write_page(folder / page_name(record.student), pages.page(record))
    where = folder / page_name(wanted[0].student) if len(wanted) == 1 else folder
    click.echo(f"{counted(len(wanted), 'page')}: {where} ({size / 1e6:.1f} MB)")


def dashboard(course: Path | None, assignment: str, output: Path | None, pages: Path | None, store: str | None) -> None:
    """Write the page about a class."""
    from autograder.reports.dashboard.page import dashboard as page

    setting = Setting.find(course)
    graded = setting.course.assignment(assignment_of(assignment))
    with setting.store(store) as receipts:
        everybody = records(receipts, assignment, graded)
        has_quiz = part_of(assignment) is MODULES
        answers = receipts.standing_receipts(QUIZ.of(assignment)) if has_quiz else {}
    path = output or _home(setting, assignment) / CLASS
    prepare_file(path, setting.files.root)
    folder = pages or path.parent / STUDENTS
    links = _links(folder, path.parent)
    html = page(setting.course, graded, everybody, list(answers.values()), datetime.now(UTC), links)
    write_page(path, html)
    click.echo(f"{path} ({counted(len(everybody), 'student')}); it is for instructors, not for students")


def _home(setting: Setting, assignment: str) -> Path:
    return setting.files.root / FOLDER / assignment.replace("/", "_")


def _links(folder: Path, start: Path) -> Callable[[str], str]:
    """Addresses of students' pages, as seen from a folder; "" where a student has none."""
    there = {path.name for path in folder.glob("*.html") if is_page(path, REPORT)} if folder.is_dir() else set()
    way = Path(os.path.relpath(folder, start)).as_posix()
    return lambda student: quote(f"{way}/{name}") if (name := page_name(student)) in there else ""
