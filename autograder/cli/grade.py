"""`autograder grade`."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from autograder.cli.exit_codes import ATTENTION, OK, STOPPED
from autograder.cli.running import HERE, Where, grade_waiting
from autograder.cli.setting import Setting
from autograder.grading import GradingError
from autograder.grading.batch import Batch
from autograder.grading.kills import unproved
from autograder.grading.receipt import Receipt
from autograder.grading.reuse import reusable
from autograder.grading.score import ExerciseScore, manual_notes, scores
from autograder.grading.store import Adjustment
from autograder.intake import Submission, collect, read_roster
from autograder.reports.terminal import class_table
from autograder.sandbox.levels import satisfies


def run(
    course: Path | None,
    assignment: str,
    paths: Sequence[Path],
    roster: Path | None,
    store: str | None,
    seed: int | None,
    force: bool,
    fresh_workers: bool,
    as_json: bool,
    require_isolation: str | None = None,
    where: Where = HERE,
) -> int:
    """Grade, keep the receipts, print a table. Returns the exit code."""
    setting = Setting.find(course)
    graded = setting.course.assignment(assignment)
    names = [exercise.name for exercise in graded.exercises]
    students = read_roster(roster) if roster else None
    _refuse_the_course(paths, setting.files.root)
    collected = collect(paths, names, assignment, students)
    if not collected:
        raise GradingError(f"{paths[0]} holds no submission; give a folder, a zip, or a folder of them")
    submissions = [s for s in collected if students is None or s.student in students]
    strangers = [s for s in collected if s not in submissions]
    console, notices = Console(soft_wrap=False), Console(stderr=True)
    with setting.store(store) as receipts:
        before = receipts.standing_receipts(assignment, [s.student for s in submissions])
        found = {} if force else reusable(receipts, setting.files, graded, submissions, seed, before)
        reused = {
            student: receipt for student, receipt in found.items() if satisfies(receipt.isolation, require_isolation)
        }
        # The same work as before what stands now: those receipts stand again.
        receipts.add_all(receipt for student, receipt in reused.items() if receipt != before.get(student))
        waiting = [s for s in submissions if s.student not in reused]
        batch = Batch(
            files=setting.files,
            course=setting.course.id,
            assignment=graded,
            submissions=waiting,
            seed=secrets.randbelow(2**31) if seed is None else seed,
            shared_workers=not fresh_workers,
            required_isolation=require_isolation,
        )
        fresh, interrupted = grade_waiting(batch, waiting, where, receipts, force, seed, notices)
        results = [r for s in submissions if (r := reused.get(s.student) or fresh.get(s.student))]
        by_hand = receipts.all_adjustments(assignment)
        rows = [_row(r, before.get(r.student), by_hand.get(r.student, [])) for r in results]
    if as_json:
        print(json.dumps([receipt.to_dict() for receipt in results], indent=1, ensure_ascii=True))
    elif rows:
        class_table(console, rows, names)
    for stranger in strangers:
        console.print("  ".join(["", stranger.student, *stranger.notes[:1]]), markup=False, highlight=False)
    sys.stdout.flush()  # what stands below the table goes to another stream
    attention = sum(bool(receipt.attention()) for receipt in results)
    notices.print(_summary(submissions, results, reused, attention, receipts.place), soft_wrap=True, highlight=False)
    if unnamed := unproved(setting.files, graded):
        notices.print(
            f"no mistakes are named in {', '.join(unnamed)}, which changed since they were proved: "
            f"autograder verify {assignment} --write",
            soft_wrap=True,
            highlight=False,
        )
    if interrupted:
        again = "the same command without --force" if force else "the same command"
        notices.print(f"stopped; {len(fresh)} new receipts are kept, {again} goes on", highlight=False)
        return STOPPED
    return ATTENTION if attention or strangers else OK


def _refuse_the_course(paths: Sequence[Path], root: Path) -> None:
    """A path that holds the course itself is a slip: its folders are no submissions."""
    for path in paths:
        if root.is_relative_to(path.resolve()):
            raise GradingError(f"{path} holds the course itself; give the folder in which the submissions are")


def _row(
    receipt: Receipt, before: Receipt | None, adjustments: Sequence[Adjustment]
) -> tuple[Receipt, list[ExerciseScore], list[str]]:
    notes = manual_notes(receipt, before, adjustments) if adjustments else []
    return receipt, scores(receipt, adjustments), notes


def _summary(
    submissions: Sequence[Submission],
    results: Sequence[Receipt],
    reused: dict[str, Receipt],
    attention: int,
    place: str,
) -> str:
    kept = f" ({len(reused)} unchanged, receipts reused)" if reused else ""
    look = f"{attention} of {len(results)} need attention" if attention else "none needs attention"
    return f"{len(results)} of {len(submissions)} submissions graded{kept}; {look}. Receipts: {place}"
