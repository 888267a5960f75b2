"""The two exercises in which odd code is tried, and ways to put it there."""

from __future__ import annotations

from pathlib import Path

from grading import (
    MASKING,
    edited,
    lost,
    solution,
)

from autograder.grading.receipt import Receipt

MASKED = solution("masked_softmax")
NORM = solution("layer_norm")
EXERCISES = ("masked_softmax", "layer_norm")

MASK_CHECKS = {"test_reproduces_the_causal_mask", "test_queries_are_the_last_places", "test_causal_mask_of_other_sizes"}
"""The checks that call causal_mask; attention and masked_softmax do without it."""

Class = dict[str, Receipt]


def first_line(line: str, source: str = MASKED) -> str:
    """masked_softmax does this first, then what it should."""
    indented = "".join(f"    {one}\n" for one in line.split("\n"))
    return edited(source, MASKING, indented + MASKING)


def at_top(text: str, source: str = MASKED) -> str:
    return f"{text}\n{source}"


def at_bottom(text: str, source: str = MASKED) -> str:
    return f"{source}\n\n{text}\n"


def softmax_checks() -> set[str]:
    """The checks that reach masked_softmax, directly or through attention."""
    names = {line.split("(")[0].removeprefix("def ") for line in _suite().splitlines() if line.startswith("def test_")}
    return names - MASK_CHECKS


def _suite() -> str:
    return (Path(__file__).parents[1] / "suites/week08/test_masked_softmax.py").read_text("utf-8")


def loses_only(receipt: Receipt, *names: str) -> bool:
    return set(lost(receipt)) == {f"masked_softmax::{name}" for name in names}
