"""`autograder grade`."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.console import Console

from autograder.cli.collecting import Work, collected
from autograder.cli.exit_codes import ATTENTION, OK, STOPPED
from autograder.cli.running import HERE, Where, grade_waiting
from autograder.cli.wording import attention, counted, named
from autograder.course import Assignment
from autograder.grading.batch import Batch
from autograder.grading.final import final_scores
from autograder.grading.kills import unproved
from autograder.grading.receipt import Receipt
from autograder.grading.reuse import reusable, with_known_times
from autograder.grading.score import manual_notes
from autograder.grading.store import Adjustment
from autograder.reports.terminal import Row, class_table

MOST_REASONS = 5


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
    handed_in: Path | None = None,
    where: Where = HERE,
) -> int:
    """Grade, keep the receipts, print a table. Returns the exit code."""
    work = collected(course, assignment, paths, roster, handed_in)
    files, graded, notices = work.setting.files, work.assignment, Console(stderr=True)
    with work.setting.store(store) as receipts:
        before = receipts.standing_receipts(assignment, [s.student for s in work.submissions])
        submissions = with_known_times(work.submissions, before)
        reused = {} if force else reusable(receipts, files, graded, submissions, seed, require_isolation, before)
        # The same work as before what stands now: those receipts stand again.
        receipts.add_all(receipt for student, receipt in reused.items() if receipt != before.get(student))
        waiting = [s for s in submissions if s.student not in reused]
        batch = Batch(
            files=files,
            course=work.setting.course.id,
            assignment=graded,
            submissions=waiting,
            seed=secrets.randbelow(2**31) if seed is None else seed,
            shared_workers=not fresh_workers,
            required_isolation=require_isolation,
        )
        fresh, interrupted = grade_waiting(batch, waiting, where, receipts, force, seed, notices)
        results = [r for s in submissions if (r := reused.get(s.student) or fresh.get(s.student))]
        by_hand = receipts.all_adjustments(assignment)
        rows = [_row(r, before.get(r.student), by_hand.get(r.student, []), graded) for r in results]
    _print(work, rows, as_json)
    to_look_at = sum(bool(receipt.attention()) for receipt in results)
    kept = f" ({len(reused)} unchanged, receipts reused)" if reused else ""
    notices.print(
        f"{len(results)} of {counted(len(submissions), 'submission')} graded{kept}; "
        f"{attention(to_look_at, len(results))}. Receipts: {receipts.place}",
        soft_wrap=True,
        highlight=False,
    )
    for line in _remarks(work, rows, handed_in):
        notices.print(line, soft_wrap=True, markup=False, highlight=False)
    if interrupted:
        again = "the same command without --force" if force else "the same command"
        notices.print(f"stopped; {len(fresh)} new receipts are kept, {again} goes on", highlight=False)
        return STOPPED
    return ATTENTION if to_look_at or work.strangers else OK


def _row(receipt: Receipt, before: Receipt | None, adjustments: Sequence[Adjustment], assignment: Assignment) -> Row:
    notes = manual_notes(receipt, before, adjustments) if adjustments else []
    return receipt, final_scores(receipt, adjustments, assignment), notes


def _print(work: Work, rows: Sequence[Row], as_json: bool) -> None:
    """The results, and who is in no roster."""
    console = Console(soft_wrap=False)
    if as_json:
        told = [{**receipt.to_dict(), **final.to_dict()} for receipt, final, _ in rows]
        print(json.dumps(told, indent=1, ensure_ascii=True))
    elif rows:
        class_table(console, rows, [exercise.name for exercise in work.assignment.exercises])
    for stranger in work.strangers:
        console.print("  ".join(["", stranger.student, *stranger.notes[:1]]), markup=False, highlight=False)
    sys.stdout.flush()  # what stands below the table goes to another stream


def _remarks(work: Work, rows: Sequence[Row], handed_in: Path | None) -> Iterator[str]:
    """What an instructor should know about the results."""
    if unknown := sum(final.late.days is None for _, final, _ in rows):
        how = "" if handed_in else " (--handed-in FILE tells it)"
        yield (
            f"when it was handed in is not known for {unknown} of {len(rows)}; nothing is taken off theirs as late{how}"
        )
    if untimed := list(_untimed(receipt for receipt, _, _ in rows)):
        more = f"; and for {len(untimed) - MOST_REASONS} more reasons" if len(untimed) > MOST_REASONS else ""
        yield f"when it was handed in cannot be told: {'; '.join(untimed[:MOST_REASONS])}{more}"
    if unnamed := unproved(work.setting.files, work.assignment):
        yield (
            f"no mistakes are named in {', '.join(unnamed)}, which changed since they were proved: "
            f"autograder verify {work.assignment.id} --write"
        )


def _untimed(receipts: Iterable[Receipt]) -> Iterator[str]:
    """Whose time was given and is not known, and why."""
    by_reason: dict[str, list[str]] = {}
    for receipt in receipts:
        if receipt.handed_in is None and receipt.handed_in_remark:
            by_reason.setdefault(receipt.handed_in_remark, []).append(receipt.student)
    yield from (f"{named(students)} ({why})" for why, students in by_reason.items())
