"""What is different between two receipts of a student: which checks, by how many points, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from autograder.grading.receipt import CheckResult, Receipt, shown

_NOTHING = Fraction(0)


@dataclass(frozen=True)
class CheckChange:
    """A check before and after; None: it was not there."""

    before: CheckResult | None
    after: CheckResult | None

    @property
    def check(self) -> CheckResult:
        """The check as it is now, or as it was last."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def gain(self) -> Fraction:
        """Points more than before."""
        return (self.after.earned if self.after else _NOTHING) - (self.before.earned if self.before else _NOTHING)

    @property
    def ended_otherwise(self) -> bool:
        """Is more different than what it is worth?"""
        return self.before is None or self.after is None or self.before.outcome != self.after.outcome

    @property
    def sentence(self) -> str:
        """What happened to it, in plain words."""
        if self.before is None:
            return f"new: {_ended(self.check)}"
        if self.after is None:
            return f"no longer there, was {_ended(self.check)}"
        return f"{_ended(self.before)} -> {_ended(self.after)}"


def check_changes(before: Receipt, after: Receipt) -> list[CheckChange]:
    """The checks that did not end alike, or are worth something else, in the course's order.

    A check is the same when its name is, or when its title in that exercise is and only the name changed.
    """
    old = {check.id: check for check in before.checks}
    now = {check.id for check in after.checks}
    gone = [check for check in before.checks if check.id not in now]
    pairs = []
    for check in after.checks:
        was = old.get(check.id) or next((c for c in gone if _place(c) == _place(check)), None)
        gone = [c for c in gone if c is not was]
        pairs.append(CheckChange(was, check))
    pairs += [CheckChange(check, None) for check in gone]
    return [pair for pair in pairs if _end(pair.before) != _end(pair.after)]


def reasons(before: Receipt, after: Receipt) -> list[str]:
    """Why two receipts may differ, each in a few words; empty where nothing that decides a result is different."""
    return list(_reasons(before, after))


def _reasons(before: Receipt, after: Receipt) -> Iterator[str]:
    if before.submission_hash != after.submission_hash:
        yield "something else was handed in"
    if before.suite_hash != after.suite_hash:
        yield f"the checks or the course changed ({before.suite_hash[:8]} -> {after.suite_hash[:8]})"
    if before.possible != after.possible:
        yield f"points that can be earned: {shown(before.possible)} -> {shown(after.possible)}"
    for what, was, is_now in (
        ("kit", before.kit_version, after.kit_version),
        ("torch", before.torch_version, after.torch_version),
        ("seed", str(before.seed), str(after.seed)),
        ("isolation", before.isolation, after.isolation),
    ):
        if was != is_now:
            yield f"{what} {was} -> {is_now}"
    if before.handed_in != after.handed_in:
        yield f"handed in: {before.handed_in or 'not known'} -> {after.handed_in or 'not known'}"
    if not before.complete:
        yield "the grader was at fault before"


def _place(check: CheckResult) -> tuple[str, str]:
    return check.exercise, check.title


def _end(check: CheckResult | None) -> tuple[str, Fraction, Fraction] | None:
    return None if check is None else (check.outcome, check.earned, check.points)


def _ended(check: CheckResult) -> str:
    return f"{check.outcome} ({shown(check.earned)} of {shown(check.points)})"
