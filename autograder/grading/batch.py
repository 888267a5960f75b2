"""What a grading run is asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from autograder.course import Assignment, CourseFiles
from autograder.grading.kills import Kill
from autograder.intake import Submission


@dataclass(frozen=True)
class Batch:
    """What is graded, and how."""

    files: CourseFiles
    course: str
    assignment: Assignment
    submissions: Iterable[Submission]
    seed: int
    shared_workers: bool = True
    required_isolation: str | None = None
    """The level below which nothing is graded (see `sandbox.levels`)."""
    only: Mapping[str, Collection[str]] | None = None
    """Exercises to grade, by student; None: all of them."""
    diagnoses: bool = True
    """Name the mistakes behind checks that failed?"""
    kills: Mapping[str, Mapping[str, Kill]] | None = None
    """Which checks the mistakes of each exercise fail, where that is not to be read from the course's files."""
    given_up: Mapping[str, str] = field(default_factory=dict)
    """Students whose submission is not to be graded but left to a human, and why."""
