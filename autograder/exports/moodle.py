"""A CSV for Moodle's gradebook import (Grades, Import, CSV file): map "Identify user by" and the column of points.

What Moodle's importer does, and what follows here: "-" erases a grade, so who has no points is left out; it cuts
points above the maximum without a word, and takes no decimal comma in an English course, so points are within the
maximum and have a point; and feedback columns can wipe grades of activities, so there is none. It finds people by ID
number or email, which therefore stand as they are: an id that a spreadsheet would run is left out and said. Names
serve the reader only.
"""

from __future__ import annotations

import csv
import io
import re

from autograder.exports.standing import Exported, Standing, number
from autograder.grading.cells import harmless
from autograder.intake.roster import Roster

_PLAIN_ID = re.compile(r"[\w.@+ -]+")
"""Ids without what a formula needs to do anything: no =, no bracket, no bar, no quote."""


def moodle(standing: Standing, roster: Roster | None = None) -> Exported:
    """The CSV; with an email address for each student of whom the roster has one."""
    emails = {} if roster is None else {s: roster.details.get(s, {}).get("email", "") for s in roster}
    numbers = {} if roster is None else {s: roster.details.get(s, {}).get("id_number", s) for s in roster}
    with_email = any(emails.values())
    head = ["ID number", *(["Email address"] if with_email else []), "Full name", standing.title]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(harmless, head))
    left_out = [f"{student} has no score: {why}" for student, why in standing.ungraded.items()]
    for row in standing.rows:
        ids = [numbers.get(row.student) or row.student, *([emails.get(row.student, "")] if with_email else [])]
        if unsafe := [id for id in ids if id and not _PLAIN_ID.fullmatch(id)]:
            left_out.append(
                f'{row.student}: "{unsafe[0]}" could be run by a spreadsheet and cannot be changed; type it in'
            )
            continue
        writer.writerow([*ids, harmless(row.name), number(min(row.final.points, standing.possible))])
    remarks = (
        f"import it into a manual grade item of {number(standing.possible)} points; over an activity's grades it would "
        "replace them",
    )
    return Exported(
        {f"{standing.id.replace('/', '_')}_moodle.csv": text.getvalue().encode("utf-8")}, remarks, tuple(left_out)
    )


def read_moodle(content: bytes) -> list[dict[str, str]]:
    """The rows as Moodle maps them, by title."""
    return list(csv.DictReader(io.StringIO(content.decode("utf-8"), newline="")))
