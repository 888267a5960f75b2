"""Statistics of points in a class: pure functions of exact numbers.

Points are integers or fractions, so that "everybody has the same" is recognised and nothing is rounded on the way; only
a result is a float. A statistic that has no value says why instead of being NaN.

Sources: L. Crocker and J. Algina, Introduction to Classical and Modern Test Theory (1986), chapters 7 (coefficient
alpha) and 14 (item analysis); L. J. Cronbach, Coefficient alpha and the internal structure of tests, Psychometrika 16
(1951).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

Number = int | Fraction
Row = Sequence[Number | None]
"""The points of one student, one for each item; None where there is none, such as a check that the grader spoiled."""


@dataclass(frozen=True)
class Undefined:
    """A statistic without a value, and the reason in a few words."""

    reason: str


Statistic = float | Undefined

TOO_FEW_STUDENTS = Undefined("fewer than 2 students")
TOO_FEW_ITEMS = Undefined("fewer than 2 items")
NO_STUDENT = Undefined("no student")
ALL_THE_SAME = Undefined("everybody has the same")
REST_THE_SAME = Undefined("the rest is the same for everybody")


def mean(values: Sequence[Number]) -> Statistic:
    """Their sum, divided by how many they are."""
    return float(Fraction(sum(values)) / len(values)) if values else NO_STUDENT


def median(values: Sequence[Number]) -> Statistic:
    """The middle one of the sorted values, or the mean of the two in the middle."""
    if not values:
        return NO_STUDENT
    ranked, half = sorted(values), len(values) // 2
    return float(ranked[half]) if len(values) % 2 else float(Fraction(ranked[half - 1] + ranked[half]) / 2)


def deviation(values: Sequence[Number]) -> Statistic:
    """The sample standard deviation: the root of sum((x - mean)^2) / (n - 1)."""
    return math.sqrt(_variance(values)) if len(values) > 1 else TOO_FEW_STUDENTS


def correlation(x: Sequence[Number], y: Sequence[Number]) -> Statistic:
    """Pearson's r: sum((x - mean x)(y - mean y)) / root(sum((x - mean x)^2) sum((y - mean y)^2)).

    Where x is 0 or 1 (or 0 or the points of a check) it is the point-biserial correlation.
    """
    if len(x) < 2:
        return TOO_FEW_STUDENTS
    spread_x, spread_y = _spread(x, x), _spread(y, y)
    if not spread_x:
        return ALL_THE_SAME
    if not spread_y:
        return REST_THE_SAME
    together = _spread(x, y)
    size = math.sqrt(Fraction(together * together) / (spread_x * spread_y))
    return math.copysign(size, together)


def item_rest(rows: Sequence[Row]) -> list[Statistic]:
    """Discrimination of each item: the correlation of its points with the sum of the other items' points.

    Students without points in the item are left out; the rest of a student is the sum of the items that he or she has.
    """
    sums = [sum(value for value in row if value is not None) for row in rows]
    found = []
    for column in zip(*rows, strict=True):
        both = [(value, whole - value) for value, whole in zip(column, sums, strict=True) if value is not None]
        found.append(correlation([value for value, _ in both], [rest for _, rest in both]))
    return found


def cronbach_alpha(rows: Sequence[Row]) -> Statistic:
    """Internal consistency: k / (k - 1) * (1 - sum of the items' variances / variance of the sums), for k items.

    Only students who have points in every item count.
    """
    whole = [[value for value in row if value is not None] for row in rows]
    whole = [values for values, row in zip(whole, rows, strict=True) if len(values) == len(row)]
    if len(whole) < 2:
        return TOO_FEW_STUDENTS
    items = len(whole[0])
    if items < 2:
        return TOO_FEW_ITEMS
    of_sums = _variance([sum(values) for values in whole])
    if not of_sums:
        return Undefined("everybody has the same sum")
    of_items = sum((_variance(values) for values in zip(*whole, strict=True)), Fraction(0))
    return float(Fraction(items, items - 1) * (1 - of_items / of_sums))


def histogram(values: Iterable[Number], high: Number, bins: int) -> list[int]:
    """How many values lie in each of `bins` equal parts of [0, high]; a value on a border belongs to the part above it,
    but `high` to the last, and what lies outside to the nearest."""
    counts = [0] * bins
    for value in values:
        place = math.floor(Fraction(value) * bins / high) if high else 0
        counts[min(max(place, 0), bins - 1)] += 1
    return counts


def _spread(x: Sequence[Number], y: Sequence[Number]) -> Number:
    """n^2 times the covariance, without a division: n sum(xy) - sum(x) sum(y)."""
    return len(x) * sum(a * b for a, b in zip(x, y, strict=True)) - sum(x) * sum(y)


def _variance(values: Sequence[Number]) -> Fraction:
    """Of a sample of two or more."""
    n = len(values)
    return Fraction(_spread(values, values)) / (n * (n - 1))
