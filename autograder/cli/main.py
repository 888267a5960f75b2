"""`autograder`: the group of commands, and what every command shares."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from autograder import __version__
from autograder.cli.exit_codes import FAULT
from autograder.cli.quiz import quiz
from autograder.exports import FORMATS
from autograder.sandbox.levels import MECHANISMS, REQUIRABLE

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
"""Not to be imported: nbformat's validation would take seconds to have it for addresses that no notebook has."""


_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


class _Group(click.Group):
    """Shows an error as one sentence. A traceback is left for faults of the kit, which end with exit code 2 too."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as error:
            if type(error).__name__ in ("CourseError", "IntakeError", "GradingError", "AuthoringError", "QuizError"):
                click.echo(f"autograder: {error}", err=True)
            elif isinstance(error, ModuleNotFoundError) and (extra := _extra_for(error)):
                click.echo(f"autograder: {error.name} is not installed: pip install 'autograder[{extra}]'", err=True)
            elif isinstance(error, OSError):
                click.echo(f"autograder: {error.filename or 'the system'}: {error.strerror or error}", err=True)
            else:
                import traceback

                traceback.print_exc()
                click.echo("autograder: this is a fault of the kit; please report it with the lines above", err=True)
            context.exit(FAULT)


_EXTRAS = {
    "cluster": "dask distributed",
    "instructor": "genanki jinja2 jupytext latex2mathml markdown_it matplotlib mdit_py_plugins nbgrader pygments",
    "postgresql": "psycopg",
}


def _extra_for(error: ModuleNotFoundError) -> str | None:
    """The extra that brings the package which was to be imported and is missing; None where it is something else."""
    missing = (error.name or "").partition(".")[0]
    return next((extra for extra, packages in _EXTRAS.items() if missing in packages.split()), None)


def text(argument: str) -> str:
    """Words from the command line, which come as escaped bytes where the terminal's encoding cannot read them."""
    return os.fsencode(argument).decode("utf-8", "replace")


def _tls_options(command: Callable[..., None]) -> Callable[..., None]:
    """The files for TLS, named as dask names them; all three or none."""

    @click.option("--tls-ca-file", type=_FILE, help="TLS: certificate of the authority, PEM.")
    @click.option("--tls-cert", type=_FILE, help="TLS: certificate of this side, PEM.")
    @click.option("--tls-key", type=_FILE, help="TLS: private key of this side, PEM.")
    @functools.wraps(command)
    def with_tls(
        *arguments: Any, tls_ca_file: Path | None, tls_cert: Path | None, tls_key: Path | None, **options: Any
    ) -> None:
        from autograder.cluster.keys import Keys

        keys = None
        if tls_ca_file and tls_cert and tls_key:
            keys = Keys(tls_ca_file, tls_cert, tls_key)
        elif tls_ca_file or tls_cert or tls_key:
            raise click.UsageError("TLS takes all of --tls-ca-file, --tls-cert and --tls-key")
        command(*arguments, tls=keys, **options)

    return with_tls


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="autograder")
@click.option("--course", type=click.Path(path_type=Path), help="The course's folder (default: found by walking up).")
@click.pass_context
def main(context: click.Context, course: Path | None) -> None:
    """Author, release and grade a course on Transformers.

    A grade comes from checks that never share a process with the code they judge.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    context.obj = course


@main.command()
@click.argument("assignment")
@click.option("--force", is_flag=True, help="Also overwrite files that were edited by hand.")
@click.pass_obj
def release(course: Path | None, /, assignment: str, force: bool) -> None:
    """Cut the students' files of ASSIGNMENT from the complete ones, and pack them."""
    from autograder.cli.release import run

    run(course, assignment, force)


