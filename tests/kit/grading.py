"""Small classes graded for the tests of the kit: real suites, real workers, one run for many submissions."""

from __future__ import annotations

import atexit
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from mother import borne

from autograder.course import CourseFiles, load_course
from autograder.grading.batch import Batch
from autograder.grading.receipt import Receipt
from autograder.grading.run import grade
from autograder.intake.submission import HandedIn, Submission
from autograder.sandbox.host.zygotes import Zygotes

ROOT = Path(__file__).parents[2]
ASSIGNMENT = "week08"
EXERCISES = tuple(exercise.name for exercise in load_course(ROOT).assignment(ASSIGNMENT).exercises)
BEFORE, AFTER = "honest_before", "honest_after"
"""Names of the two students who hand in the solutions; what the others do must not cost them a point."""

MASKING = "    if mask is not None:\n        scores = scores.masked_fill(~mask, -math.inf)\n"
"""A passage of the solution of masked_softmax, before which tests put code of their own."""

Work = Mapping[str, str | bytes]
"""The files of one student: exercise name -> source."""


# -- sources


@cache
def solution(exercise: str) -> str:
    return (ROOT / "solutions" / ASSIGNMENT / f"{exercise}.py").read_text("utf-8")


def solutions() -> dict[str, str]:
    return {exercise: solution(exercise) for exercise in EXERCISES}


def edited(source: str, old: str, new: str) -> str:
    """The source with one passage exchanged; the passage must be there exactly once."""
    assert source.count(old) == 1, f"{old!r} is there {source.count(old)} times"
    return source.replace(old, new)


def with_body(source: str, function: str, body: str) -> str:
    """The source with another text in the solution region of this function (or class)."""
    region = re.compile(
        rf"^(?:def|class) {function}\b.*?^(?P<indent> +)### BEGIN SOLUTION\n(?P<body>.*?)^ +### END SOLUTION\n",
        re.DOTALL | re.MULTILINE,
    )
    found = region.search(source)
    assert found is not None, function
    new = textwrap.indent(textwrap.dedent(body).strip("\n") + "\n", found["indent"])
    return source[: found.start("body")] + new + source[found.end("body") :]


def stub(source: str) -> str:
    """The source as students get it, with every solution region cut."""
    region = re.compile(r"^( +)### BEGIN SOLUTION\n.*?^ +### END SOLUTION\n", re.DOTALL | re.MULTILINE)
    return region.sub(r'\1raise NotImplementedError("not written yet")\n', source)


def line_of(source: str, text: str) -> int:
    """The number of the first line that holds this text."""
    return next(i for i, line in enumerate(source.splitlines(), start=1) if text in line)


# -- courses


def copied_course(folder: Path, root: Path = ROOT) -> Path:
    """A copy of the course that a test may change."""
    target = folder / "course"
    leave_out = shutil.ignore_patterns("__pycache__", "kit", "bench")
    for name in ("solutions", "reference", "tests"):
        shutil.copytree(root / name, target / name, ignore=leave_out)
    shutil.copy(root / "course.yml", target)
    return target


def small_course(
    folder: Path, exercise: str = "layer_norm", points: int = 10, limits: str | None = None, also: str = ""
) -> Path:
    """A copy of the course with one exercise only, which runs in a moment; `also` are more fields of it."""
    root = copied_course(folder)
    limits = limits or "{seconds_per_check: 2, seconds_per_submission: 60, memory_mb: 2048, output_kb: 16}"
    (root / "course.yml").write_text(
        f"""
id: small
title: A small course
timezone: UTC
total_sections: 1
weeks: []
assignments:
  {ASSIGNMENT}:
    title: One exercise
    points: {points}
    deadline: 2027-03-07T23:59:00+00:00
    late_policy: {{grace_days: 1, percent_per_day: 10, cap_percent: 50}}
    limits: {limits}
    exercises:
      - {{name: {exercise}, points: {points}, course: [Week 8 §9]{also}}}
"""
    )
    return root


@cache
def _empty_gradebook() -> bytes:
    """Made once: nbgrader starts a program for each new one."""
    from autograder.notebooks.gradebook import opened

    with tempfile.TemporaryDirectory() as folder:
        with opened(Path(folder), load_course(ROOT)):
            pass
        return (Path(folder) / ".autograder/gradebook.db").read_bytes()


def have_empty_gradebook(root: Path) -> None:
    """Give a course a gradebook of nbgrader's in which nobody is."""
    (root / ".autograder").mkdir(exist_ok=True)
    (root / ".autograder/gradebook.db").write_bytes(_empty_gradebook())


# -- runs


class _Borne(Zygotes):
    """Zygotes of which none has to be started."""

    def get(self) -> Any:
        with borne():
            return super().get()


@cache
def shared_zygotes(*without: str) -> Zygotes:
    """The zygotes of this test session, which hold nothing of any test; without these mechanisms of confinement."""
    made = _Borne(without)
    atexit.register(made.__exit__)
    return made


