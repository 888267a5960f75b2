"""`autograder quiz lint`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from autograder.cli.exit_codes import ATTENTION, OK
from autograder.cli.setting import Setting
from autograder.quiz.bank import Bank, has_quiz, load_bank
from autograder.quiz.lint import lint


def run(course: Path | None, assignments: Sequence[str], as_json: bool) -> int:
    """Print what is wrong with the questions of these assignments, or of all. Returns the exit code."""
    setting = Setting.find(course)
    with_quiz = [name for name in setting.course.assignments if has_quiz(setting.files, name)]
    banks = [load_bank(setting.files, setting.course, name) for name in assignments or with_quiz]
    found = [sentence for bank in banks for sentence in lint(bank)]
    if as_json:
        click.echo(json.dumps(found, indent=1))
    else:
        for sentence in found:
            click.echo(sentence)
        for bank in banks:
            click.echo(_counts(bank), err=True)
    return ATTENTION if found else OK


def _counts(bank: Bank) -> str:
    kinds = Counter(item.type for item in bank.items)
    listed = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    cards = sum(len(group.cards) for group in bank.groups)
    return f"{bank.assignment}: {kinds.total()} items in {len(bank.groups)} sections ({listed}), {cards} cards"
