"""A course of two exercises, small enough to change in every way, for tests of cut, release and leaks."""

from __future__ import annotations

from pathlib import Path

from autograder.course import Assignment, CourseFiles, load_course

FILES = {
    "course.yml": """\
id: small
title: A small course
timezone: UTC
total_sections: 2
weeks:
  - number: 1
    title: Lines
    sections: [{number: 1, title: Slope}, {number: 2, title: Offset}]
assignments:
  lines:
    title: "Week 1: Lines"
    points: 10
    deadline: 2027-03-07T23:59:00+00:00
    late_policy: {grace_days: 1, percent_per_day: 10, cap_percent: 50}
    limits: {seconds_per_check: 2, seconds_per_submission: 60, memory_mb: 2048, output_kb: 16}
    exercises:
      - {name: slope, points: 6, course: [Week 1 §1]}
      - {name: line, points: 4, course: [Week 1 §2], needs: [slope]}
""",
    "solutions/lines/slope.py": '''\
"""A slope (Week 1 §1)."""

import torch


def slope(x: torch.Tensor, factor: float) -> torch.Tensor:
    """x times factor, of the shape of x."""
    # TODO: Which operator multiplies element by element?
    ### BEGIN SOLUTION
    stretched = x * factor  # [...]
    return stretched
    ### END SOLUTION
''',
    "solutions/lines/line.py": '''\
"""A line (Week 1 §2)."""

import torch
from torch import nn

from slope import slope


class Line(nn.Module):
    """slope and offset."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.factor = factor
        self.offset = nn.Parameter(torch.zeros(()))
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The line at x."""
        ### BEGIN SOLUTION
        return slope(x, self.factor) + self.offset
        ### END SOLUTION
''',
    "tests/suites/lines/test_slope.py": '''\
"""Checks of `slope`."""

import math

import pytest
import torch

from autograder.suite.checking import agree, equal, gradients


@pytest.mark.points(2, "multiplies by hand")
def test_by_hand(student, trace):
    example = trace("doubled")
    example.agrees("twice", student.slope(example.inputs["x"], 2.0))


@pytest.mark.points("1/2", "a factor of one changes nothing")
def test_factor_of_one(student, rng):
    x = rng.normal(2, 3)
    equal(student.slope(x, 1.0), x)


### BEGIN HIDDEN TESTS
@pytest.mark.points(2, "agrees with the reference everywhere")
def test_against_the_oracle(student, reference, rng, trace):
    x = rng.normal(3, 5) + trace("secret_point").value("half")
    agree(student.slope(x, math.pi), reference.slope(x, math.pi))


@pytest.mark.points("3/2", "the slope of a slope is its factor")
def test_derivative_is_the_factor(student, rng):
    x, along = rng.normal(4), rng.normal(4)
    agree(gradients(student.slope, x, 3.5, along=along).arguments[0], 3.5 * along)


### END HIDDEN TESTS
''',
    "tests/suites/lines/test_line.py": '''\
"""Checks of `line`."""

import pytest
import torch

from autograder.suite.checking import agree


@pytest.mark.points(1, "starts at the origin")
def test_starts_at_the_origin(student, rig):
    agree(student.Line(2.0)(rig.origin()), torch.zeros(1))


### BEGIN HIDDEN TESTS
@pytest.mark.points(3, "goes through a far point")
def test_goes_through_a_far_point(student, rig):
    agree(student.Line(2.0)(rig.far_away()), torch.tensor([2e3]))
### END HIDDEN TESTS
''',
    "tests/suites/lines/rigs/line.py": '''\
"""Points."""

import torch


def origin():
    return torch.zeros(1)


### BEGIN HIDDEN TESTS
def far_away():
    return torch.full((1,), 1e3)
### END HIDDEN TESTS
''',
    "reference/slope.py": '''\
"""Oracle for `slope`."""

import torch


def slope(x: torch.Tensor, factor: float) -> torch.Tensor:
    return torch.mul(x.double(), factor)
''',
    "reference/line.py": '"""Oracle for `line`."""\n',
    "reference/stand_ins/slope.py": '''\
"""Stand-in for `slope`."""


def slope(x, factor):
    return x.new_tensor(factor).mul(x)
''',
    "reference/traces/slope.yml": """\
- id: doubled
  where: Week 1 §1
  public: true
  inputs: {x: [1.5, -2.25]}
  values:
    twice: {value: [3.0, -4.5], digits: 1}
- id: secret_point
  where: Week 1 §1
  public: false
  inputs: {x: [0.8125]}
  values:
    half: {value: [0.4063], digits: 4, printed: [0.4062], note: "rounded down in the text"}
""",
}


def small_course(root: Path, **changed: str | None) -> tuple[CourseFiles, Assignment]:
    """Write the course into a folder, with some files changed (None: left out), and load it."""
    for path, text in {**FILES, **changed}.items():
        if text is not None:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, "utf-8", newline="\n")
    return CourseFiles(root), load_course(root).assignment("lines")
