"""What a student reads about an exercise in a graded notebook: plain lines, the same that `autograder show` prints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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


_CHECK = re.compile(r"  (\S+)/(\S+)  ([a-z ]+): (hidden: )?(.*)")


@dataclass(frozen=True)
class ToldCheck:
    """A check as `exercise_lines` tells of it."""

    earned: str
    points: str
    outcome: str
    hidden: bool
    title: str
    message: str


@dataclass(frozen=True)
class Told:
    """The lines of an exercise, taken apart: its checks, and the rest (diagnoses, or why there are none) in paragraphs
    of a headline and a text."""

    checks: Sequence[ToldCheck]
    remarks: Sequence[tuple[str, str]]

    @property
    def shared(self) -> str:
        """What all checks say, where all say the same."""
        messages = {check.message for check in self.checks}
        return messages.pop() if len(messages) == 1 and len(self.checks) > 1 else ""

    @property
    def passed(self) -> bool:
        """Did every check pass?"""
        return all(check.outcome == PASSED for check in self.checks)


def told(lines: Sequence[str]) -> Told:
    """Read what `exercise_lines` wrote. A line with more than two spaces in front belongs to the one above it."""
    items: list[list[str]] = []
    for line in lines:
        if line.startswith("      ") and items:
            items[-1].append(line[6:])
        else:
            items.append([line])
    checks, remarks = [], []
    for first, *more in items:
        found = _CHECK.fullmatch(first)
        if found is None:
            remarks.append((first.strip(), "\n".join(more)))
            continue
        earned, points, outcome, hidden, title = found.groups()
        checks.append(ToldCheck(earned, points, outcome, bool(hidden), title, "\n".join(more)))
    return Told(tuple(checks), tuple(remarks))
