"""`autograder adjust`."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import click

from autograder.authoring.workbook import asked_points
from autograder.cli.setting import Setting
from autograder.course.points import exact
from autograder.grading import GradingError
from autograder.grading.parts import MODULES, QUIZ, assignment_of, command_for, part_of
from autograder.grading.receipt import shown
from autograder.grading.score import scores
from autograder.grading.store import Adjustment, now
from autograder.quiz.bank import load_bank
from autograder.quiz.receipts import section_points


def run(
    course: Path | None,
    assignment: str,
    student: str,
    exercise: str,
    points: str | None,
    reason: str,
    author: str,
    store: str | None,
    withdraw: bool = False,
) -> None:
    """Keep a manual score for one exercise beside the automatic one, or take back the one there is."""
    setting = Setting.find(course)
    limit = _limit(setting, assignment, exercise)
    if withdraw == (points is not None):
        raise GradingError("give either the POINTS, or --withdraw to let the checks decide again")
    given = Fraction(0) if points is None else _given(points, limit, exercise)
    if not reason.strip() or not author.strip():
        raise GradingError("give a --reason and an --author; both are kept with the adjustment")
    adjustment = Adjustment(exercise, given, reason.strip(), author.strip(), now(), withdraw)
    with setting.store(store) as receipts:
        receipt = receipts.standing(assignment, student)
        if receipt is None:
            how = f"`{command_for(assignment)}` makes it"
            raise GradingError(f'there is no receipt for "{student}" in {assignment}; {how}')
        known = {score.exercise: score for score in scores(receipt, receipts.adjustments(assignment, student))}
        if exercise not in known:
            raise GradingError(f'the result of "{student}" has no {exercise}; grade the submission again first')
        if withdraw and known[exercise].manual is None:
            raise GradingError(f'"{student}" has no points by hand for {exercise}; there is nothing to withdraw')
        receipts.adjust(assignment, student, adjustment)
    if withdraw and not known[exercise].was_graded:
        click.echo(f"{student}: {exercise} has no points again, and waits for some ({author.strip()})")
        return
    stands, by = (known[exercise].automatic, "by the checks again") if withdraw else (given, "by hand")
    click.echo(f"{student}: {exercise} stands at {shown(stands)} of {shown(limit)} {by} ({author.strip()})")


def _given(points: str, limit: Fraction, exercise: str) -> Fraction:
    try:
        given = exact(points)
    except ValueError as error:
        raise GradingError(f"points {error}") from None
    if not 0 <= given <= limit:
        raise GradingError(f"points must be between 0 and {shown(limit)}, the points of {exercise}; got {points}")
    return given


def _limit(setting: Setting, assignment: str, exercise: str) -> Fraction:
    """The points of an exercise, of a section of a quiz, or of a cell of a notebook."""
    graded, part = setting.course.assignment(assignment_of(assignment)), part_of(assignment)
    if part is MODULES:
        return graded.exercise(exercise).points
    if part is QUIZ:
        points, kind = section_points(load_bank(setting.files, setting.course, graded.id)), "section"
    else:
        points, kind = asked_points(setting.files, graded), "cell with points"
    if exercise not in points:
        raise GradingError(f"{exercise} is no {kind} of {assignment}; it has {', '.join(points) or 'none'}")
    return points[exercise]
