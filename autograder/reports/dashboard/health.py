"""Can the results of a class be relied on, and compared? What went wrong, and what was not the same for everybody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from autograder.grading.receipt import (
    GRADED,
    GRADER_TROUBLE,
    NOT_SUBMITTED,
    STOPPED,
    TIMED_OUT,
    UNREADABLE,
    WAITS,
    Receipt,
)
from autograder.reports.records import Record

_HANDED_IN_NOTHING = (NOT_SUBMITTED, UNREADABLE)


@dataclass(frozen=True)
class Finding:
    """Something to look at, what to do about it, and whom it concerns."""

    what: str
    advice: str
    receipts: Sequence[Receipt]


@dataclass(frozen=True)
class Condition:
    """A condition of grading: its values, each with the number of receipts, and why more than one is a trouble."""

    name: str
    values: Sequence[tuple[str, int]]
    warning: str

    @property
    def is_mixed(self) -> bool:
        """Were receipts of this class made under different conditions?"""
        return len(self.values) > 1


_FINDINGS: tuple[tuple[str, str, Callable[[Receipt], bool]], ...] = (
    ("grader trouble", "points are open and the receipt is partial; grade again", lambda r: _has(r, GRADER_TROUBLE)),
    ("timed out", "a check took longer than course.yml allows", lambda r: _has(r, TIMED_OUT)),
    ("stopped", "the code ended its process", lambda r: _has(r, STOPPED)),
    ("not run", "the time or the tries of a submission were used up", lambda r: _has(r, "not run")),
    ("not submitted", "nothing was found under this id", lambda r: r.status == NOT_SUBMITTED),
    ("unreadable", "ask for the hand-in again", lambda r: r.status == UNREADABLE),
    (
        "needs attention",
        "the notes say why",
        lambda r: r.status not in (GRADED, *_HANDED_IN_NOTHING),
    ),
    ("changed the library", "code replaced parts of torch or Python; read it", lambda r: bool(r.flags)),
    ("worth a look", "lines that could serve to cheat, or be harmless", lambda r: bool(r.curious)),
)


def findings(records: Sequence[Record]) -> Iterator[Finding]:
    """What is to be looked at; nothing where all went well."""
    for what, advice, concerns in _FINDINGS:
        if concerned := [record.receipt for record in records if concerns(record.receipt)]:
            yield Finding(what, advice, concerned)
    if unread := [record.receipt for record in records if record.receipt.complete and record.final.waiting]:
        advice = "these points are in no number yet; read the answers in formgrader, then `autograder gradebook pull`"
        yield Finding(WAITS, advice, unread)


def conditions(receipts: Sequence[Receipt]) -> Iterator[Condition]:
    """Under which conditions the receipts came about."""
    isolated = "student code was less confined for some; see `autograder doctor`"
    apart = "not all were judged alike; grade the class again"
    yield _condition("isolation", [r.isolation for r in receipts], isolated)
    yield _condition("kit", [r.kit_version for r in receipts], apart)
    yield _condition("suite", [r.suite_hash[:12] for r in receipts], apart)
    yield _condition("torch", [r.torch_version for r in receipts], apart)
    yield _condition("seed", [str(r.seed) for r in receipts], "not all had the same random inputs")


def handed_in(receipt: Receipt) -> bool:
    """Was there anything to grade?"""
    return receipt.status not in _HANDED_IN_NOTHING


def _condition(name: str, values: Sequence[str], warning: str) -> Condition:
    return Condition(name, Counter(values).most_common(), warning)


def _has(receipt: Receipt, outcome: str) -> bool:
    return any(check.outcome == outcome for check in receipt.checks)
