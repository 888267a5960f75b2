"""A check as the grader knows it: whose it is, what it is worth, and whether students may see it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from autograder.course.points import exact_points

BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"


@dataclass(frozen=True)
class Check:
    """One scored test function of a suite. `title` is in plain words and may be shown for hidden checks too.

    A check is verified when all it needs are numbers that the grader recomputes, and attested when it also believes
    what only the student's process can say: that an argument was left as it was, which mode a model was in.
    """

    id: str
    exercise: str
    title: str
    points: Fraction
    public: bool
    attested: bool = False


class SuiteError(Exception):
    """A suite is at fault; the text says where and what to do."""


def check_of(item: pytest.Item) -> Check:
    """The check behind a collected pytest item.

    Raises:
        SuiteError: the points marker is missing or wrong, or the file is not a suite.
    """
    path = Path(item.path)
    marker = item.get_closest_marker("points")
    where = f"{path.name}::{item.name}"
    if not path.stem.startswith("test_"):
        raise SuiteError(f"{where}: a suite is called test_<exercise>.py")
    if marker is None:
        raise SuiteError(f"{where}: mark it with @pytest.mark.points(points, title)")
    if len(marker.args) != 2 or not isinstance(marker.args[1], str) or not marker.args[1].strip():
        raise SuiteError(f"{where}: points takes two arguments, the points and a title in plain words")
    try:
        points = exact_points(marker.args[0])
    except ValueError as error:
        raise SuiteError(f"{where}: points {error}") from None
    _, line, _ = item.location
    return Check(
        id=f"{path.stem.removeprefix('test_')}::{item.name}",
        exercise=path.stem.removeprefix("test_"),
        title=marker.args[1].strip(),
        points=points,
        attested=item.get_closest_marker("attested") is not None,
        public=not any(first < (line or 0) + 1 < last for first, last in hidden_regions(path)),
    )


@cache
def hidden_regions(path: Path) -> tuple[tuple[int, int], ...]:
    """First and last line (from 1) of each hidden region of a suite file.

    Raises:
        SuiteError: a region is not closed, or closed twice.
    """
    regions, first = [], 0
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if line.strip() == BEGIN_HIDDEN:
            if first:
                raise SuiteError(f"{path.name}:{number}: a hidden region begins inside another")
            first = number
        elif line.strip() == END_HIDDEN:
            if not first:
                raise SuiteError(f"{path.name}:{number}: a hidden region ends that never began")
            regions.append((first, number))
            first = 0
    if first:
        raise SuiteError(f"{path.name}:{first}: this hidden region never ends")
    return tuple(regions)
