"""nbgrader's configuration for a course: `nbgrader_config.py` at the course's root calls `configure`.

nbgrader sees `solutions/notebooks/`, `assignments/notebooks/`, `submitted/notebooks/` and so on, and nothing beside
them: with its plain layout it would copy solution modules to students, and over their work.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from autograder.course import load_course

STRUCTURE = os.path.join("{nbgrader_step}", "notebooks", "{student_id}", "{assignment_id}")
_BRIDGE = "autograder.notebooks.bridge"
_FEEDBACK = "autograder.notebooks.feedback.exporter"
_THEIRS = "nbgrader.preprocessors"


def configure(c: Any, root: Path) -> None:
    """Fill in nbgrader's configuration `c` for the course at `root`.

    Raises:
        CourseError: course.yml is not a course.
    """
    root = root.resolve()
    course = load_course(root)
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
        *_theirs(["SaveAutoGrades", "AssignLatePenalties", "CheckCellMetadata"]),
    ]

    c.GenerateFeedback.exporter_class = f"{_FEEDBACK}.FeedbackPage"
    c.GenerateFeedback.preprocessors = [f"{_FEEDBACK}.Grades"]
    _close_formgrader(c)

    for part in ("AddBundle", "RunCells", "GradeModules", "FeedbackPage"):
        c[part].course_root = str(root)
    _find_programs()


def _theirs(names: list[str]) -> list[str]:
    return [f"{_THEIRS}.{name}" for name in names]


def _close_formgrader(c: Any) -> None:
    """Keep what students wrote from running in the instructor's browser, where it could do what Jupyter can."""
    c.HTMLExporter.sanitize_html = True  # outputs; formgrader's own template leaves text cells as they are, hence:
    c.HTMLExporter.filters = {"markdown2html": "autograder.notebooks.feedback.text.markdown"}
    # formgrader would serve such files of a student as pages of its own.
    pages = "*.[hH][tT][mM]* *.[xX][hH][tT]* *.[xXsS][hH][tT][mM]* *.[sS][vV][gG]* *.[xX][mMsS][lL]* *.[mM][hH][tT]*"
    c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", *pages.split()]


def _find_programs() -> None:
    """nbgrader calls `alembic` by its bare name; it lies beside this Python."""
    beside = os.path.dirname(sys.executable)
    folders = os.environ.get("PATH", "").split(os.pathsep)
    if beside not in folders:
        os.environ["PATH"] = os.pathsep.join([beside, *folders])
