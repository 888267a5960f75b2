"""`autograder quiz`: take the knowledge checks of an assignment; for instructors: lint, mark, build, export."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from autograder.cli.options import text, with_paths, with_roster, with_store


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
    from autograder.cli.quiz.take import run

    sys.exit(run(course, **options))


@quiz.command()
@click.argument("assignments", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def lint(course: Path | None, /, assignments: Sequence[str], as_json: bool) -> None:
    """Say what is wrong with the questions of ASSIGNMENTS (default: all that have a quiz).

    Exit code 0: nothing. 1: the lines say what. 2: a file cannot be read.
    """
    from autograder.cli.quiz.lint import run

    sys.exit(run(course, assignments, as_json))


@quiz.command()
@click.argument("assignment")
@with_paths
@with_roster
@with_store
@click.option("--json", "as_json", is_flag=True, help="Print the receipts as JSON instead of a table.")
@click.option("--items", is_flag=True, help="Also print how each question did in the class.")
@click.pass_obj
def mark(course: Path | None, /, **options: Any) -> None:
    """Mark the answers at PATHS: each an answers file, a student's folder or zip, or a folder or zip of them.

    Exit code 0: complete. 1: complete, some need attention. 2: the kit or the course is at fault.
    """
    from autograder.cli.quiz.mark import run

    sys.exit(run(course, **options))


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
def page(course: Path | None, /, **options: Any) -> None:
    """Build the quiz of ASSIGNMENT as one web page that needs no server and no network.

    Graded pages have no key and give an answers file. Practice pages explain each answer at once, and count nothing.
    """
    from autograder.cli.quiz.page import run

    run(course, **options)


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
@click.option("--student", metavar="NAME", type=text, help="With sheet: the numbers that are drawn for this student.")
@click.option("--json", "as_json", is_flag=True, help="Print files, and what is other in them, as JSON.")
@click.pass_obj
def export(course: Path | None, /, **options: Any) -> None:
    """Write the quiz of ASSIGNMENT for other programs. Files with keys are for instructors.

    What a target has no form for takes another one; the lines that are printed say which, --json for each question.
    """
    from autograder.cli.quiz.export import run

    run(course, **options)
