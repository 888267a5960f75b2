"""Commands that grade what was handed in."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from autograder.cli.options import with_paths, with_required_isolation, with_roster, with_store, with_tls


@click.command()
@click.argument("assignment")
@with_paths
@with_roster
@click.option(
    "--handed-in", type=click.Path(path_type=Path), help="CSV with student_id,handed_in: when it was handed in."
)
@with_store
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), help="Seed of all random inputs (default: a new one).")
@click.option("--force", is_flag=True, help="Grade again what has a receipt already.")
@click.option("--fresh-workers", is_flag=True, help="A fresh worker for every exercise; slower, the same grades.")
@with_required_isolation
@click.option("--jobs", type=click.IntRange(1, 256), help="So many graders (default: one for four cores).")
@click.option("--scheduler", metavar="ADDRESS", help="Grade on the nodes of a dask cluster, such as tcp://host:8786.")
@with_tls
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
    if scheduler and scheduler.startswith("tls:") and tls is None:
        raise click.UsageError("a scheduler at tls:// takes --tls-ca-file, --tls-cert and --tls-key")
    sys.exit(run(course, where=Where(jobs, scheduler, tls), **options))


@click.command()
@click.argument("assignment")
@with_paths
@click.option("--apply", is_flag=True, help="Keep the new results; without it nothing is written.")
@click.option("--never-lower", is_flag=True, help="Whose new result is lower keeps the one before.")
@with_roster
@with_store
@click.option(
    "--seed", type=click.IntRange(0, 2**31 - 1), help="One seed for all (default: everybody's own, as before)."
)
@with_required_isolation
@click.option("--json", "as_json", is_flag=True, help="Print what changes as JSON.")
@click.pass_obj
def regrade(course: Path | None, /, **options: Any) -> None:
    """Grade again what checks, course or kit of now did not judge, and show whose points that changes, and why.

    PATHS are those that were given to `grade`. Adjustments stay as they are. Exit code 0: written, or nothing changes.
    1: something would change, or could not be graded again. 2: the kit or the course is at fault.
    """
    from autograder.cli.regrade import run

    sys.exit(run(course, **options))


@click.command()
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


@click.command()
@click.argument("what", type=click.Choice(["diff", "push", "pull", "export"]))
@click.argument("assignment")
@with_store
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


@click.command()
@click.option("--workers", type=click.IntRange(1, 256), help="So many workers (default: as many as cores).")
@click.option("--port", type=click.IntRange(0, 65535), default=8786, show_default=True, help="Of the scheduler.")
@with_tls
@click.pass_obj
def cluster(course: Path | None, /, **options: Any) -> None:
    """Start a dask scheduler and workers on this machine, for a try of `grade --scheduler`; Ctrl-C ends them.

    It listens on this machine only. docs/scale.md says how to start one on many.
    """
    from autograder.cli.cluster import run

    run(course, **options)
