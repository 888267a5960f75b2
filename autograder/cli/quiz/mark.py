"""`autograder quiz mark`."""

from __future__ import annotations

import gc
import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from autograder.cli.exit_codes import ATTENTION, OK
from autograder.cli.setting import Setting
from autograder.cli.wording import attention, counted, named
from autograder.grading.parts import QUIZ
from autograder.grading.receipt import NOT_SUBMITTED, Receipt
from autograder.grading.store import Store
from autograder.intake import read_roster
from autograder.quiz.answers import HandedInAnswers
from autograder.quiz.bank import load_bank
from autograder.quiz.collect import by_roster, find_answers
from autograder.quiz.errors import QuizError
from autograder.quiz.receipts import Marker, item_analysis
from autograder.reports.quiz import items_table, quiz_table, standing_points


def run(
    course: Path | None,
    assignment: str,
    paths: Sequence[Path],
    roster: Path | None,
    store: str | None,
    as_json: bool,
    items: bool,
) -> int:
    """Mark answers, keep the receipts, print a table. Returns the exit code."""
    setting = Setting.find(course)
    bank = load_bank(setting.files, setting.course, assignment)
    known = read_roster(roster) if roster else None
    exercises = [exercise.name for exercise in setting.course.assignment(bank.assignment).exercises]
    found = find_answers(paths, assignment, known, exercises)
    if not found:
        raise QuizError(f"{paths[0]} holds no answers file; give one, or a folder or zip of them")
    found, strangers = by_roster(found, known) if known is not None else (found, [])
    marker = Marker(bank, setting.course)
    gc.disable()  # a class is a million small objects without a cycle; looking for one takes a fifth of the time
    try:
        with setting.store(store) as receipts:
            before = _that_stay(receipts, QUIZ.of(assignment), found)
            results = [before.get(one.student) or marker.receipt(one) for one in found]
            receipts.add_new(receipt for receipt in results if receipt.student not in before)
            rows = standing_points(receipts, results)
    finally:
        gc.enable()
    if as_json:
        told: object = [receipt.to_dict() for receipt in results]
        told = {"receipts": told, "items": item_analysis(results)} if items else told
        click.echo(json.dumps(told, indent=1))
    else:
        quiz_table(Console(), rows)
        if items:
            items_table(Console(), item_analysis(results))
    for stranger in strangers:
        click.echo(f"  {stranger.problem}", err=as_json)
    kept = [one for one in found if one.student in before and not one.is_missing]
    for one in kept:
        click.echo(f"{one.student}: {one.problem}; what stands stays", err=True)
    to_look_at = sum(bool(receipt.attention()) for receipt in results)
    look = attention(to_look_at, len(results))
    if absent := sorted(before.keys() - {one.student for one in kept}):
        click.echo(f"nothing was handed in now for {named(absent)}; what they have stays", err=True)
    click.echo(f"answers of {counted(len(results), 'student')} marked; {look}. Receipts: {receipts.place}", err=True)
    return ATTENTION if to_look_at or strangers or kept else OK


def _that_stay(store: Store, quiz: str, found: Sequence[HandedInAnswers]) -> dict[str, Receipt]:
    """What stands of students of whom there are no answers now: an absence, or a file that is broken, takes nothing
    away."""
    is_missing = {one.student: one.is_missing for one in found if one.answers is None}
    standing = store.standing_receipts(quiz, list(is_missing)) if is_missing else {}
    return {s: r for s, r in standing.items() if (r.status != NOT_SUBMITTED if is_missing[s] else r.output)}
