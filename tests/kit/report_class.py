"""A class of the small course whose receipts were made by hand: all outcomes, odd people, words that want to be HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from small_course import small_course

from autograder.grading.receipt import CheckResult, Diagnosis, Receipt
from autograder.grading.store import Adjustment, Store

ASSIGNMENT = "lines"
SUITE = (
    ("slope", "multiplies by hand", True, Fraction(2)),
    ("slope", "a factor of one changes nothing", True, Fraction(1, 2)),
    ("slope", "agrees with the reference everywhere", False, Fraction(2)),
    ("slope", "the slope of a slope is its factor", False, Fraction(3, 2)),
    ("line", "starts at the origin", True, Fraction(1)),
    ("line", "goes through a far point", False, Fraction(3)),
)
"""Exercise, title, whether it is public, and points of each check."""

RIGHT = ("passed",) * 6
SECRETS = ("test_ZEBRA42", "adds_ZEBRA42", "TROUBLE77", "PRINTED55", "CURIOUS66", "c0ffee" * 10, "987654321")
"""Stand in every receipt where no student may read them."""

SCRIPT = '<script>alert("x")</script><img src=x onerror=alert(1)>'
WEIGHTS = """3 of 4 values differ; the largest difference is 0.5 at [0, 1]
call     attention([[1.0000, 2.0000]])
returned [[0.500, 0.500], [0.250, 0.750]]
expected [[0.000, 1.000], [0.250, 0.750]]  (Week 1 §1)"""

ODD = ("ana [lab 2]", "b+c", "o'neil (x)", "DOM\\user7", "Zoë-学", "007", "-rf", "a b", "Ana", "ana", "../up", "con")


def receipt(student: str, outcomes: Sequence[str] = RIGHT, messages: Iterable[str] = (), **changes: Any) -> Receipt:
    """A receipt; a check earns its points where its outcome is `passed`, half of them where it is `half`."""
    said = dict(enumerate(messages))
    checks = tuple(
        CheckResult(
            id=f"{exercise}::test_ZEBRA42_{place}",
            exercise=exercise,
            title=title,
            public=public,
            points=points,
            outcome="failed" if outcome == "half" else outcome,
            earned=points * {"passed": 2, "half": 1}.get(outcome, 0) / 2,
            message=said.get(place, "" if outcome == "passed" else f"message {place}"),
            trouble="TROUBLE77" if outcome == "grader trouble" else "",
            seconds=0.001 * (place + 1),
            attested=place == 1,
        )
        for place, ((exercise, title, public, points), outcome) in enumerate(zip(SUITE, outcomes, strict=False))
    )
    fields: dict[str, Any] = {
        "course": "small",
        "assignment": ASSIGNMENT,
        "student": student,
        "name": None,
        "status": "graded",
        "submission_hash": "c0ffee" * 10,
        "suite_hash": "c0ffee" * 10,
        "kit_version": "1.0",
        "seed": 987654321,
        "torch_version": "2.13.0",
        "isolation": "full",
        "graded_at": "2027-03-01T12:00:00+00:00",
        "seconds": 0.25,
        "checks": checks,
        "output": {"slope": "PRINTED55"},
        "curious": {"slope": ("CURIOUS66",)},
    }
    return Receipt(**{**fields, **changes})


def mistake(
    exercise: str = "slope", name: str = "The slope is added", hint: str = "What is at zero?"
) -> dict[str, Any]:
    return {exercise: (Diagnosis("adds_ZEBRA42", name, hint, "Week 1 §1", (f"{exercise}::test_ZEBRA42_0",)),)}


CLASS = (
    receipt("mira", name="Mira Olsen"),
    receipt("hugo", ("failed", "passed", "failed", "passed", "passed", "failed"), [WEIGHTS], diagnoses=mistake()),
    receipt("ivan", ("half", "passed", "timed out", "not run", "passed", "passed"), diagnoses=mistake()),
    receipt("omar", ("not attempted",) * 6, status="not submitted", notes=("No exercise file was found.",)),
    receipt("sven", ("passed",) * 4 + ("grader trouble", "passed"), seed=5, kit_version="0.9"),
    receipt("yara", ("passed", "raised", "stopped", "passed", "passed", "passed"), ["", SCRIPT], name=SCRIPT, notes=(SCRIPT,)),
    receipt("long name", name="N" * 500, flags={"slope": ("torch.softmax",)}),
    receipt("right to left", name="מירה \u05d0\u05d1\u05d2 (אולסן)", isolation="partial"),
    *(receipt(student) for student in ODD),
)  # fmt: skip


def report_course(root: Path, receipts: Iterable[Receipt] = CLASS) -> Path:
    """The small course in `root`, with a store that holds the receipts and what a person gave `hugo`."""
    small_course(root)
    with Store.in_course(root) as store:
        for each in receipts:
            store.add(each)
        store.adjust(ASSIGNMENT, "hugo", Adjustment("line", Fraction(2), "told me why", "Ada", "2027-03-02"))
    return root