@main.command()
@click.argument("assignment")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--roster", type=click.Path(path_type=Path), help="CSV with student_id,name: one row per student in it.")
@click.option(
    "--handed-in", type=click.Path(path_type=Path), help="CSV with student_id,handed_in: when it was handed in."
)
@click.option("--store", metavar="URL", help="Database of receipts (default: .autograder/receipts.sqlite).")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), help="Seed of all random inputs (default: a new one).")
@click.option("--force", is_flag=True, help="Grade again what has a receipt already.")
@click.option("--fresh-workers", is_flag=True, help="A fresh worker for every exercise; slower, the same grades.")
@click.option(
    "--require-isolation",
    type=click.Choice(REQUIRABLE),
    help="Grade nothing where less stands between student code and this machine (see `autograder doctor`).",
)
@click.option("--jobs", type=click.IntRange(1, 256), help="So many graders (default: one for four cores).")
@click.option("--scheduler", metavar="ADDRESS", help="Grade on the nodes of a dask cluster, such as tcp://host:8786.")
@_tls_options
@click.option("--json", "as_json", is_flag=True, help="Print the receipts as JSON instead of a table.")
@click.pass_obj
def grade(course: Path | None, /, jobs: int | None, scheduler: str | None, tls: Any, **options: Any) -> None:
    """Grade the submissions at PATHS: each a submission folder or zip, or a folder of them.

    Exit code 0: complete. 1: complete, some submissions need attention. 2: the kit or the course is at fault.
    """
    from autograder.cli.grade import run
    from autograder.cli.running import Where

    if jobs and scheduler:
        raise click.UsageError("--jobs is for this machine, --scheduler for others; give one of them")
    sys.exit(run(course, where=Where(jobs, scheduler, tls), **options))


@main.command()
@click.option("--workers", type=click.IntRange(1, 256), help="So many workers (default: as many as cores).")
@click.option("--port", type=click.IntRange(0, 65535), default=8786, show_default=True, help="Of the scheduler.")
@_tls_options
@click.pass_obj
def cluster(course: Path | None, /, **options: Any) -> None:
    """Start a dask scheduler and workers on this machine, for a try of `grade --scheduler`; Ctrl-C ends them.

    It listens on this machine only. docs/scale.md says how to start one on many.
    """
    from autograder.cli.cluster import run

    run(course, **options)


@main.command()
@click.argument("assignment")
@click.argument("exercise")
@click.option("--more", is_flag=True, help="The next step.")
@click.pass_obj
def hint(course: Path | None, /, **options: Any) -> None:
    """Help with EXERCISE of ASSIGNMENT, step by step: a question, the shape of the solution, where to read."""
    from autograder.cli.hint import run

    run(course, **options)


@main.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def lab(course: Path | None, /, arguments: tuple[str, ...]) -> None:
    """Run the lab that belongs to an assignment. `autograder lab` alone lists what it does."""
    from autograder.cli.lab import run

    sys.exit(run(course, arguments))


@main.command()
@click.argument("assignment", required=False)
@click.option("--read", multiple=True, metavar="SECTION", help="Record a section as read: 9, or a word of its title.")
@click.option("--unread", multiple=True, metavar="SECTION", help="Take that back.")
@click.pass_obj
def progress(course: Path | None, /, **options: Any) -> None:
    """Say how far you are with ASSIGNMENT, or with all: sections read, questions answered, public checks passed."""
    from autograder.cli.progress import run

    run(course, **options)


@main.command()
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


@main.command()
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


