"""`autograder quiz export`."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from autograder.cli.setting import Setting
from autograder.quiz.bank import Bank, load_bank
from autograder.quiz.exports.notes import Export, sentences

_REMARKS = {
    "canvas": "The quizzes arrive unpublished and with hidden results, which would show the keys.",
    "moodle": "Moodle has no update: each import adds a copy, in a category that is named after the bank's version.",
}


def run(
    course: Path | None, assignment: str, target: str, out: Path | None, student: str | None, as_json: bool
) -> None:
    """Write the files of a target, and say what is other in them."""
    if student is not None and target != "sheet":
        raise click.UsageError("--student is for --to sheet; the other formats hold variants for everybody")
    setting = Setting.find(course)
    found = _exported(setting, load_bank(setting.files, setting.course, assignment), target, student)
    written = []
    for name, data in found.files.items():
        path = Path(name) if out is None else out
        if out is not None and "_key." in name:
            path = out.with_name(f"{out.stem}_key{out.suffix}")
        path.write_bytes(data)
        written.append(path)
    if as_json:
        notes = [{"item": note.item, "code": note.code} for note in found.notes]
        click.echo(json.dumps({"files": [str(path) for path in written], "notes": notes}, indent=1))
        return
    for path in written:
        click.echo(f"wrote {path}")
    click.echo(f"{found.count} {found.what}")
    for sentence in sentences(found.notes):
        click.echo(sentence)
    if target in _REMARKS:
        click.echo(_REMARKS[target])
    if target != "anki":
        click.echo(f"{written[-1]} holds the keys: it is for instructors, not for students.")


def _exported(setting: Setting, bank: Bank, target: str, student: str | None) -> Export:
    if target == "canvas":
        from autograder.quiz.exports.canvas import canvas

        return canvas(bank)
    if target == "moodle":
        from autograder.quiz.exports.moodle import moodle

        return moodle(bank)
    if target == "sheet":
        from autograder.quiz.exports.sheet import sheet

        return sheet(bank, student)
    return _cards(setting, bank)


def _cards(setting: Setting, bank: Bank) -> Export:
    """The decks; when a card changed is kept with the course, so that Anki takes new content and nothing else."""
    from autograder.quiz.exports.anki import anki
    from autograder.quiz.exports.dates import read_dates, write_dates

    path = setting.files.card_dates(bank.assignment)
    before = read_dates(path)
    found, record = anki(bank, setting.course.id, before, int(time.time()))
    if record != before:
        write_dates(path, record)
        changed = sum(before.get(card) != entry for card, entry in record.items())
        click.echo(f"{changed} cards are new or changed; keep {path} with the course", err=True)
    return found
