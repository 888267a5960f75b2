"""`autograder grade`."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from autograder.cli.collecting import Work, collected
from autograder.cli.exit_codes import ATTENTION, OK, STOPPED
from autograder.cli.running import HERE, Where, grade_waiting
from autograder.cli.wording import attention, counted, named
from autograder.course import Assignment
from autograder.grading.batch import Batch
from autograder.grading.final import final_scores
from autograder.grading.kills import unproved
from autograder.grading.receipt import NOT_SUBMITTED, Receipt
from autograder.grading.reuse import reusable, with_known_times
from autograder.grading.score import manual_notes
from autograder.grading.store import Adjustment, Store
from autograder.intake import Submission
from autograder.reports.terminal import Row, class_table

MOST_REASONS = 5
AT_ONCE = 500
"""So many receipts of earlier runs are looked at together."""


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
    graded, notices = work.assignment, Console(stderr=True)
    with work.setting.store(store) as receipts:
        told = _Told(graded, receipts.all_adjustments(assignment), as_json)
        waiting: list[Submission] = []
        for some in _portions(work.submissions):
            waiting += _to_grade(work, some, receipts, told, force, seed, require_isolation)
        reused = len(told.rows) - len(told.staying)
        batch = Batch(
            files=work.setting.files,
            course=work.setting.course.id,
            assignment=graded,
            submissions=waiting,
            seed=secrets.randbelow(2**31) if seed is None else seed,
            shared_workers=not fresh_workers,
            required_isolation=require_isolation,
        )
        interrupted = grade_waiting(batch, waiting, where, receipts, force, seed, notices, told.add)
        told.hear_of(receipts.all_adjustments(assignment), receipts)
    rows = told.in_order(work.submissions)
    _print(work, rows, told)
    to_look_at = sum(bool(row.reasons) for row in rows)
    kept = f" ({reused} unchanged, receipts reused)" if reused else ""
    notices.print(
        f"{len(rows)} of {counted(len(work.submissions), 'submission')} graded{kept}; "
        f"{attention(to_look_at, len(rows))}. Receipts: {receipts.place}",
        soft_wrap=True,
        highlight=False,
    )
    for line in _remarks(work, rows, told, handed_in):
        notices.print(line, soft_wrap=True, markup=False, highlight=False)
    if interrupted:
        again = "the same command without --force" if force else "the same command"
        new = len(rows) - reused - len(told.staying)
        notices.print(f"stopped; {new} new receipts are kept, {again} goes on", highlight=False)
        return STOPPED
    return ATTENTION if to_look_at or work.strangers else OK


class _Told:
    """What is told of each receipt, as soon as it is known: so none has to be kept. With `whole` all of it is told."""

    def __init__(self, assignment: Assignment, by_hand: Mapping[str, Sequence[Adjustment]], whole: bool) -> None:
        self.rows: dict[str, Row] = {}
        self.staying: list[str] = []
        """Who handed in nothing now, and something before: that is no reason to take away what they have."""
        self.whole: dict[str, dict[str, Any]] | None = {} if whole else None
        self._assignment = assignment
        self._by_hand = by_hand
        self._before: dict[str, Receipt] = {}

    def remember(self, before: Mapping[str, Receipt]) -> None:
        """What stood before of students whose points a person gave: it is told how the checks' differ from then."""
        self._before |= {student: receipt for student, receipt in before.items() if student in self._by_hand}

    def add(self, receipt: Receipt) -> None:
        """Tell of this one."""
        adjustments = self._by_hand.get(receipt.student, [])
        final = final_scores(receipt, adjustments, self._assignment)
        notes = manual_notes(receipt, self._before.get(receipt.student), adjustments) if adjustments else []
        self.rows[receipt.student] = Row.of(receipt, final, notes)
        if self.whole is not None:
            self.whole[receipt.student] = {**receipt.to_dict(), **final.to_dict()}

    def hear_of(self, by_hand: Mapping[str, Sequence[Adjustment]], store: Store) -> None:
        """Tell anew of those whose points a person gave while others were graded."""
        earlier, self._by_hand = self._by_hand, by_hand
        changed = [s for s in self.rows if by_hand.get(s, []) != earlier.get(s, [])]
        for receipt in store.standing_receipts(self._assignment.id, changed).values() if changed else ():
            self.add(receipt)

    def in_order(self, submissions: Iterable[Submission]) -> list[Row]:
        """The rows of these, as far as there are any."""
        return [row for submission in submissions if (row := self.rows.get(submission.student))]


