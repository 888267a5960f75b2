"""`autograder history`."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console

from autograder.cli.setting import Setting
from autograder.cli.show import assignments_of
from autograder.grading.final import final_scores
from autograder.grading.history import events
from autograder.grading.parts import assignment_of
from autograder.reports.history import history_report


def run(course: Path | None, student: str, assignment: str | None, store: str | None, as_json: bool) -> None:
    """Print everything that was kept about a student, oldest first."""
    setting, console = Setting.find(course), Console()
    told = {}
    with setting.store(store) as receipts:
        for name in assignments_of(receipts, student, assignment):
            kept = receipts.history(name, student)[::-1]
            given = receipts.adjustments(name, student)
            standing = receipts.standing(name, student)
            assert standing is not None
            graded = setting.course.assignment(assignment_of(name))
            final, found = final_scores(standing, given, graded), events(kept, given)
            if as_json:
                told[name] = {**final.to_dict(), "events": [event.to_dict() for event in found]}
            else:
                history_report(console, student, name, found, final)
    if as_json:
        print(json.dumps(told, indent=1))