@main.command()
@click.argument("student", type=text)
@click.option("--assignment", help="Which assignment (default: the one that has a receipt).")
@click.option("--store", metavar="URL", help="Database of receipts.")
@click.option("--instructor", is_flag=True, help="Also show what students must not see: check names, output, flags.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def show(course: Path | None, /, **options: Any) -> None:
    """Print the receipt of STUDENT: of the modules, or with --assignment of ASSIGNMENT/quiz or ASSIGNMENT/notebook."""
    from autograder.cli.show import run

    run(course, **options)


@main.command()
@click.argument("assignment")
@click.argument("student", type=text)
@click.argument("exercise")
@click.argument("points", required=False)
@click.option("--withdraw", is_flag=True, help="Instead of POINTS: let the checks decide again.")
@click.option("--reason", type=text, required=True, help="Why; kept with the adjustment.")
@click.option("--author", type=text, required=True, help="Who gives the points.")
@click.option("--store", metavar="URL", help="Database of receipts.")
@click.pass_obj
def adjust(course: Path | None, /, **options: Any) -> None:
    """Give STUDENT this many POINTS for EXERCISE by hand. Regrading never removes it.

    In ASSIGNMENT/quiz EXERCISE is a section, in ASSIGNMENT/notebook a cell such as explain_mixing.
    """
    from autograder.cli.adjust import run

    run(course, **options)


@main.command()
@click.argument("student", type=text)
@click.option("--assignment", help="Only this one.")
@click.option("--store", metavar="URL", help="Database of receipts.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def history(course: Path | None, /, **options: Any) -> None:
    """Print all that was kept about STUDENT: every result and every adjustment, what changed between them, and why."""
    from autograder.cli.history import run

    run(course, **options)


@main.command()
@click.argument("assignment")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--apply", is_flag=True, help="Keep the new results; without it nothing is written.")
@click.option("--never-lower", is_flag=True, help="Whose new result is lower keeps the one before.")
@click.option("--roster", type=click.Path(path_type=Path), help="CSV with student_id,name.")
@click.option("--store", metavar="URL", help="Database of receipts (default: .autograder/receipts.sqlite).")
@click.option(
    "--seed", type=click.IntRange(0, 2**31 - 1), help="One seed for all (default: everybody's own, as before)."
)
@click.option(
    "--require-isolation",
    type=click.Choice(REQUIRABLE),
    help="Grade nothing where less stands between student code and this machine (see `autograder doctor`).",
)
@click.option("--json", "as_json", is_flag=True, help="Print what changes as JSON.")
@click.pass_obj
def regrade(course: Path | None, /, **options: Any) -> None:
    """Grade again what checks, course or kit of now did not judge, and show whose points that changes, and why.

    PATHS are those that were given to `grade`. Adjustments stay as they are. Exit code 0: written, or nothing changes.
    1: something would change, or could not be graded again. 2: the kit or the course is at fault.
    """
    from autograder.cli.regrade import run

    sys.exit(run(course, **options))


@main.command()
@click.argument("assignment")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Notebooks run at a time.")
@click.option("--force", is_flag=True, help="Also those that did not change since they were graded.")
@click.pass_obj
def nbgrade(course: Path | None, /, **options: Any) -> None:
    """Grade the notebooks in submitted/notebooks/ through nbgrader, a whole class in one process.

    The grades are those of `nbgrader autograde`. Exit codes as of `grade`.
    """
    from autograder.cli.nbgrade import run

    sys.exit(run(course, **options))


@main.command()
@click.argument("what", type=click.Choice(["diff", "push", "pull", "export"]))
@click.argument("assignment")
@click.option("--store", metavar="URL", help="Database of receipts.")
@click.option("--file", type=click.Path(path_type=Path, dir_okay=False), help="Where `export` writes its CSV.")
@click.pass_obj
def gradebook(course: Path | None, /, **options: Any) -> None:
    """Compare nbgrader's gradebook with the receipts, or carry scores over.

    All cells with points count: exercises, and the questions and answers in words of ASSIGNMENT/notebook.

    diff: what push would change. push: our scores into the gradebook; those typed in formgrader stay. pull: scores
    typed in formgrader into our store, as adjustments, with the comment as reason. export: the gradebook as a CSV that
    any program can read.
    """
    from autograder.cli.gradebook import run

    sys.exit(run(course, **options))


@main.command()
@click.argument("assignment")
@click.option("--student", "students", multiple=True, type=text, help="Only this one; may be given several times.")
@click.option("--output", type=click.Path(path_type=Path), help="Folder (default: reports/ASSIGNMENT/students).")
@click.option("--store", metavar="URL", help="Database of receipts.")
@click.pass_obj
def report(course: Path | None, /, **options: Any) -> None:
    """Write a web page for each student of ASSIGNMENT, with what a student may read.

    It needs no network, and can be printed. ASSIGNMENT/quiz reports on the quiz, ASSIGNMENT/notebook on what the
    workbook asks itself.
    """
    from autograder.cli.report import report as run

    run(course, **options)


@main.command()
@click.argument("assignment")
@click.option("--output", type=click.Path(path_type=Path), help="File (default: reports/ASSIGNMENT/dashboard.html).")
@click.option("--pages", type=click.Path(path_type=Path), help="Where students' pages are (default: beside the file).")
@click.option("--store", metavar="URL", help="Database of receipts.")
@click.pass_obj
def dashboard(course: Path | None, /, **options: Any) -> None:
    """Write a web page about the class in ASSIGNMENT, for instructors: points, checks, mistakes, health of the run."""
    from autograder.cli.report import dashboard as run

    run(course, **options)


@main.command()
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
@click.option("--store", metavar="URL", help="Database of receipts.")
@click.pass_obj
def export(course: Path | None, /, **options: Any) -> None:
    """Write the standing scores of ASSIGNMENT (or ASSIGNMENT/quiz, ASSIGNMENT/notebook) for another system.

    csv: a plain table. canvas, moodle: gradebook files. junit: XML for build servers. gradescope: results.json for each
    student. gradescope-zip: an autograder that runs there. classroom: a workflow for GitHub Classroom.

    Exit code 0: everybody is in it. 1: the lines say who is not. 2: nothing was written.
    """
    from autograder.cli.export import run

    sys.exit(run(course, **options))


main.add_command(quiz)