def _portions(submissions: Sequence[Submission]) -> Iterator[Sequence[Submission]]:
    return (submissions[first : first + AT_ONCE] for first in range(0, len(submissions), AT_ONCE))


def _to_grade(
    work: Work,
    submissions: Sequence[Submission],
    store: Store,
    told: _Told,
    force: bool,
    seed: int | None,
    required_isolation: str | None,
) -> list[Submission]:
    """Those of which no receipt holds; receipts of the others stand again, where something else did since."""
    before = store.standing_receipts(work.assignment.id, [s.student for s in submissions])
    told.remember(before)
    submissions = with_known_times(submissions, before)
    absent = {s.student for s in submissions if s.status == NOT_SUBMITTED}
    staying = {s: receipt for s, receipt in before.items() if s in absent and receipt.status != NOT_SUBMITTED}
    told.staying += staying
    for receipt in staying.values():
        told.add(receipt)
    submissions = [submission for submission in submissions if submission.student not in staying]
    if force:
        return submissions
    found = reusable(store, work.setting.files, work.assignment, submissions, seed, required_isolation, before)
    store.add_all(receipt for student, receipt in found.items() if receipt != before.get(student))
    for receipt in found.values():
        told.add(receipt)
    return [submission for submission in submissions if submission.student not in found]


def _print(work: Work, rows: Sequence[Row], told: _Told) -> None:
    """The results, and who is in no roster."""
    console = Console(soft_wrap=False)
    if told.whole is not None:
        print(json.dumps([told.whole[row.student] for row in rows], indent=1, ensure_ascii=True))
        console = Console(stderr=True, soft_wrap=False)
    elif rows:
        class_table(console, rows, [exercise.name for exercise in work.assignment.exercises])
    for stranger in work.strangers:
        console.print("  ".join(["", stranger.student, *stranger.notes[:1]]), markup=False, highlight=False)
    sys.stdout.flush()  # what stands below the table goes to another stream


def _remarks(work: Work, rows: Sequence[Row], told: _Told, handed_in: Path | None) -> Iterator[str]:
    """What an instructor should know about the results."""
    if told.staying:
        yield f"nothing was handed in now for {named(told.staying)}; what they have stays"
    if unknown := sum(row.final.late.days is None for row in rows):
        how = "" if handed_in else " (--handed-in FILE tells it)"
        yield (
            f"when it was handed in is not known for {unknown} of {len(rows)}; nothing is taken off theirs as late{how}"
        )
    if untimed := list(_untimed(rows)):
        more = f"; and for {len(untimed) - MOST_REASONS} more reasons" if len(untimed) > MOST_REASONS else ""
        yield f"when it was handed in cannot be told: {'; '.join(untimed[:MOST_REASONS])}{more}"
    if unnamed := unproved(work.setting.files, work.assignment):
        yield (
            f"no mistakes are named in {', '.join(unnamed)}, which changed since they were proved: "
            f"autograder verify {work.assignment.id} --write"
        )


def _untimed(rows: Iterable[Row]) -> Iterator[str]:
    """Whose time was given and is not known, and why."""
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        if row.about_time and not row.is_timed:
            by_reason.setdefault(row.about_time, []).append(row.student)
    yield from (f"{named(students)} ({why})" for why, students in by_reason.items())
