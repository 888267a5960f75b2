"""nbgrader's configuration for a course: `nbgrader_config.py` at the course's root calls `configure`.

nbgrader sees `solutions/notebooks/`, `assignments/notebooks/`, `submitted/notebooks/` and so on, and nothing beside
them: with its plain layout it would copy solution modules to students, and over their work.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from autograder.course import CourseError, load_course

STRUCTURE = os.path.join("{nbgrader_step}", "notebooks", "{student_id}", "{assignment_id}")
_BRIDGE = "autograder.notebooks.bridge"
_THEIRS = "nbgrader.preprocessors"


def configure(c: Any, root: Path) -> None:
    """Fill in nbgrader's configuration `c` for the course at `root`.

    Raises:
        SystemExit: course.yml is not a course. nbgrader ignores a configuration that raises anything else, and would go
            on without ours.
    """
    root = root.resolve()
    try:
        course = load_course(root)
    except CourseError as error:
        raise SystemExit(f"nbgrader cannot be used on this course: {error}") from None
    c.CourseDirectory.root = str(root)
    c.CourseDirectory.course_id = course.id
    c.CourseDirectory.source_directory = "solutions"
    c.CourseDirectory.release_directory = "assignments"
    c.CourseDirectory.directory_structure = STRUCTURE
    private = root / ".autograder"
    private.mkdir(exist_ok=True)
    c.CourseDirectory.db_url = f"sqlite:///{private / 'gradebook.db'}"
    c.NbGrader.logfile = str(private / "nbgrader.log")

    chain = [
        "IncludeHeaderFooter",
        "LockCells",
        "ClearSolutions",
        "ClearOutput",
        "CheckCellMetadata",
        "ComputeChecksums",
    ]
    chain += ["SaveCells", "ClearHiddenTests", "ClearMarkScheme", "ComputeChecksums", "CheckCellMetadata"]
    c.GenerateAssignment.preprocessors = [*_theirs(chain), f"{_BRIDGE}.AddBundle"]
    c.GenerateAssignment.create_assignment = True

    c.Autograde.exporter_class = f"{_BRIDGE}.SubmissionExporter"
    c.Autograde.sanitize_preprocessors = _theirs(
        ["ClearOutput", "DeduplicateIds", "OverwriteKernelspec", "OverwriteCells", "CheckCellMetadata"]
    )
    c.Autograde.autograde_preprocessors = [
        f"{_BRIDGE}.RunCells",
        *_theirs(["IgnorePattern", "LimitOutput"]),
        f"{_BRIDGE}.GradeModules",
        *_theirs(["SaveAutoGrades"]),
        f"{_BRIDGE}.LeaveOpen",
        *_theirs(["AssignLatePenalties", "CheckCellMetadata"]),
    ]
    c.Autograde.pre_convert_hook = "autograder.notebooks.handins.made_safe"
    c.HTMLExporter.filters = {"markdown2html": "autograder.notebooks.pages.harmless"}
    for part in ("AddBundle", "RunCells", "GradeModules"):
        c[part].course_root = str(root)
    _find_programs()


def _theirs(names: list[str]) -> list[str]:
    return [f"{_THEIRS}.{name}" for name in names]


def _find_programs() -> None:
    """nbgrader calls `alembic` by its bare name; it lies beside this Python."""
    beside = os.path.dirname(sys.executable)
    folders = os.environ.get("PATH", "").split(os.pathsep)
    if beside not in folders:
        os.environ["PATH"] = os.pathsep.join([beside, *folders])
