"""All that happened to a student's points in an assignment: receipts and adjustments, oldest first.

A receipt knows when it was graded. One that was kept once more, because the same work was handed in again or another
result was lower, came later than those before it, and nobody knows when.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from autograder.grading.changes import CheckChange, check_changes, reasons
from autograder.grading.receipt import Receipt
from autograder.grading.store import Adjustment


@dataclass(frozen=True)
class Graded:
    """A receipt, whether it is the one that counts, and what is different from the one before it, if there is one.

    `again`: it was kept before, and now once more, at a time that is not known.
    """

    receipt: Receipt
    stands: bool
    again: bool = False
    why: tuple[str, ...] = ()
    checks: tuple[CheckChange, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data, points as text such as "20/3"."""
        names = ("graded_at", "handed_in", "status", "submission_hash", "suite_hash", "kit_version", "seed", "complete")
        return {
            "kind": "graded",
            **{name: getattr(self.receipt, name) for name in names},
            "earned": str(self.receipt.earned),
            "possible": str(self.receipt.possible),
            "stands": self.stands,
            "again": self.again,
            "kept_over_a_lower_one": bool(self.receipt.kept_over),
            "why": list(self.why),
            "checks": [{"id": one.check.id, "gain": str(one.gain), "what": one.sentence} for one in self.checks],
        }


@dataclass(frozen=True)
class ByHand:
    """An adjustment, and whether it is the one that counts for its exercise."""

    adjustment: Adjustment
    stands: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain data, points as text such as "20/3"; None where they were taken back."""
        points = None if self.adjustment.withdrawn else str(self.adjustment.points)
        return {"kind": "by hand", **vars(self.adjustment), "points": points, "stands": self.stands}


Event = Graded | ByHand


def events(receipts: Sequence[Receipt], adjustments: Sequence[Adjustment]) -> list[Event]:
    """What happened, oldest first, from what was kept, in the order in which it was kept.

    A receipt that was kept a second time, because it stands again, comes behind those it stands before; one that says
    nothing else than the one before it is left out.
    """
    receipts = _without_repeats(receipts)
    complete = [place for place, receipt in enumerate(receipts) if receipt.complete]
    stands = complete[-1] if complete else len(receipts) - 1
    times = accumulate((receipt.graded_at for receipt in receipts), max)
    timed: list[tuple[str, Event]] = [
        (time, _graded(receipt, receipts[:place], place == stands))
        for place, (time, receipt) in enumerate(zip(times, receipts, strict=True))
    ]
    last = {adjustment.exercise: adjustment for adjustment in adjustments}
    timed += [(a.made_at, ByHand(a, a is last[a.exercise] and not a.withdrawn)) for a in adjustments]
    return [event for _, event in sorted(timed, key=lambda one: one[0])]


def _without_repeats(receipts: Sequence[Receipt]) -> list[Receipt]:
    """The receipts without those of which the next one says all."""
    found: list[Receipt] = []
    for receipt in receipts:
        if found and _is_repeated(found[-1], receipt):
            found.pop()
        found.append(receipt)
    return found


def _is_repeated(before: Receipt, after: Receipt) -> bool:
    """Is it the same grading, kept for the same reason, of which nothing but notes was told anew?"""
    if reasons(before, after) or check_changes(before, after):
        return False
    return (*_grading(before), before.status, before.kept_over) == (*_grading(after), after.status, after.kept_over)


def _grading(receipt: Receipt) -> tuple[str, ...]:
    """What tells one grading from another."""
    return receipt.graded_at, receipt.judged_by, receipt.submission_hash, str(receipt.seed)


def _graded(receipt: Receipt, earlier: Sequence[Receipt], stands: bool) -> Graded:
    if not earlier:
        return Graded(receipt, stands)
    before, again = earlier[-1], _grading(receipt) in map(_grading, earlier)
    why = reasons(before, receipt) or ([] if again else ["the same work and the same checks as before"])
    return Graded(receipt, stands, again, tuple(why), tuple(check_changes(before, receipt)))
