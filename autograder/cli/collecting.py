"""What a command that grades begins with: the course, the assignment, and the submissions at the paths it was given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.cli.setting import Setting
from autograder.course import Assignment
from autograder.grading import GradingError
from autograder.intake import HandInTimes, Submission, collect, parts_of, read_roster, read_times


@dataclass(frozen=True)
class Work:
    """One submission for each student, and those whose names are in no roster (`strangers`)."""

    setting: Setting
    assignment: Assignment
    submissions: list[Submission]
    strangers: list[Submission]


def collected(
    course: Path | None, assignment: str, paths: Sequence[Path], roster: Path | None, times: Path | None = None
) -> Work:
    """What is at the paths. `times`: the list that says when it was handed in.

    Raises:
        CourseError: there is no such course or assignment.
        IntakeError: a path, the roster or the list cannot be used.
        GradingError: there is nothing to grade, or the paths hold the course itself.
    """
    setting = Setting.find(course)
    graded = setting.course.assignment(assignment)
    students = read_roster(roster) if roster else None
    zone = setting.course.zone
    known = read_times(times, zone) if times else HandInTimes(zone)
    _refuse_the_course(paths, setting.files.root)
    parts = parts_of(setting.files, graded)
    found = collect(paths, [exercise.name for exercise in graded.exercises], graded.id, students, known, parts)
    if not found:
        raise GradingError(f"{paths[0]} holds no submission; give a folder, a zip, or a folder of them")
    submissions = [s for s in found if students is None or s.student in students]
    return Work(setting, graded, submissions, [s for s in found if s not in submissions])


def _refuse_the_course(paths: Sequence[Path], root: Path) -> None:
    """A path that holds the course itself is a slip: its folders are no submissions."""
    for path in paths:
        if root.is_relative_to(path.resolve()):
            raise GradingError(f"{path} holds the course itself; give the folder in which the submissions are")
