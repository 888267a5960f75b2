"""nbgrader's configuration for a course: `nbgrader_config.py` at the course's root calls `configure`.

nbgrader sees `solutions/notebooks/`, `assignments/notebooks/`, `submitted/notebooks/` and so on, and nothing beside
them: with its plain layout it would copy solution modules to students, and over their work.
"""

from __future__ import annotations

import os
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from nbgrader import api
from sqlalchemy import create_engine
from sqlalchemy.exc import SAWarning

from autograder.course import CourseError, load_course
from autograder.grading.store import FOLDER

STRUCTURE = os.path.join("{nbgrader_step}", "notebooks", "{student_id}", "{assignment_id}")
_BRIDGE = "autograder.notebooks.bridge"
_FEEDBACK = "autograder.notebooks.feedback.exporter"
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
    c.CourseDirectory.db_url = database(root)
    c.NbGrader.logfile = str(root / FOLDER / "nbgrader.log")

    chain = [
        "IncludeHeaderFooter",
        "LockCells",
        "ClearSolutions",
        "ClearOutput",
        "CheckCellMetadata",
        "ComputeChecksums",
    ]
    chain += ["SaveCells", "ClearHiddenTests", "ClearMarkScheme", "ComputeChecksums", "CheckCellMetadata"]
    c.GenerateAssignment.preprocessors = [f"{_BRIDGE}.AddBundle", *_theirs(chain)]
    c.GenerateAssignment.create_assignment = True

    c.Autograde.exporter_class = f"{_BRIDGE}.SubmissionExporter"
    c.SubmissionExporter.optimistic_validation = True  # once, at the end, and not after each step
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

    c.GenerateFeedback.exporter_class = f"{_FEEDBACK}.FeedbackPage"
    c.GenerateFeedback.preprocessors = [f"{_FEEDBACK}.Grades"]
    _close_formgrader(c)

    for part in ("AddBundle", "RunCells", "GradeModules", "FeedbackPage"):
        c[part].course_root = str(root)
    find_programs()
    expect_its_warnings()
    share_engines()


def database(root: Path) -> str:
    """Where nbgrader's gradebook of a course is: beside our receipts, which students never see."""
    folder = root.resolve() / FOLDER
    folder.mkdir(exist_ok=True)
    return f"sqlite:///{folder / 'gradebook.db'}"


def _theirs(names: list[str]) -> list[str]:
    return [f"{_THEIRS}.{name}" for name in names]


def _close_formgrader(c: Any) -> None:
    """Keep what students wrote from running in the instructor's browser, where it could do what Jupyter can."""
    c.HTMLExporter.sanitize_html = True  # outputs; formgrader's own template leaves text cells as they are, hence:
    c.HTMLExporter.filters = {"markdown2html": "autograder.notebooks.feedback.text.markdown"}
    # formgrader would serve such files of a student as pages of its own.
    pages = "*.[hH][tT][mM]* *.[xX][hH][tT]* *.[xXsS][hH][tT][mM]* *.[sS][vV][gG]* *.[xX][mMsS][lL]* *.[mM][hH][tT]*"
    c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", *pages.split()]


def share_engines() -> None:
    """nbgrader makes an engine for each of its steps, ten for a notebook, and with each SQLAlchemy compiles all queries
    anew. One for each database does as well: it is closed after a step, and opened for the next."""
    if api.create_engine is create_engine:
        api.create_engine = cache(create_engine)


def expect_its_warnings() -> None:
    """nbgrader 0.9.6 makes a newer SQLAlchemy warn at each submission that it adds, without consequence."""
    warnings.filterwarnings("ignore", category=SAWarning, module=r"nbgrader\.api")


def find_programs() -> None:
    """nbgrader calls `alembic` by its bare name; it lies beside this Python."""
    beside = os.path.dirname(sys.executable)
    folders = os.environ.get("PATH", "").split(os.pathsep)
    if beside not in folders:
        os.environ["PATH"] = os.pathsep.join([beside, *folders])
