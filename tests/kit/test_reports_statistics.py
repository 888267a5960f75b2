"""Statistics of a class equal those of numpy and of the textbook, and say why where they have no value."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.reports.statistics import (
    ALL_THE_SAME,
    NO_STUDENT,
    REST_THE_SAME,
    TOO_FEW_ITEMS,
    TOO_FEW_STUDENTS,
    Row,
    Undefined,
    correlation,
    cronbach_alpha,
    deviation,
    histogram,
    item_rest,
    mean,
    median,
)

POINTS = st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1), Fraction(5, 3), 2, Fraction(10)])
CLASSES = st.integers(1, 7).flatmap(
    lambda items: st.lists(st.lists(st.one_of(st.none(), POINTS, POINTS, POINTS), min_size=items, max_size=items))
)
"""Rows of points with ties, items that everybody has, and gaps; also no row, and one."""

PAIRS = st.lists(st.tuples(POINTS, POINTS), max_size=30)


def same(ours: object, theirs: float) -> None:
    assert isinstance(ours, float)
    assert math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9), (ours, theirs)


def floats(values: object) -> np.ndarray:
    return np.array(values, dtype=float)


@given(st.lists(POINTS, max_size=30))
def test_mean_median_and_deviation_are_those_of_numpy(values: list[Fraction]) -> None:
    if not values:
        assert mean(values) == median(values) == NO_STUDENT
    else:
        same(mean(values), floats(values).mean())
        same(median(values), np.median(floats(values)))
    if len(values) < 2:
        assert deviation(values) == TOO_FEW_STUDENTS
    else:
        same(deviation(values), floats(values).std(ddof=1))


@given(PAIRS)
def test_a_correlation_is_numpys_and_undefined_where_nothing_varies(pairs: list[tuple[Fraction, Fraction]]) -> None:
    x, y = [a for a, _ in pairs], [b for _, b in pairs]
    found = correlation(x, y)
    if len(pairs) < 2:
        assert found == TOO_FEW_STUDENTS
    elif len(set(x)) == 1:
        assert found == ALL_THE_SAME
    elif len(set(y)) == 1:
        assert found == REST_THE_SAME
    else:
        same(found, np.corrcoef(floats(x), floats(y))[0, 1])


@given(st.lists(st.tuples(st.booleans(), POINTS), min_size=2, max_size=30))
def test_of_a_check_of_all_or_nothing_it_is_the_point_biserial_one(pairs: list[tuple[bool, Fraction]]) -> None:
    """(M1 - M0) / s * sqrt(p q), with s over n: how textbooks write it."""
    passed, failed = [float(y) for x, y in pairs if x], [float(y) for x, y in pairs if not x]
    everybody = [*passed, *failed]
    if not passed or not failed or len(set(everybody)) == 1:
        return
    gap = statistics.fmean(passed) - statistics.fmean(failed)
    share = len(passed) / len(everybody)
    expected = gap / statistics.pstdev(everybody) * math.sqrt(share * (1 - share))
    same(correlation([3 * x for x, _ in pairs], [y for _, y in pairs]), expected)


@settings(deadline=None)
@given(CLASSES)
def test_discrimination_is_the_correlation_with_the_rest_of_those_who_have_the_item(rows: list[Row]) -> None:
    found = item_rest(rows)
    assert len(found) == (len(rows[0]) if rows else 0)
    for item, ours in enumerate(found):
        there = [row for row in rows if row[item] is not None]
        scores = floats([row[item] for row in there])
        rests = [sum(v for i, v in enumerate(row) if v is not None and i != item) for row in there]
        if len(there) < 2:
            assert ours == TOO_FEW_STUDENTS
        elif len(set(scores)) == 1 or len(set(rests)) == 1:
            assert ours in (ALL_THE_SAME, REST_THE_SAME)
        else:
            same(ours, np.corrcoef(scores, floats(rests))[0, 1])


@settings(deadline=None)
@given(CLASSES)
def test_alpha_is_that_of_the_covariances_of_those_who_have_every_item(rows: list[Row]) -> None:
    whole = floats([row for row in rows if None not in row])
    found = cronbach_alpha(rows)
    if len(whole) < 2:
        assert found == TOO_FEW_STUDENTS
    elif whole.shape[1] < 2:
        assert found == TOO_FEW_ITEMS
    elif len({sum(row) for row in rows if None not in row}) == 1:  # type: ignore[arg-type]  # whoever has a None is left out
        assert isinstance(found, Undefined)
    else:
        covariances, items = np.cov(whole, rowvar=False, ddof=1), whole.shape[1]
        same(found, items / (items - 1) * (1 - np.trace(covariances) / covariances.sum()))


@given(st.lists(st.integers(0, 1000).map(lambda n: Fraction(n, 10)), max_size=50), st.integers(1, 12))
def test_a_histogram_counts_everybody_once(values: list[Fraction], bins: int) -> None:
    counts = histogram(values, 100, bins)
    edges = [Fraction(100 * i, bins) for i in range(bins + 1)]
    inside = [sum(low <= v < high for v in values) for low, high in pairwise(edges)]
    inside[-1] += values.count(Fraction(100))
    assert counts == inside and sum(counts) == len(values)


def test_a_histogram_keeps_what_lies_outside_and_has_no_trouble_with_no_points() -> None:
    assert histogram([-3, 5, 105], 100, 2) == [2, 1]
    assert histogram([0, 0], 0, 3) == [2, 0, 0]


def test_the_values_of_a_worked_example() -> None:
    """Four students, three items; by hand."""
    rows: list[Row] = [[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 0]]
    same(cronbach_alpha(rows), 0.75)
    same(item_rest(rows)[1], 1 / math.sqrt(2))


def test_fractions_that_floats_would_blur_are_still_all_the_same() -> None:
    tenths = [Fraction(1, 10), Fraction(2, 10), Fraction(3, 10)]
    assert correlation([sum(tenths)] * 3, tenths) == ALL_THE_SAME
    assert float(sum(map(float, tenths))) != 0.6 and deviation([sum(tenths)] * 3) == 0.0
