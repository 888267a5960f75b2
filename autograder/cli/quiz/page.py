"""`autograder quiz page`."""

from __future__ import annotations

from pathlib import Path

import click

from autograder.cli.setting import Setting
from autograder.quiz.bank import load_bank
from autograder.quiz.errors import QuizError
from autograder.quiz.page.build import page


def run(course: Path | None, assignment: str, mode: str, out: Path | None) -> None:
    """Write the page, graded or for practice."""
    setting, practice = Setting.find(course), mode == "practice"
    html = page(load_bank(setting.files, setting.course, assignment), setting.course, practice=practice)
    path = out or Path(f"{assignment}_{'practice' if practice else 'quiz'}.html")
    try:
        path.write_text(html, encoding="utf-8", newline="\n")
    except OSError as error:
        raise QuizError(f"{path} cannot be written: {error.strerror}") from None
    keys = "; it holds the keys, do not hand it out before the deadline" if practice else ""
    click.echo(f"{path} ({len(html.encode()) // 1000} kB){keys}")
