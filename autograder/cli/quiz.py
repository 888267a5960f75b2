"""`autograder quiz`: take, lint, mark, and build what students get."""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autograder.cli.exit_codes import ATTENTION, FAULT, OK

if TYPE_CHECKING:
    from autograder.cli.setting import Setting
    from autograder.quiz.bank import Bank
    from autograder.quiz.exports.notes import Export


class _Group(click.Group):
    """`autograder quiz week08` is short for `autograder quiz take week08`."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["take", *args]
        return super().parse_args(context, args)


@click.group(cls=_Group)
def quiz() -> None:
    """Knowledge checks: `autograder quiz week08` asks them; the commands below are for instructors."""


@quiz.command()
@click.argument("assignment")
@click.option("--section", "sections", multiple=True, help="Only this one: 9, or a word of its title.")
@click.option("--again", is_flag=True, help="Also questions that are answered.")
@click.option("--graded", is_flag=True, help="As students take it: nothing is explained.")
@click.pass_obj
def take(course: Path | None, /, **options: Any) -> None:
    """Answer the questions of ASSIGNMENT. Answers are saved at once beside its exercises; it goes on where you stopped.

    Where the complete questions are at hand, each answer is explained.
    """
    from autograder.cli.take import run

    sys.exit(run(_setting(course), **options))


@quiz.command()
@click.argument("assignments", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def lint(course: Path | None, /, assignments: Sequence[str], as_json: bool) -> None:
    """Say what is wrong with the questions of ASSIGNMENTS (default: all that have a quiz).

    Exit code 0: nothing. 1: the lines say what. 2: a file cannot be read.
    """
    from autograder.quiz.lint import lint as lint_bank

    setting = _setting(course)
    banks = [_bank(setting, name) for name in assignments or _with_quiz(setting)]
    found = [sentence for bank in banks for sentence in lint_bank(bank)]
    if as_json:
        click.echo(json.dumps(found, indent=1))
    else:
        for sentence in found:
            click.echo(sentence)
        for bank in banks:
            click.echo(_counts(bank), err=True)
    sys.exit(ATTENTION if found else OK)


@quiz.command()
@click.argument("assignment")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--roster", type=click.Path(path_type=Path), help="CSV with student_id,name: one row per student in it.")
@click.option("--store", metavar="URL", help="Database of receipts (default: .autograder/receipts.sqlite).")
@click.option("--json", "as_json", is_flag=True, help="Print the receipts as JSON instead of a table.")
@click.option("--items", is_flag=True, help="Also print how each question did in the class.")
@click.pass_obj
def mark(course: Path | None, /, **options: Any) -> None:
    """Mark the answers files at PATHS: each a file, a student's folder, or a folder of either.

    Exit code 0: complete. 1: complete, some need attention. 2: the kit or the course is at fault.
    """
    sys.exit(_mark(_setting(course), **options))


def _mark(
    setting: Setting,
    assignment: str,
    paths: Sequence[Path],
    roster: Path | None,
    store: str | None,
    as_json: bool,
    items: bool,
) -> int:
    from rich.console import Console

    from autograder.intake import read_roster
    from autograder.quiz.answers import by_roster, find_answers
    from autograder.quiz.receipts import Marker, item_analysis
    from autograder.reports.quiz import items_table, quiz_table, standing_points

    bank = _bank(setting, assignment)
    found = find_answers(paths, assignment)
    if not found:
        click.echo(f"autograder: {paths[0]} holds no answers file; give one, or a folder of them", err=True)
        return FAULT
    found, strangers = by_roster(found, read_roster(roster)) if roster else (found, [])
    marker = Marker(bank, setting.course)
    gc.disable()  # a class is a million small objects without a cycle; looking for one takes a fifth of the time
    try:
        with setting.store(store) as receipts:
            results = [marker.receipt(one) for one in found]
            receipts.add_new(results)
            rows = standing_points(receipts, results)
            place = receipts.place
    finally:
        gc.enable()
    if as_json:
        click.echo(json.dumps([receipt.to_dict() for receipt in results], indent=1))
    else:
        quiz_table(Console(), rows)
        for stranger in strangers:
            click.echo(f"  {stranger.problem}")
        if items:
            items_table(Console(), item_analysis(results))
    attention = sum(bool(receipt.attention()) for receipt in results)
    look = f"{attention} of {len(results)} need attention" if attention else "none needs attention"
    click.echo(f"answers of {len(results)} students marked; {look}. Receipts: {place}", err=True)
    return ATTENTION if attention or strangers else OK


@quiz.command()
@click.argument("assignment")
@click.option(
    "--mode",
    type=click.Choice(["graded", "practice"]),
    default="graded",
    show_default=True,
    help="Practice pages hold the keys.",
)
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), help="Where to write it.")
@click.pass_obj
def page(course: Path | None, /, assignment: str, mode: str, out: Path | None) -> None:
    """Build the quiz of ASSIGNMENT as one web page that needs no server and no network.

    Graded pages have no key and give an answers file. Practice pages explain each answer at once, and count nothing.
    """
    from autograder.quiz.page.build import page as build_page

    setting = _setting(course)
    html = build_page(_bank(setting, assignment), setting.course, practice=mode == "practice")
    path = out or Path(f"{assignment}_{'practice' if mode == 'practice' else 'quiz'}.html")
    try:
        path.write_text(html, encoding="utf-8", newline="\n")
    except OSError as error:
        click.echo(f"autograder: {path} cannot be written: {error.strerror}", err=True)
        sys.exit(FAULT)
    keys = "; it holds the keys, do not hand it out before the deadline" if mode == "practice" else ""
    click.echo(f"{path} ({len(html.encode()) // 1000} kB){keys}")


@quiz.command()
@click.argument("assignment")
@click.option(
    "--to",
    "target",
    type=click.Choice(["canvas", "moodle", "anki", "sheet"]),
    required=True,
    help="canvas: a zip of QTI 1.2. moodle: Moodle XML. anki: decks of cards. sheet: questions and keys to print.",
)
@click.option("--out", type=click.Path(path_type=Path), help="The file to write (default: here, named after it).")
@click.option("--student", metavar="NAME", help="With sheet: the numbers that are drawn for this student.")
@click.option("--json", "as_json", is_flag=True, help="Print files, and what is other in them, as JSON.")
@click.pass_obj
def export(course: Path | None, /, **options: Any) -> None:
    """Write the quiz of ASSIGNMENT for other programs. Files with keys are for instructors.

    What a target has no form for takes another one; the lines that are printed say which, --json for each question.
    """
    _export(_setting(course), **options)


_REMARKS = {
    "canvas": "The quizzes arrive unpublished and with hidden results, which would show the keys.",
    "moodle": "Moodle has no update: each import adds a copy, in a category that is named after the bank's version.",
}


def _export(
    setting: Setting, assignment: str, target: str, out: Path | None, student: str | None, as_json: bool
) -> None:
    from autograder.cli.main import text
    from autograder.quiz.exports.notes import sentences

    if student is not None and target != "sheet":
        raise click.UsageError("--student is for --to sheet; the other formats hold variants for everybody")
    found = _exported(setting, assignment, target, None if student is None else text(student))
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


def _exported(setting: Setting, assignment: str, target: str, student: str | None) -> Export:
    from autograder.quiz.errors import QuizError

    bank = _bank(setting, assignment)
    try:
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
    except ModuleNotFoundError as error:
        raise QuizError(f"{error.name} is not installed: pip install 'autograder[instructor]'") from None


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


def _setting(course: Path | None) -> Setting:
    from autograder.cli.setting import Setting

    return Setting.find(course)


def _bank(setting: Setting, assignment: str) -> Bank:
    from autograder.quiz.bank import load_bank

    return load_bank(setting.files, setting.course, assignment)


def _with_quiz(setting: Setting) -> list[str]:
    from autograder.quiz.bank import has_quiz

    return [name for name in setting.course.assignments if has_quiz(setting.files, name)]


def _counts(bank: Bank) -> str:
    kinds: dict[str, int] = {}
    for item in bank.items:
        kinds[item.type] = kinds.get(item.type, 0) + 1
    listed = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    cards = sum(len(group.cards) for group in bank.groups)
    return f"{bank.assignment}: {sum(kinds.values())} items in {len(bank.groups)} sections ({listed}), {cards} cards"
