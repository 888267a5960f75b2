"""What a student reads about an exercise in a graded notebook: plain lines, the same that `autograder show` prints."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.grading.receipt import PASSED, Receipt, shown


def exercise_lines(receipt: Receipt, exercise: str, withheld: str = "") -> Iterator[str]:
    """One line for each check, its message below it, and the mistake that the answers look like.

    `withheld` says when diagnoses are told, where they are not told now.
    """
    for check in receipt.exercises().get(exercise, []):
        title = check.title if check.public else f"hidden: {check.title}"
        yield f"  {shown(check.earned)}/{shown(check.points)}  {check.outcome}: {title}"
        if check.outcome != PASSED and check.message:
            yield from (f"      {line}" for line in check.message.splitlines())
    found = receipt.diagnoses.get(exercise, ())
    if found and withheld:
        yield f"  {withheld}"
        return
    for diagnosis in found:
        yield f"  looks like: {diagnosis.name} ({diagnosis.course})"
        yield f"      {diagnosis.hint}"
