"""Commands for those who write a course, and for students in its folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from autograder.sandbox.levels import MECHANISMS


@click.command()
@click.argument("assignment")
@click.option("--force", is_flag=True, help="Also overwrite files that were edited by hand.")
@click.pass_obj
def release(course: Path | None, /, assignment: str, force: bool) -> None:
    """Cut the students' files of ASSIGNMENT from the complete ones, and pack them."""
    from autograder.cli.release import run

    run(course, assignment, force)


@click.command()
@click.argument("assignment")
@click.option("--seeds", type=click.IntRange(2, 100), default=5, show_default=True, help="So many seeds.")
@click.option(
    "--exercise", "only", multiple=True, help="Only the mistakes of this exercise; may be given several times."
)
@click.option("--one-in", type=click.IntRange(1), default=1, help="Only every N-th variant: a quick look.")
@click.option("--write", is_flag=True, help="Write the kill matrix to docs/ when everything holds.")
@click.pass_obj
def verify(course: Path | None, /, **options: Any) -> None:
    """Prove the checks of ASSIGNMENT: stubs, solutions, every named mistake, every other right answer.

    Exit code 0: everything holds. 1: the lines say what does not. 2: the kit or the course is at fault.
    """
    from autograder.cli.verify import run

    sys.exit(run(course, **options))


@click.command()
@click.option(
    "--without",
    type=click.Choice(MECHANISMS),
    multiple=True,
    help="Leave a protection out, to see what that means.",
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def doctor(**options: Any) -> None:
    """Say what stands between student code and this machine, by trying it.

    Exit code 0: everything. 1: something is missing; the lines say what, and how to get it.
    """
    from autograder.cli.doctor import run

    sys.exit(run(**options))


@click.command()
@click.argument("assignment")
@click.argument("exercise")
@click.option("--more", is_flag=True, help="The next step.")
@click.pass_obj
def hint(course: Path | None, /, **options: Any) -> None:
    """Help with EXERCISE of ASSIGNMENT, step by step: a question, the shape of the solution, where to read."""
    from autograder.cli.hint import run

    run(course, **options)


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def lab(course: Path | None, /, arguments: tuple[str, ...]) -> None:
    """Run the lab that belongs to an assignment. `autograder lab` alone lists what it does."""
    from autograder.cli.lab import run

    sys.exit(run(course, arguments))


@click.command()
@click.argument("assignment", required=False)
@click.option("--read", multiple=True, metavar="SECTION", help="Record a section as read: 9, or a word of its title.")
@click.option("--unread", multiple=True, metavar="SECTION", help="Take that back.")
@click.pass_obj
def progress(course: Path | None, /, **options: Any) -> None:
    """Say how far you are with ASSIGNMENT, or with all: sections read, questions answered, public checks passed."""
    from autograder.cli.progress import run

    run(course, **options)
