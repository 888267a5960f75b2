"""Commands about results that are there: look at them, change them by hand, write them for others."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from autograder.cli.options import text, with_store
from autograder.exports import FORMATS
from autograder.sandbox.levels import REQUIRABLE


@click.command()
@click.argument("student", type=text)
@click.option("--assignment", help="Which assignment (default: the one that has a receipt).")
@with_store
@click.option("--instructor", is_flag=True, help="Also show what students must not see: check names, output, flags.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def show(course: Path | None, /, **options: Any) -> None:
    """Print the receipt of STUDENT: of the modules, or with --assignment of ASSIGNMENT/quiz or ASSIGNMENT/notebook."""
    from autograder.cli.show import run

    run(course, **options)


@click.command()
@click.argument("assignment")
@click.argument("student", type=text)
@click.argument("exercise")
@click.argument("points", required=False)
@click.option("--withdraw", is_flag=True, help="Instead of POINTS: let the checks decide again.")
@click.option("--reason", type=text, required=True, help="Why; kept with the adjustment.")
@click.option("--author", type=text, required=True, help="Who gives the points.")
@with_store
@click.pass_obj
def adjust(course: Path | None, /, **options: Any) -> None:
    """Give STUDENT this many POINTS for EXERCISE by hand. Regrading never removes it.

    In ASSIGNMENT/quiz EXERCISE is a section, in ASSIGNMENT/notebook a cell such as explain_mixing.
    """
    from autograder.cli.adjust import run

    run(course, **options)


@click.command()
@click.argument("student", type=text)
@click.option("--assignment", help="Only this one.")
@with_store
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def history(course: Path | None, /, **options: Any) -> None:
    """Print all that was kept about STUDENT: every result and every adjustment, what changed between them, and why."""
    from autograder.cli.history import run

    run(course, **options)


@click.command()
@click.argument("assignment")
@click.option("--student", "students", multiple=True, type=text, help="Only this one; may be given several times.")
@click.option("--output", type=click.Path(path_type=Path), help="Folder (default: reports/ASSIGNMENT/students).")
@with_store
@click.pass_obj
def report(course: Path | None, /, **options: Any) -> None:
    """Write a web page for each student of ASSIGNMENT, with what a student may read.

    It needs no network, and can be printed. ASSIGNMENT/quiz reports on the quiz, ASSIGNMENT/notebook on what the
    workbook asks itself.
    """
    from autograder.cli.report import report as run

    run(course, **options)


@click.command()
@click.argument("assignment")
@click.option("--output", type=click.Path(path_type=Path), help="File (default: reports/ASSIGNMENT/dashboard.html).")
@click.option("--pages", type=click.Path(path_type=Path), help="Where students' pages are (default: beside the file).")
@with_store
@click.pass_obj
def dashboard(course: Path | None, /, **options: Any) -> None:
    """Write a web page about the class in ASSIGNMENT, for instructors: points, checks, mistakes, health of the run."""
    from autograder.cli.report import dashboard as run

    run(course, **options)


@click.command()
@click.argument("to", metavar="FORMAT", type=click.Choice(FORMATS))
@click.argument("assignment")
@click.option("--roster", type=click.Path(path_type=Path), help="CSV with student_id,name and the target's own ids.")
@click.option(
    "--template",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="canvas: the gradebook that it exported.",
)
@click.option("--column", type=text, help="canvas: the title of the column to fill (default: the assignment's).")
@click.option("--by", type=text, help='canvas: the column with our ids, such as "SIS User ID" (default: found).')
@click.option("--student", "students", type=text, multiple=True, help="junit: only this one; may be repeated.")
@click.option(
    "--require-isolation",
    type=click.Choice(REQUIRABLE),
    help="gradescope-zip: grade nothing there where less stands between student code and the grader.",
)
@click.option("--output", type=click.Path(path_type=Path), help="The file, or the folder of several, to write.")
@with_store
@click.pass_obj
def export(course: Path | None, /, **options: Any) -> None:
    """Write the standing scores of ASSIGNMENT (or ASSIGNMENT/quiz, ASSIGNMENT/notebook) for another system.

    csv: a plain table. canvas, moodle: gradebook files. junit: XML for build servers. gradescope: results.json for each
    student. gradescope-zip: an autograder that runs there. classroom: a workflow for GitHub Classroom.

    Exit code 0: everybody is in it. 1: the lines say who is not. 2: nothing was written.
    """
    from autograder.cli.export import run

    sys.exit(run(course, **options))
