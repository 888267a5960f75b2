"""`autograder hint`."""

from __future__ import annotations

from pathlib import Path

import click

from autograder.authoring import AuthoringError
from autograder.authoring.bundle.hints import HintError, hint
from autograder.cli.setting import Setting


def run(course: Path | None, assignment: str, exercise: str, more: bool) -> None:
    """Print a step of the help with an exercise."""
    setting = Setting.find(course)
    folder = setting.files.stubs(setting.course.assignment(assignment).id)
    try:
        click.echo(hint(folder, exercise.removesuffix(".py"), more, f"autograder hint {assignment} {exercise}"))
    except HintError as error:
        raise AuthoringError(f"{error}") from None
