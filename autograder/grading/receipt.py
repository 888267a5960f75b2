"""The complete graded record of one submission, with what is needed to grade it again."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from autograder.intake import Submission

PASSED, TIMED_OUT, STOPPED, GRADER_TROUBLE = "passed", "timed out", "stopped", "grader trouble"
WAITS = "waits for a person"
"""An answer that only a person can read: its 0 points are none yet."""
GRADED, NOT_SUBMITTED, UNREADABLE, NEEDS_ATTENTION = "graded", "not submitted", "unreadable", "needs attention"
_WORTH_A_LOOK = (TIMED_OUT, STOPPED, "not run")


@dataclass(frozen=True, slots=True)
class CheckResult:
    """How one check ended. `message` may be read by the student, `trouble` by the instructor only."""

    id: str
    exercise: str
    title: str
    public: bool
    points: Fraction
    outcome: str
    earned: Fraction
    message: str = ""
    trouble: str = ""
    seconds: float = 0.0
    attested: bool = False
    """Does it also believe what only the student's process can say?"""
    share: float | None = None
    """The largest share of a tolerance that a difference took in it; above 1 it failed. None: nothing was compared."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The mistake that a submission behaves like: its id and name, a hint, the section that explains it, and the ids
    of the checks in which it shows."""

    mistake: str
    name: str
    hint: str
    course: str
    checks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Receipt:
    """One graded submission. Points are exact; they are rounded only where they are shown."""

    course: str
    assignment: str
    student: str
    name: str | None
    status: str
    submission_hash: str
    suite_hash: str
    kit_version: str
    seed: int
    torch_version: str
    isolation: str
    graded_at: str
    seconds: float
    checks: tuple[CheckResult, ...] = ()
    notes: tuple[str, ...] = ()
    """What intake says of the hand-in."""
    reading: tuple[str, ...] = ()
    """What was found while the modules were loaded, such as a line that does not parse."""
    ignored: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    attempt: str | None = None
    output: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    curious: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Lines of the sources that an instructor should see: they could serve to cheat, or be harmless."""
    diagnoses: Mapping[str, tuple[Diagnosis, ...]] = field(default_factory=dict)
    """Named mistakes, by exercise."""
    handed_in: str | None = None
    """When it was handed in, ISO with a time zone; None where nobody knows."""
    handed_in_remark: str = ""
    """What an instructor should know of that."""
    kept_over: str = ""
    """Of a result that a regrade kept because a new one is lower: what that one was judged by (`judged_by`)."""

    @cached_property
    def earned(self) -> Fraction:
        """Points earned, exact."""
        return exact_sum(c.earned for c in self.checks)

    @cached_property
    def possible(self) -> Fraction:
        """Points that could be earned, exact."""
        return exact_sum(c.points for c in self.checks)

    @property
    def complete(self) -> bool:
        """May this receipt stand? One with grader trouble may not."""
        return all(c.outcome != GRADER_TROUBLE for c in self.checks)

    @property
    def judged_by(self) -> str:
        """What decided how the submission did, beside the submission."""
        return f"{self.suite_hash} {self.kit_version}"

    @property
    def remarks(self) -> tuple[str, ...]:
        """All that is to be said beside the checks; the student may read it."""
        return (*self.notes, *self.reading)

    def exercises(self) -> dict[str, list[CheckResult]]:
        """The checks by exercise, in the course's order."""
        found: dict[str, list[CheckResult]] = {}
        for check in self.checks:
            found.setdefault(check.exercise, []).append(check)
        return found

    def attention(self) -> list[str]:
        """Why a human should look at this submission; empty when there is no reason."""
        reasons = [] if self.status == GRADED else [self.status]
        outcomes = [c.outcome for c in self.checks]
        reasons += [word for word in (GRADER_TROUBLE, *_WORTH_A_LOOK) if word in outcomes]
        reasons += [f"{exercise}.py changed {', '.join(changed[:3])}" for exercise, changed in self.flags.items()]
        return reasons

    def to_dict(self) -> dict[str, Any]:
        """Plain data, points as text such as "20/3"."""
        data = _shallow(self)
        data["earned"], data["possible"] = str(self.earned), str(self.possible)
        data["checks"] = [_shallow(c) | {"points": str(c.points), "earned": str(c.earned)} for c in self.checks]
        data["diagnoses"] = {name: [_shallow(one) for one in found] for name, found in self.diagnoses.items()}
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Receipt:
        """The receipt that `to_dict` described."""
        known = {k: v for k, v in data.items() if k not in ("earned", "possible")}
        known["checks"] = tuple(map(_check, data["checks"]))
        for name in ("notes", "reading", "ignored"):
            known[name] = tuple(data.get(name, ()))
        for name in ("flags", "curious"):
            known[name] = {k: tuple(v) for k, v in data.get(name, {}).items()}
        known["diagnoses"] = {
            exercise: tuple(Diagnosis(**{**one, "checks": tuple(one["checks"])}) for one in found)
            for exercise, found in data.get("diagnoses", {}).items()
        }
        return cls(**known)


def _shallow(record: Any) -> dict[str, Any]:
    """Its fields. `dataclasses.asdict` copies whatever is in them as well, and takes most of the time of a class."""
    return {name: getattr(record, name) for name in _FIELDS[type(record)]}


def _check(data: Mapping[str, Any]) -> CheckResult:
    """As it was. A class says the same of its checks again and again: one copy of each text and fraction is enough."""
    texts = {name: sys.intern(data[name]) for name in _REPEATED}
    return CheckResult(**{**data, **texts, "points": _exact(data["points"]), "earned": _exact(data["earned"])})


_exact = lru_cache(maxsize=4096)(Fraction)
_REPEATED = ("id", "exercise", "title", "outcome", "message")
_FIELDS = {kind: tuple(field.name for field in fields(kind)) for kind in (CheckResult, Diagnosis, Receipt)}


def told_by_intake(submission: Submission) -> dict[str, Any]:
    """The fields of a receipt that say what was handed in, and nothing of how it did."""
    return {
        "name": submission.name,
        "status": GRADED if submission.status == "ready" else submission.status,
        "notes": submission.notes,
        "ignored": submission.ignored,
        "files": {
            name: f"{file.path} sha256:{hashlib.sha256(file.content).hexdigest()[:16]}"
            for name, file in submission.files.items()
        },
        "attempt": submission.attempt,
        "handed_in": submission.handed_in,
        "handed_in_remark": submission.handed_in_remark,
    }


def total(results: Iterable[CheckResult]) -> tuple[Fraction, Fraction]:
    """Points earned and possible."""
    chosen = list(results)
    return exact_sum(c.earned for c in chosen), exact_sum(c.points for c in chosen)


def exact_sum(points: Iterable[Fraction]) -> Fraction:
    """Their sum, by whole numbers of equal parts: adding one fraction after the other takes five times as long."""
    parts: Counter[int] = Counter()
    for each in points:
        parts[each.denominator] += each.numerator
    return sum((Fraction(number, size) for size, number in parts.items()), Fraction(0))


def shown(points: Fraction) -> str:
    """Points as people read them: rounded half up to two decimals, once, here; trailing zeros left out."""
    value = (Decimal(points.numerator) / Decimal(points.denominator)).quantize(Decimal("0.01"), ROUND_HALF_UP)
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
