"""A plain CSV, students by exercises, and its reader.

UTF-8 with a mark in front, without which a spreadsheet guesses another encoding; rows end with a line feed. Every text
may come from a student, ids too, so none is left that a spreadsheet would run; `read_table` gives the text back.
"""

from __future__ import annotations

import csv
import io

from autograder.exports.standing import Exported, Row, Standing, number
from autograder.grading.cells import harmless, restored
from autograder.grading.receipt import Receipt

_BEFORE = ("student", "name", "status")
_AFTER = ("raw", "late_percent", "final", "possible", "late", "attempt", "by_hand", "attention", "notes")


def table(standing: Standing) -> Exported:
    """The CSV: points of each exercise, `raw` their sum, `final` what is left of it after lateness."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(harmless, [*_BEFORE, *standing.exercises, *_AFTER]))
    writer.writerows(map(harmless, _cells(standing, row)) for row in standing.rows)
    left_out = [f"{student} is not in the file: {why}" for student, why in standing.ungraded.items()]
    name = f"{standing.id.replace('/', '_')}.csv"
    return Exported({name: text.getvalue().encode("utf-8-sig")}, left_out=tuple(left_out))


def read_table(content: bytes) -> list[dict[str, str]]:
    """The rows of such a CSV, by column, texts as they were."""
    rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    return [{restored(column): restored(cell) for column, cell in row.items()} for row in rows]


def _cells(standing: Standing, row: Row) -> list[str]:
    receipt, final = row.receipt, row.final
    points = {score.exercise: number(score.points) for score in final.exercises}
    by_hand = [f"{s.exercise}: {s.manual.reason} ({s.manual.author})" for s in final.exercises if s.manual]
    return [
        row.student,
        receipt.name or "",
        receipt.status,
        *(points.get(exercise, "") for exercise in standing.exercises),
        number(final.raw),
        number(final.late.percent),
        number(final.points),
        number(standing.possible),
        final.late.sentence,
        receipt.attempt or "",
        "; ".join(by_hand),
        "; ".join(receipt.attention()),
        _notes(receipt),
    ]


def _notes(receipt: Receipt) -> str:
    return "\n".join(receipt.remarks)
