"""`autograder release`."""

from __future__ import annotations

from pathlib import Path

import click

from autograder.cli.setting import Setting


def run(course: Path | None, assignment: str, force: bool) -> None:
    """Write the students' folder and the zip; say where they are."""
    from autograder.authoring import release

    setting = Setting.find(course)
    written = release(setting.files, setting.course.assignment(assignment), force=force)
    if not written:
        click.echo(f"{assignment} is up to date")
    for path in written:
        click.echo(f"wrote {path}")