@contextmanager
def sharing_zygotes() -> Iterator[None]:
    """What is graded in this process meanwhile, by whatever command, is graded with the zygotes that tests share; others
    are borne (see `mother`).
    """

    def shared(without: Sequence[str] = (), required: str | None = None) -> AbstractContextManager[Zygotes]:
        return Zygotes(without, required) if required else nullcontext(shared_zygotes(*without))

    with ExitStack() as patches:
        for module in ("grading.run", "grading.again", "proof.experiment", "notebooks.bench", "cli.running"):
            patches.enter_context(patch(f"autograder.{module}.Zygotes", shared))
        patches.enter_context(borne())
        yield


def offers_everything() -> bool:
    """Does this host offer every mechanism of confinement? (What of it a weaker one offers, `doctor` tells.)"""
    return sys.platform == "linux" and not shared_zygotes().get().report["missing"]


def handed_in(student: str, work: Work) -> Submission:
    files = {
        exercise: HandedIn(exercise, f"{exercise}.py", source.encode() if isinstance(source, str) else source)
        for exercise, source in work.items()
    }
    return Submission(student, files=files, status="ready" if files else "not submitted")


def batch(
    submissions: Sequence[Submission],
    *,
    root: Path = ROOT,
    assignment: str = ASSIGNMENT,
    exercises: Iterable[str] | None = None,
    limits: Mapping[str, float] | None = None,
    seed: int = 1,
    shared_workers: bool = True,
) -> Batch:
    """A batch of an assignment; with `exercises`, of these exercises only (and what they build on)."""
    course = load_course(root)
    graded = course.assignment(assignment)
    changes: dict[str, Any] = {"limits": graded.limits.model_copy(update=dict(limits or {}))}
    if exercises is not None:
        wanted = set(exercises)
        changes["exercises"] = tuple(e for e in graded.exercises if e.name in wanted)
    graded = graded.model_copy(update=changes)
    return Batch(CourseFiles(root), course.id, graded, submissions, seed, shared_workers)


def run(
    of: Batch,
    finished: Callable[[Receipt], None] = lambda _: None,
    started: Callable[[Submission], None] = lambda _: None,
    own_zygote: bool = False,
    without: Sequence[str] = (),
) -> dict[str, Receipt]:
    """Grade a batch; receipts by student, in the order of the batch (they come as they are finished).

    All batches of a test session share a zygote, which holds nothing of any of them; with `own_zygote` not.
    """
    receipts: dict[str, Receipt] = {}

    def keep(receipt: Receipt) -> None:
        receipts[receipt.student] = receipt
        finished(receipt)

    if own_zygote:
        with Zygotes(without) as zygotes:
            grade(of, keep, started, zygotes)
    else:
        grade(of, keep, started, shared_zygotes(*without))
    assert len(receipts) == len(of.submissions)
    return {submission.student: receipts[submission.student] for submission in of.submissions}


def grade_class(work: Mapping[str, Work], **options: Any) -> dict[str, Receipt]:
    """Grade these students' work between two honest neighbours, who must keep every point."""
    honest = {name: source for name, source in solutions().items() if name in (options.get("exercises") or EXERCISES)}
    everybody = {BEFORE: honest, **work, AFTER: honest}
    receipts = run(batch([handed_in(student, files) for student, files in everybody.items()], **options))
    assert list(receipts) == list(everybody)
    for neighbour in (BEFORE, AFTER):
        assert lost(receipts[neighbour]) == {}, neighbour
        assert receipts[neighbour].attention() == []
    return receipts


# -- what a receipt says


def outcomes(receipt: Receipt, exercise: str | None = None) -> dict[str, str]:
    """Outcome by the name of the check, of one exercise or as `exercise::check` of all."""
    if exercise is None:
        return {check.id: check.outcome for check in receipt.checks}
    return {check.id.split("::")[1]: check.outcome for check in receipt.checks if check.exercise == exercise}


def lost(receipt: Receipt, exercise: str | None = None) -> dict[str, str]:
    """The checks that did not earn all their points, with their outcomes."""
    full = {check.id for check in receipt.checks if check.earned == check.points}
    prefix = f"{exercise}::" if exercise else ""
    return {name: outcome for name, outcome in outcomes(receipt, exercise).items() if prefix + name not in full}


def passed(receipt: Receipt, exercise: str | None = None) -> set[str]:
    return {name for name, outcome in outcomes(receipt, exercise).items() if outcome == "passed"}


def messages(receipt: Receipt, exercise: str | None = None) -> list[str]:
    return [c.message for c in receipt.checks if c.message and exercise in (None, c.exercise)]


def points(receipt: Receipt, exercise: str) -> float:
    return float(sum(check.earned for check in receipt.checks if check.exercise == exercise))


def comparable(receipt: Receipt) -> dict[str, Any]:
    """All that a receipt says apart from times."""
    data = receipt.to_dict()
    for name in ("graded_at", "seconds"):
        del data[name]
    for check in data["checks"]:
        del check["seconds"]
    return data
