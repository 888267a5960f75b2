"""`autograder adjust`."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import click

from autograder.cli.setting import Setting
from autograder.course.points import exact
from autograder.grading import GradingError
from autograder.grading.receipt import shown
from autograder.grading.store import Adjustment, now
from autograder.quiz.bank import load_bank
from autograder.quiz.receipts import quiz_id, section_points


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
    limit = _limit(setting, assignment, exercise)
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


def _limit(setting: Setting, assignment: str, exercise: str) -> Fraction:
    """The points of an exercise, or of a section of a quiz."""
    name = assignment.partition("/")[0]
    if assignment != quiz_id(name):
        return setting.course.assignment(assignment).exercise(exercise).points
    points = section_points(load_bank(setting.files, setting.course, name))
    if exercise not in points:
        raise GradingError(f"{exercise} is no section of {assignment}; it has {', '.join(points)}")
    return points[exercise]
