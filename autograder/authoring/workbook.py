"""The workbook of an assignment: written as text (py:percent, with nbgrader's marks), built into a notebook, and cut.

    solutions/workbooks/week08.py ──built──► solutions/notebooks/week08/week08.ipynb   nbgrader's source
                                  ──cut────► assignments/week08/week08.ipynb           what students get

The text lies outside of `solutions/notebooks/`: nbgrader copies everything that lies there to students. The bytes of
both notebooks depend on the text alone.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from autograder.authoring.answer_cells import POINTS, ask, questions
from autograder.authoring.errors import AuthoringError
from autograder.course import Assignment, CourseFiles, load_course
from autograder.course.points import shown as points_shown
from autograder.quiz.bank import load_bank

if TYPE_CHECKING:
    from nbformat import NotebookNode

_KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
_CUTTING = "LockCells ClearSolutions ClearOutput ClearHiddenTests ClearMarkScheme ComputeChecksums".split()
"""nbgrader's own steps from the complete notebook to the students'."""
_HIDDEN = re.compile(r"#[#\s]*(?:BEGIN|END)[\s_-]*HIDDEN", re.IGNORECASE)
_MARKS = {"grade": False, "locked": False, "solution": False, "task": False, "schema_version": 3}


def has_workbook(files: CourseFiles, assignment: Assignment) -> bool:
    """Is there a workbook for this assignment?"""
    return files.workbook(assignment.id).is_file()


def built(files: CourseFiles, assignment: Assignment) -> bytes:
    """The complete notebook, without outputs.

    Raises:
        AuthoringError: the text is at fault, its points are not those of the course, or a package is missing.
    """
    return _written(_complete(files, assignment))


def cut(files: CourseFiles, assignment: Assignment) -> bytes:
    """The notebook that students get, cut by nbgrader itself. Raises as `built`."""
    notebook = _complete(files, assignment)
    try:
        from nbgrader import preprocessors as steps
    except ImportError:
        raise _missing("nbgrader") from None
    resources: dict[str, Any] = {}
    for name in _CUTTING:
        notebook, resources = getattr(steps, name)().preprocess(notebook, resources)
    notebook.metadata = {"kernelspec": _KERNEL, "language_info": {"name": "python"}}
    return _written(notebook)


def asked_points(files: CourseFiles, assignment: Assignment) -> dict[str, Fraction]:
    """The points of what the complete notebook asks itself, by the name of the cell: everything but the exercises.

    Raises:
        AuthoringError: there is a notebook, and it cannot be read.
    """
    path = files.notebook(assignment.id)
    if not path.is_file():
        return {}
    try:
        cells = json.loads(path.read_text("utf-8"))["cells"]
        marks = [cell["metadata"].get("nbgrader", {}) for cell in cells]
        found = {each["grade_id"]: Fraction(str(each["points"])) for each in marks if each.get("points") is not None}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        where = path.relative_to(files.root).as_posix()
        raise AuthoringError(f"{where} cannot be read; `autograder release {assignment.id}` builds it anew") from None
    exercises = {exercise.name for exercise in assignment.exercises}
    return {name: points for name, points in found.items() if name not in exercises}


def _complete(files: CourseFiles, assignment: Assignment) -> NotebookNode:
    path = files.workbook(assignment.id)
    try:
        import jupytext
        import nbformat
    except ImportError:
        raise _missing("jupytext") from None
    where = path.relative_to(files.root).as_posix()
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise AuthoringError(f"{where} cannot be read; save it as UTF-8") from None
    notebook = jupytext.reads(text, fmt="py:percent")
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = nbformat.from_dict({"kernelspec": _KERNEL, "language_info": {"name": "python"}})
    refuse_hidden_tests(notebook, where)
    if questions(notebook):
        ask(notebook, load_bank(files, load_course(files.root), assignment.id), where)
    _mark(notebook, where)
    _check_exercises(notebook, assignment, where)
    return notebook


def refuse_hidden_tests(notebook: NotebookNode, where: str) -> None:
    """Raises AuthoringError where a cell has hidden tests: suites grade exercises, and nbgrader puts hidden ones of a
    cell into every notebook that it grades."""
    for number, cell in enumerate(notebook.cells, start=1):
        if _HIDDEN.search(cell.source):
            name = cell.metadata.get("nbgrader", {}).get("grade_id") or f"number {number}"
            raise AuthoringError(
                f"{where}: the cell {name} has hidden tests, which nothing runs and nbgrader prints into feedback; "
                "move them into the suite of the exercise, in tests/suites"
            )


def _mark(notebook: NotebookNode, where: str) -> None:
    """Stable ids, and nbgrader's marks in full."""
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        marks = cell.metadata.get("nbgrader")
        cell.metadata = type(cell.metadata)()
        if marks is not None:
            unknown = set(marks) - {*_MARKS, "grade_id", "points"}
            if unknown or not isinstance(marks.get("grade_id"), str):
                raise AuthoringError(f"{where}: the marks of a cell are not nbgrader's: {json.dumps(marks)[:120]}")
            cell.metadata["nbgrader"] = {**_MARKS, **marks, "cell_type": cell.cell_type}
        name = marks["grade_id"] if marks else hashlib.sha256(cell.source.encode()).hexdigest()[:12]
        seen[name] = seen.get(name, 0) + 1
        if marks and seen[name] > 1:
            raise AuthoringError(f"{where}: two cells have the grade_id `{name}`")
        cell.id = name.replace(".", "-")[:56] + (f"-{seen[name]}" if seen[name] > 1 else "")


def _check_exercises(notebook: NotebookNode, assignment: Assignment, where: str) -> None:
    """Each exercise has one autograded cell, worth what the course says."""
    marks = [cell.metadata["nbgrader"] for cell in notebook.cells if "nbgrader" in cell.metadata]
    graded = {m["grade_id"]: m.get("points") for m in marks if m["grade"] and not m["solution"]}
    for exercise in assignment.exercises:
        if exercise.name not in graded:
            raise AuthoringError(f"{where} has no autograded cell with the grade_id `{exercise.name}`")
        if graded.pop(exercise.name) != exercise.points:
            points = points_shown(exercise.points)
            raise AuthoringError(f"{where}: the cell `{exercise.name}` must be worth {points} points, as in course.yml")
    graded = {name: points for name, points in graded.items() if not name.startswith(POINTS)}
    if graded:
        raise AuthoringError(f"{where}: nothing grades the cell `{next(iter(graded))}`, which is no exercise")


def _written(notebook: Mapping[str, Any]) -> bytes:
    import nbformat

    text: str = nbformat.writes(notebook, version=4)
    return (text.rstrip("\n") + "\n").encode()


def _missing(package: str) -> AuthoringError:
    return AuthoringError(f"a workbook needs {package}, which is not installed: pip install 'autograder[instructor]'")
