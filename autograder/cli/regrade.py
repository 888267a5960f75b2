"""`autograder regrade`."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from autograder.cli.collecting import Work, collected
from autograder.cli.exit_codes import ATTENTION, OK, STOPPED
from autograder.cli.wording import counted, named
from autograder.course import Assignment
from autograder.grading.aside import forget_aside, open_aside
from autograder.grading.errors import GradingError
from autograder.grading.hashes import suite_hash
from autograder.grading.parts import MODULES, command_for, part_of
from autograder.grading.receipt import Receipt
from autograder.grading.regrade import Plan, Regraded, compared, plan, to_keep
from autograder.grading.reuse import with_known_times
from autograder.grading.store import Store
from autograder.reports.regrade import regrade_tables


def run(
    course: Path | None,
    assignment: str,
    paths: Sequence[Path],
    roster: Path | None,
    store: str | None,
    seed: int | None,
    never_lower: bool,
    apply: bool,
    as_json: bool,
    require_isolation: str | None,
) -> int:
    """Grade again what no longer holds, print what that changes, and keep it when told to. Returns the exit code."""
    if part_of(assignment) is not MODULES:
        raise GradingError(f"only modules are regraded; `{command_for(assignment)}` does {assignment} again")
    work, notices = collected(course, assignment, paths, roster), Console(stderr=True)
    files = work.setting.files
    with work.setting.store(store) as receipts:
        standing = receipts.standing_receipts(assignment)
        submissions = with_known_times(work.submissions, standing)
        planned = plan(submissions, standing, suite_hash(files, work.assignment), seed)
        new = _graded_again(work, planned, notices, require_isolation)
        if new is None:
            notices.print("stopped; nothing was changed, the same command goes on", highlight=False)
            return STOPPED
        found = _compared(receipts, work.assignment, standing, new, never_lower)
        if apply:
            receipts.add_all(to_keep(found))
            forget_aside(files.root)
    if as_json:
        print(json.dumps(_told(assignment, found, planned, apply), indent=1))
    else:
        regrade_tables(Console(), found)
    sys.stdout.flush()  # what stands below the tables goes to another stream
    for line in _summary(found, planned, assignment, apply):
        notices.print(Text(line), soft_wrap=True)
    to_look_at = any(one.failed or (one.is_different and not apply) for one in found)
    return ATTENTION if to_look_at else OK


def _graded_again(
    work: Work, planned: Plan, notices: Console, require_isolation: str | None
) -> dict[str, Receipt] | None:
    """New receipts of all that are due; None when the user stopped it."""
    if not planned.due:
        return {}
    from autograder.grading.again import grade_again

    setting = work.setting
    with open_aside(setting.files.root) as aside, notices.status("grading again") as status:

        def progress(done: int) -> None:
            status.update(f"grading again: {done} of {len(planned.due)}")

        how = planned.due, aside, progress, require_isolation
        try:
            return grade_again(setting.files, setting.course.id, work.assignment, *how)
        except KeyboardInterrupt:
            return None


def _compared(
    store: Store, assignment: Assignment, standing: Mapping[str, Receipt], new: Mapping[str, Receipt], never_lower: bool
) -> list[Regraded]:
    by_hand = store.all_adjustments(assignment.id)
    return [compared(standing[s], new[s], by_hand.get(s, []), assignment, never_lower) for s in sorted(new)]


def _told(assignment: str, found: Sequence[Regraded], planned: Plan, applied: bool) -> dict[str, Any]:
    return {
        "assignment": assignment,
        "applied": applied,
        "graded_again": len(found),
        "changes": [one.to_dict() for one in found if one.is_different],
        "unchanged": planned.unchanged,
        "handed_in_anew": planned.handed_in_anew,
        "never_graded": planned.never_graded,
        "not_among_the_paths": planned.not_there,
    }


def _summary(found: Sequence[Regraded], planned: Plan, assignment: str, applied: bool) -> Iterator[str]:
    done = [one for one in found if not one.failed]
    gain, lose = (sum(one.gain * sign > 0 for one in done if not one.is_kept) for sign in (1, -1))
    holds = counted(len(planned.unchanged), "holds as it is", "hold as they are")
    holding = f", {holds}" if planned.unchanged else ""
    everybody = len(found) + len(planned.unchanged)
    gains, loses = counted(gain, "gains points", "gain points"), counted(lose, "loses some", "lose some")
    yield f"{len(found)} of {everybody} graded again{holding}: {gains}, {loses}"
    for why, count in Counter(why for one in found for why in one.why).most_common():
        yield f"why: {why}, {count} of {len(found)}"
    if kept := sum(one.is_kept for one in done):
        yield f"not lowered (--never-lower): {kept}"
    if failed := [one.student for one in found if one.failed]:
        yield f"not graded again, by the grader's fault: {named(failed)}; what they have stays as it is"
    by_grade = f"; `autograder grade {assignment}` does it"
    if planned.never_graded:
        yield f"never graded yet: {named(planned.never_graded)}{by_grade}"
    if planned.handed_in_anew:
        yield f"handed in something else since: {named(planned.handed_in_anew)}{by_grade}"
    if planned.not_there:
        yield f"not among the submissions given here: {named(planned.not_there)}; what they have stays as it is"
    if applied:
        yield f"written: the new results of {len(done)}"
    elif done:
        yield "nothing was written; the same command with --apply does it"
