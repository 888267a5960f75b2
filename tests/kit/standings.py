"""A graded class made by hand, for tests of what is written about it: no code is run for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from small_course import FILES

from autograder.course import Assignment, load_course
from autograder.exports.standing import Standing, standing
from autograder.grading.receipt import CheckResult, Receipt
from autograder.grading.store import Adjustment, Store

ODD_NAMES = {
    "s01": 'Łukasz, "Q"',
    "s02": "学 Zoë",
    "007": '=HYPERLINK("http://x","y")',
    "+4": "@sum(A1)",
    "a b": "two\nlines; and more",
}
"""By id: what people and their enemies are called."""


def written_course(folder: Path) -> Path:
    """The course.yml of two exercises, and nothing beside it."""
    (folder / "course.yml").write_text(FILES["course.yml"], "utf-8")
    return folder


def assignment(folder: Path) -> Assignment:
    return load_course(written_course(folder)).assignment("lines")


def check(exercise: str, points: str, earned: str, public: bool = True, **other: Any) -> CheckResult:
    outcome = "passed" if points == earned else "failed"
    name = "test_seen" if public else "test_ZEBRA42"
    result = CheckResult(
        f"{exercise}::{name}", exercise, "in plain words", public, Fraction(points), outcome, Fraction(earned)
    )
    return replace(result, **other)


def receipt(student: str, slope: str = "6", line: str = "4", name: str | None = None, **other: Any) -> Receipt:
    """One graded submission: a public and a hidden check of the first exercise, a hidden one of the second."""
    checks = (
        check("slope", "2", "2"),
        check("slope", "4", str(Fraction(slope) - 2), public=False, message="in 3 of 5 places"),
        check("line", "4", line, public=False, message="values differ"),
    )
    made = Receipt(
        course="small",
        assignment="lines",
        student=student,
        name=name,
        status="graded",
        submission_hash=student.encode().hex() or "0",
        suite_hash="1" * 64,
        kit_version="0",
        seed=424242,
        torch_version="none",
        isolation="full",
        graded_at="2027-03-01T10:00:00+00:00",
        seconds=1.23456,
        checks=checks,
    )
    return replace(made, **other)


def stored(folder: Path, receipts: Iterable[Receipt], by_hand: Mapping[str, Adjustment] | None = None) -> Store:
    """A store with these receipts in it, and these adjustments by student."""
    store = Store(f"sqlite:///{folder / 'receipts.sqlite'}")
    for one in receipts:
        store.add(one)
    for student, adjustment in (by_hand or {}).items():
        store.adjust("lines", student, adjustment)
    return store


def standing_of(folder: Path, *receipts: Receipt, by_hand: Mapping[str, Adjustment] | None = None) -> Standing:
    """How the class stands that these receipts are of."""
    return standing(stored(folder, receipts, by_hand), assignment(folder), "lines")


def odd_class(folder: Path) -> Standing:
    """Everybody with an odd name, with points that floats get wrong."""
    points = ["6", "5.7", "2.6", "17/3", "2.1"]
    return standing_of(
        folder,
        *(receipt(id, slope, "0", name) for (id, name), slope in zip(ODD_NAMES.items(), points, strict=True)),
    )
