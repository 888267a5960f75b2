"""All that happened to a student's points in an assignment: receipts and adjustments, in the order of time."""

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
    """A receipt, whether it is the one that counts, and what is different from the one before it, if there is one."""

    receipt: Receipt
    stands: bool
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

    A receipt that was kept a second time, because it stands again, comes behind those it stands before.
    """
    complete = [place for place, receipt in enumerate(receipts) if receipt.complete]
    stands = complete[-1] if complete else len(receipts) - 1
    times = accumulate((receipt.graded_at for receipt in receipts), max)
    timed: list[tuple[str, Event]] = [
        (time, _graded(receipt, receipts[place - 1] if place else None, place == stands))
        for place, (time, receipt) in enumerate(zip(times, receipts, strict=True))
    ]
    last = {adjustment.exercise: adjustment for adjustment in adjustments}
    timed += [(a.made_at, ByHand(a, a is last[a.exercise] and not a.withdrawn)) for a in adjustments]
    return [event for _, event in sorted(timed, key=lambda one: one[0])]


def _graded(receipt: Receipt, before: Receipt | None, stands: bool) -> Graded:
    if before is None:
        return Graded(receipt, stands)
    why = reasons(before, receipt) or ["the same work and the same checks as before"]
    return Graded(receipt, stands, tuple(why), tuple(check_changes(before, receipt)))
