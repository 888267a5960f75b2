"""Exact numbers from what people write in files and in check markers."""

from __future__ import annotations

import math
import re
from fractions import Fraction

_TEXT = re.compile(r"-?\d{1,9}(\.\d{1,9}|/\d{1,9})?")


def exact(value: object) -> Fraction:
    """An int, a float (by its shortest decimal form, so 0.1 is 1/10) or text such as "10/3", as a fraction.

    Raises ValueError with the sentence to show.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"must be a finite number, got {value}")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Fraction(str(value))
    if isinstance(value, Fraction):
        return value
    if isinstance(value, str) and _TEXT.fullmatch(value.strip()):
        try:
            return Fraction(value.strip())
        except ZeroDivisionError:
            raise ValueError(f'must not divide by zero, got "{value}"') from None
    raise ValueError(f'must be a number or a fraction such as "10/3", got {shown(value)}')


def exact_points(value: object) -> Fraction:
    """Points of an assignment, an exercise or a check: exact and more than zero."""
    points = exact(value)
    if points <= 0:
        raise ValueError(f"must be positive, got {shown(points)}")
    return points


def shown(value: object) -> str:
    """A value as an error message quotes it."""
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "true", False: "false"}[value]
    if isinstance(value, Fraction):
        decimal = f"{float(value):g}"
        return decimal if Fraction(decimal) == value else str(value)
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."
