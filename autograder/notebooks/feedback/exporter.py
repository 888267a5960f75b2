"""nbgrader's two hooks for feedback: which grades go into the notebook, and what makes a page of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import Exporter
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.preprocessors import GetGrades
from traitlets import Unicode

from autograder.course import load_course
from autograder.notebooks.feedback.page import Heading, page


class Grades(GetGrades):  # type: ignore[misc]
    """As nbgrader's, and tells apart what a person decided, what a machine did, and what nobody has read yet."""

    def preprocess_cell(self, cell: NotebookNode, resources: Any, cell_index: int) -> tuple[NotebookNode, Any]:
        """Score, points and comment, `by_hand` and `open`, into the cell's marks."""
        cell, resources = super().preprocess_cell(cell, resources, cell_index)
        if utils.is_grade(cell) or utils.is_task(cell):
            marks = cell.metadata.nbgrader
            grade = self.gradebook.find_grade(marks["grade_id"], self.notebook_id, self.assignment_id, self.student_id)
            marks["by_hand"] = grade.manual_score is not None
            marks["open"] = bool(grade.needs_manual_grade) and grade.manual_score is None
        return cell, resources


class FeedbackPage(Exporter):  # type: ignore[misc]
    """Makes the page of an autograded notebook."""

    course_root = Unicode(help="The folder that holds course.yml.").tag(config=True)
    output_mimetype = "text/html"

    def _file_extension_default(self) -> str:
        return ".html"

    def from_notebook_node(self, nb: NotebookNode, resources: Any = None, **kw: Any) -> tuple[str, Any]:
        """The HTML of the page."""
        nb, resources = super().from_notebook_node(nb, resources, **kw)
        marks, root = resources["nbgrader"], Path(self.course_root)
        assignment = load_course(root).assignments.get(marks["assignment"])
        with Gradebook(marks["db_url"]) as gradebook:
            student = gradebook.find_student(marks["student"])
            name = " ".join(part for part in (student.first_name, student.last_name) if part) or student.id
        heading = Heading(
            title=assignment.title if assignment else marks["assignment"],
            student=name,
            score=float(marks["score"]),
            points=float(marks["max_score"]),
            penalty=float(marks["late_penalty"]),
        )
        return page(nb, heading, root), resources
