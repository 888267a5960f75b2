"""What a command that grades begins with: the submissions at the paths it was given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from autograder.cli.setting import Setting
from autograder.course import Assignment
from autograder.grading import GradingError
from autograder.intake import HandInTimes, Submission, collect, parts_of, read_roster, read_times


def collected(
    setting: Setting, assignment: Assignment, paths: Sequence[Path], roster: Path | None, times: Path | None = None
) -> tuple[list[Submission], list[Submission]]:
    """One submission for each student, and those whose names are in no roster. `times`: the list that says when they
    were handed in.

    Raises:
        IntakeError: a path, the roster or the list cannot be used.
        GradingError: there is nothing to grade, or the paths hold the course itself.
    """
    students = read_roster(roster) if roster else None
    zone = setting.course.zone
    known = read_times(times, zone) if times else HandInTimes(zone)
    _refuse_the_course(paths, setting.files.root)
    parts = parts_of(setting.files, assignment)
    found = collect(paths, [exercise.name for exercise in assignment.exercises], assignment.id, students, known, parts)
    if not found:
        raise GradingError(f"{paths[0]} holds no submission; give a folder, a zip, or a folder of them")
    submissions = [s for s in found if students is None or s.student in students]
    return submissions, [s for s in found if s not in submissions]


def _refuse_the_course(paths: Sequence[Path], root: Path) -> None:
    """A path that holds the course itself is a slip: its folders are no submissions."""
    for path in paths:
        if root.is_relative_to(path.resolve()):
            raise GradingError(f"{path} holds the course itself; give the folder in which the submissions are")
