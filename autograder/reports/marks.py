"""The points of a part of an assignment, as pages show them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Mark:
    """The points of one part; `name` is its place in the page. `open`: nobody has read it yet; `by_hand`: a person set
    them."""

    name: str
    title: str
    score: float | Fraction
    points: float | Fraction
    open: bool = False
    by_hand: bool = False
