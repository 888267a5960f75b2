"""`autograder verify`."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from autograder.cli.exit_codes import ATTENTION, OK
from autograder.cli.setting import Setting
from autograder.course.mistakes import Mistakes
from autograder.grading.batch import Batch
from autograder.grading.kills import kills_text
from autograder.proof import rules
from autograder.proof.apart import run_apart
from autograder.proof.experiment import Experiment
from autograder.proof.facts import facts
from autograder.proof.page import is_current, page, page_path
from autograder.proof.samples import Sample, known_mistakes, pairs, stubs_and_solutions, variants

PAIRS, SEED_OF_PAIRS = 50, 1


def run(course: Path | None, assignment: str, seeds: int, only: tuple[str, ...], one_in: int, write: bool) -> int:
    """Prove the checks of an assignment; print what does not hold. Returns the exit code."""
    if write and (only or one_in > 1):
        raise click.UsageError("--write needs all mistakes of all exercises; leave --exercise and --one-in out")
    setting = Setting.find(course)
    proved = setting.course.assignment(assignment)
    console, notices = Console(soft_wrap=True, highlight=False), Console(stderr=True)
    begun = time.monotonic()
    found = list(rules.problems_of_texts(setting.files, setting.course, proved))
    known = known_mistakes(setting.files, [proved.exercise(name) for name in only] or proved.exercises)
    known = {e: m.model_copy(update=_one_in(one_in, m)) for e, m in known.items()}
    suites = {e.name: facts(setting.files, proved, e.name) for e in proved.exercises}
    stub, solution = stubs_and_solutions(setting.files, proved)
    samples = [stub, solution, *variants(solution, known), *pairs(solution, known, -(-PAIRS // one_in), SEED_OF_PAIRS)]
    batch = Batch(setting.files, setting.course.id, proved, [], seed=1)
    shown = _experiment(batch, samples, range(1, seeds), notices)
    found += rules.problems_of_checks(shown, known, suites)
    text = page(shown, known, suites)
    path = page_path(setting.files, proved)
    if write and not found:
        _keep(path, text)
        for exercise, kills in shown.kills.items():
            checks = [check.id for check in shown.alone.checks if check.exercise == exercise]
            _keep(setting.files.kills(exercise), kills_text(setting.files, proved, exercise, checks, kills))
    elif not only and not is_current(setting.files, proved):
        found.append(
            f"{path.relative_to(setting.files.root)} is not current: run autograder verify {assignment} --write"
        )
    summary = [line for line in text.partition("\n- ")[2].partition("\n\n")[0].split("\n") if line]
    for line in summary:
        console.print(Text(line.removeprefix("- ")))
    for problem in found:
        console.print(Text(problem, style="red"))
    console.print(Text(f"{len(samples)} variants, {seeds} seeds, {time.monotonic() - begun:.0f} s: {_verdict(found)}"))
    return ATTENTION if found else OK


def _one_in(n: int, known: Mistakes) -> dict[str, Any]:
    """Every n-th mistake and every n-th other right answer."""
    return {"mistakes": known.mistakes[::n], "equivalents": known.equivalents[::n]}


def _keep(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8", newline="\n")


def _verdict(found: list[str]) -> str:
    if not found:
        return "everything holds"
    return "1 thing does not hold" if len(found) == 1 else f"{len(found)} things do not hold"


def _experiment(batch: Batch, samples: list[Sample], seeds: range, notices: Console) -> Experiment:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=notices, disable=not notices.is_terminal) as progress:

        def begin(what: str, count: int) -> Callable[[], None]:
            task = progress.add_task(what, total=count)
            return lambda: progress.advance(task)

        return run_apart(batch, samples, seeds, begin)
