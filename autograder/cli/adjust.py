"""`autograder adjust`."""

from __future__ import annotations

from pathlib import Path

import click

from autograder.cli.setting import Setting
from autograder.course.points import exact
from autograder.grading import GradingError
from autograder.grading.receipt import shown
from autograder.grading.store import Adjustment, now


def run(
    course: Path | None,
    assignment: str,
    student: str,
    exercise: str,
    points: str,
    reason: str,
    author: str,
    store: str | None,
) -> None:
    """Keep a manual score for one exercise beside the automatic one."""
    setting = Setting.find(course)
    limit = setting.course.assignment(assignment).exercise(exercise).points
    try:
        given = exact(points)
    except ValueError as error:
        raise GradingError(f"points {error}") from None
    if not 0 <= given <= limit:
        raise GradingError(f"points must be between 0 and {shown(limit)}, the points of {exercise}; got {points}")
    if not reason.strip() or not author.strip():
        raise GradingError("give a --reason and an --author; both are kept with the adjustment")
    with setting.store(store) as receipts:
        if receipts.standing(assignment, student) is None:
            raise GradingError(f'there is no receipt for "{student}" in {assignment}; grade the submission first')
        receipts.adjust(assignment, student, Adjustment(exercise, given, reason.strip(), author.strip(), now()))
    click.echo(f"{student}: {exercise} stands at {shown(given)} of {shown(limit)} by hand ({author.strip()})")
