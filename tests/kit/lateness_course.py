"""An assignment with a deadline, and what was handed in around it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from small_course import FILES

from autograder.course import Assignment, load_course
from autograder.grading.receipt import GRADED, CheckResult, Receipt

NEW_YORK = ZoneInfo("America/New_York")
CLOCKS_SET_BACK = "2024-11-02T20:00:00"
"""A deadline in the evening before clocks are set back there."""


def assignment_due(
    folder: Path, deadline: str, zone: str = "America/New_York", grace: int = 1, more: str = ""
) -> Assignment:
    """An assignment of a course read from its file."""
    policy = f"late_policy: {{grace_days: {grace}, percent_per_day: 10, cap_percent: 50{more}}}"
    text = FILES["course.yml"].replace("timezone: UTC", f"timezone: {zone}")
    text = text.replace("2027-03-07T23:59:00+00:00", deadline)
    text = text.replace("late_policy: {grace_days: 1, percent_per_day: 10, cap_percent: 50}", policy)
    (folder / "course.yml").write_text(text, "utf-8")
    return load_course(folder).assignment("lines")


def receipt(**changed: Any) -> Receipt:
    checks = tuple(
        CheckResult(f"{name}::t", name, name, True, Fraction(of), "passed", Fraction(earned))
        for name, earned, of in (("slope", "10/3", 6), ("line", 4, 4))
    )
    fields: dict[str, Any] = {
        "course": "small", "assignment": "lines", "student": "ana", "name": None, "status": GRADED,
        "submission_hash": "a", "suite_hash": "b", "kit_version": "1", "seed": 1, "torch_version": "2",
        "isolation": "full", "graded_at": "2024-12-01T00:00:00+00:00", "seconds": 0.1, "checks": checks,
    }  # fmt: skip
    return Receipt(**fields | changed)
