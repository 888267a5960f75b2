"""Our places in nbgrader's chain: how it reads a submitted notebook, runs it, and what scores its cells get.

    submitted notebook ── SubmissionExporter ──► whole again        (see `restore`)
                       ── RunCells ───────────► outputs, from a confined worker in the place of a kernel
                       ── GradeModules ───────► the scores of our grader, whatever the cells have shown

nbgrader takes a grade from a cell's outputs. So the outputs of every autograded cell are written here, last, by the
process that holds the receipts: nothing that student code printed can stand in their place.
"""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Unicode

from autograder.authoring.contents import contents
from autograder.course import Assignment
from autograder.grading.receipt import Receipt, shown, total
from autograder.intake import Submission
from autograder.notebooks.bench import Bench, bench_of
from autograder.notebooks.messages import exercise_lines
from autograder.notebooks.restore import ReleasedCell, restored
from autograder.notebooks.runner import CellRun


class SubmissionExporter(NotebookExporter):  # type: ignore[misc]
    """Reads a submitted notebook, in whatever state it is."""

    def from_filename(self, filename: str, resources: Any = None, **kw: Any) -> Any:
        """As nbconvert's, but every cell of the release is there, and a first cell says what was mended."""
        marks = resources["nbgrader"]
        with Gradebook(marks["db_url"]) as gradebook:
            release = released_cells(gradebook, marks["notebook"], marks["assignment"])
        notebook, notes = restored(Path(filename).read_bytes(), release)
        for note in notes:
            self.log.warning("%s, %s: %s", marks["student"], marks["notebook"], note)
        if notes:
            lines = "".join(f"- {note}\n" for note in notes)
            notebook.cells.insert(0, new_markdown_cell(f"**Mended before grading**\n\n{lines}", id="mended"))
        resources["metadata"] = {"name": marks["notebook"], "path": str(Path(filename).parent)}
        return self.from_file(io.StringIO(nbformat.writes(notebook)), resources=resources, **kw)


def released_cells(gradebook: Gradebook, notebook: str, assignment: str) -> list[ReleasedCell]:
    """The cells of a released notebook, in order, as nbgrader keeps them."""
    found = gradebook.find_notebook(notebook, assignment)
    points = {cell.name: float(cell.max_score) for cell in (*found.grade_cells, *found.task_cells)}
    grades, tasks = ({cell.name for cell in cells} for cells in (found.grade_cells, found.task_cells))
    solutions = {cell.name for cell in found.solution_cells}
    return [
        ReleasedCell(
            grade_id=cell.name,
            cell_type=cell.cell_type,
            source=cell.source or "",
            locked=bool(cell.locked),
            grade=cell.name in grades,
            solution=cell.name in solutions,
            task=cell.name in tasks,
            points=points.get(cell.name),
            checksum=cell.checksum,
        )
        for cell in found.source_cells
    ]


class _OurStep(NbGraderPreprocessor):  # type: ignore[misc]
    """A step of ours in a chain of nbgrader's."""

    course_root = Unicode(help="The folder that holds course.yml.").tag(config=True)

    @property
    def bench(self) -> Bench:
        """What notebooks of this course are graded on."""
        return bench_of(Path(self.course_root))

    def submission(self, resources: Any) -> tuple[Assignment, Submission] | None:
        """Whose work a notebook belongs to, with the modules beside it; None when it is no assignment of the course."""
        marks = resources["nbgrader"]
        assignment = self.bench.assignment(marks["assignment"])
        if assignment is None:
            return None
        converter = self.parent.parent
        folder = converter.coursedir.format_path("submitted", marks["student"], marks["assignment"])
        return assignment, self.bench.submission(assignment, marks["student"], Path(folder))


def is_autograded(cell: NotebookNode) -> bool:
    """Does nbgrader take the cell's score from its outputs?"""
    return bool(utils.is_grade(cell) and not utils.is_solution(cell) and cell.cell_type == "code")


class AddBundle(_OurStep):
    """Puts the stubs and their public checks beside a released notebook."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """The files travel with the notebook's resources: nbconvert writes them where it writes the notebook."""
        assignment = self.bench.assignment(resources["nbgrader"]["assignment"])
        if assignment is not None:
            bundle = contents(self.bench.files, assignment)
            files = {path: data for path, data in bundle.items() if not path.endswith(".ipynb")}
            resources.setdefault("outputs", {}).update(files)
        return nb, resources


class RunCells(_OurStep):
    """Runs the code cells in a confined worker; autograded ones are left to `GradeModules`."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Outputs into the cells; no error of a cell stops the others. Under `--no-execute` nothing runs."""
        work = self.submission(resources)
        if work is None or self.config.Execute.get("enabled") is False:
            return nb, resources
        cells = [cell for cell in nb.cells if cell.cell_type == "code" and not is_autograded(cell)]
        runs = self.bench.run(work[0], [cell.source for cell in cells], work[1])
        for number, (cell, run) in enumerate(zip(cells, runs, strict=True), start=1):
            cell.outputs, cell.execution_count = outputs_of(run, number), number
        return nb, resources


def outputs_of(run: CellRun, number: int) -> list[NotebookNode]:
    """What a cell showed, as a notebook keeps it."""
    found = []
    for kind, content in run.shown:
        if kind in ("stdout", "stderr"):
            found.append(new_output("stream", name=kind, text=content))
        elif kind == "error" and isinstance(content, str):
            name, _, trace = content.partition("\n")
            last = trace.rstrip().rpartition("\n")[2].removeprefix(f"{name}: ")
            found.append(new_output("error", ename=name, evalue=last, traceback=trace.split("\n")))
        elif isinstance(content, bytes):
            found.append(new_output("display_data", {"image/png": base64.b64encode(content).decode()}))
        elif kind == "result":
            found.append(new_output("execute_result", {"text/plain": content}, execution_count=number))
        else:
            found.append(new_output("display_data", {"text/plain": content}))
    if run.sentence:
        found.append(new_output("error", ename=run.outcome, evalue=run.sentence, traceback=[run.sentence]))
    return found


class GradeModules(_OurStep):
    """Writes the score and the messages of each exercise into its autograded cell."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Every autograded cell gets outputs of ours and no others."""
        receipt, withheld = None, ""
        if work := self.submission(resources):
            receipt = self.bench.receipt(*work)
            withheld = self.bench.withheld(work[0], work[1].student)
        for cell in nb.cells:
            if is_autograded(cell):
                cell.outputs, cell.execution_count = self._outputs(cell, receipt, withheld), None
        return nb, resources

    def _outputs(self, cell: NotebookNode, receipt: Receipt | None, withheld: str) -> list[NotebookNode]:
        exercise = cell.metadata.nbgrader["grade_id"]
        checks = receipt.exercises().get(exercise, []) if receipt else []
        if receipt is None or not checks:
            self.log.error("the cell %s is no exercise of the course; it gets no points", exercise)
            return _scored(0, [f"{exercise} is no exercise of this assignment; your instructor was told"])
        earned, possible = total(checks)
        points = float(cell.metadata.nbgrader["points"])
        scaled = float(earned) * points / float(possible)
        lines = [
            f"{exercise}: {shown(earned)} of {shown(possible)} points",
            *exercise_lines(receipt, exercise, withheld),
        ]
        return _scored(scaled, lines)


def _scored(points: float, lines: list[str]) -> list[NotebookNode]:
    """What nbgrader reads as a score, below what the student reads."""
    return [
        new_output("display_data", {"text/plain": "\n".join(lines)}),
        new_output("execute_result", {"text/plain": repr(float(points))}, execution_count=None),
    ]
