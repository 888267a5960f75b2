"""`autograder`: the group of commands, and what happens when one of them fails."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from autograder import __version__
from autograder.cli.commands import authoring, grading, quiz, results
from autograder.cli.exit_codes import FAULT, STOPPED

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # None: as if it were not installed
"""Not to be imported: nbformat's validation would take seconds to have it for addresses that no notebook has."""


class _Group(click.Group):
    """Shows an error as one sentence. A traceback is left for faults of the kit, which end with exit code 2 too."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except KeyboardInterrupt:
            click.echo("autograder: stopped", err=True)
            context.exit(STOPPED)
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
    "instructor": "genanki IPython jinja2 jupytext latex2mathml markdown_it matplotlib mdit_py_plugins nbconvert"
    " nbformat nbgrader pygments traitlets",
    "postgresql": "psycopg",
}


def _extra_for(error: ModuleNotFoundError) -> str | None:
    """The extra that brings the package which was to be imported and is missing; None where it is something else."""
    missing = (error.name or "").partition(".")[0]
    return next((extra for extra, packages in _EXTRAS.items() if missing in packages.split()), None)


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


for _command in (
    *(authoring.release, authoring.verify, authoring.doctor, authoring.hint, authoring.lab, authoring.progress),
    *(grading.grade, grading.regrade, grading.nbgrade, grading.gradebook, grading.cluster),
    *(results.show, results.adjust, results.history, results.report, results.dashboard, results.export),
    quiz.quiz,
):
    main.add_command(_command)
