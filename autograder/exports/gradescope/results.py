"""A receipt as Gradescope's `results.json` (its autograder specification; fields of its first version only).

What a student sees and when: public checks at once, hidden ones `after_published`, named in plain words and never by
the name of a test function. Gradescope shows no total as long as one scored test is held back, and so neither do we.
The `score` at the top, which Gradescope takes instead of the sum, has lateness and points given by hand in it. Without
any score Gradescope reports a failed autograder: that, and not 0 points, is what a student gets when ours is at fault.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from autograder.exports.standing import Exported, Standing, number
from autograder.grading.final import Final
from autograder.grading.parts import MODULES, part_of
from autograder.grading.receipt import CheckResult, Receipt
from autograder.quiz.receipts import without_feedback

_AT_ONCE, _PUBLISHED = "visible", "after_published"
_TROUBLE = "The grader had a problem of its own, and nothing was scored. Your instructor can see what it was."


def results(receipt: Receipt, final: Final, withheld: str = "") -> dict[str, Any]:
    """The document of one complete receipt. `withheld`: why hints are not told, as a sentence; "" where they are."""
    if withheld and part_of(receipt.assignment) is not MODULES:
        receipt = without_feedback(receipt)
    return {
        "score": _json_number(final.points),
        "execution_time": round(receipt.seconds, 3),
        "output": "\n\n".join(_remarks(receipt, final, withheld)),
        "visibility": _AT_ONCE,
        "stdout_visibility": "hidden",
        "tests": [_test(place, check) for place, check in enumerate(receipt.checks, start=1)],
        "extra_data": {
            "status": receipt.status,
            "isolation": receipt.isolation,
            "kit_version": receipt.kit_version,
            "suite_hash": receipt.suite_hash,
            "submission_hash": receipt.submission_hash,
        },
    }


def failed(reason: str) -> dict[str, Any]:
    """The document when nothing could be scored: valid, and without a score. `reason` is for staff, who see stdout."""
    return {"output": _TROUBLE, "stdout_visibility": "hidden", "visibility": _AT_ONCE, "extra_data": {"reason": reason}}


def gradescope(standing: Standing, withheld: Mapping[str, str] | None = None) -> Exported:
    """A `results.json` for each student, named by the student's id. `withheld`: as for `results`, by student."""
    why = withheld or {}
    files = {
        f"{row.student}.json": written(results(row.receipt, row.final, why.get(row.student, "")))
        for row in standing.rows
    }
    left_out = [f"{student} has no file: {why}" for student, why in standing.ungraded.items()]
    return Exported(files, left_out=tuple(left_out))


def written(document: dict[str, Any]) -> bytes:
    """The document as the bytes of a file."""
    return (json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "replace")


def _test(place: int, check: CheckResult) -> dict[str, Any]:
    title = check.title if check.public else f"hidden: {check.title}"
    full = check.earned == check.points
    return {
        "number": str(place),
        "name": f"{check.exercise}: {title}",
        "score": _json_number(check.earned),
        "max_score": _json_number(check.points),
        "status": "passed" if full else "failed",
        "output": "" if full else "\n".join(filter(None, [check.outcome, check.message])),
        "tags": [check.exercise],
        "visibility": _AT_ONCE if check.public else _PUBLISHED,
    }


def _remarks(receipt: Receipt, final: Final, withheld: str) -> Iterable[str]:
    """Paragraphs for the student: what intake and reading said, lateness, points by hand, hints."""
    yield from receipt.remarks
    if final.late.sentence:
        yield final.late.sentence
    for score in final.exercises:
        if score.manual is not None:
            yield f"{score.exercise}: {number(score.points)} points, given by hand: {score.manual.reason}"
    if not receipt.diagnoses:
        return
    if withheld:
        yield withheld
        return
    for exercise, found in receipt.diagnoses.items():
        for diagnosis in found:
            yield " ".join(
                filter(None, [f"{exercise} looks like: {diagnosis.name}.", diagnosis.hint, f"({diagnosis.course})"])
            )


def _json_number(points: Fraction) -> int | float:
    value = float(number(points))
    return int(value) if value.is_integer() else value
