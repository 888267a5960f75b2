"""`autograder lab`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from autograder.cli.setting import Setting
from autograder.course import Assignment, Course, CourseError


def run(course: Path | None, arguments: Sequence[str]) -> int:
    """Run the lab on the solutions, as students run it on their modules, and return its exit code.

    It starts in the user's folder and finds its modules by PYTHONPATH; LAB_DATA names the assignment's data files. On
    POSIX it takes this process's place, so that signals and exit codes are its own.
    """
    setting = Setting.find(course)
    assignment = _with_lab(setting.course)
    folder = str(setting.files.solutions(assignment.id))
    paths = [folder, *filter(None, [os.environ.get("PYTHONPATH")])]
    data = os.pathsep.join(str(setting.files.data(name)) for name in assignment.data)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "LAB_DATA": data}
    command = [sys.executable, "-P", "-m", str(assignment.lab), *arguments]
    if os.name == "posix":
        os.execve(sys.executable, command, environment)
    return subprocess.call(command, env=environment)


def _with_lab(course: Course) -> Assignment:
    found = [assignment for assignment in course.assignments.values() if assignment.lab]
    if not found:
        raise CourseError("no assignment of this course has a lab; `lab:` in course.yml names its package")
    if len(found) > 1:
        names = ", ".join(assignment.id for assignment in found)
        raise CourseError(f"several assignments have a lab ({names}); run `python -m lab` in the folder of one")
    return found[0]
