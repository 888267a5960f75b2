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
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Unicode

from autograder.authoring.contents import contents
from autograder.authoring.errors import AuthoringError
from autograder.authoring.workbook import refuse_hidden_tests
from autograder.course import Assignment, CourseError
from autograder.grading.errors import GradingError
from autograder.grading.receipt import GRADER_TROUBLE, CheckResult, Receipt, shown, total
from autograder.intake import Submission
from autograder.notebooks.answers import answer_lines, answers_in, marked, question_of
from autograder.notebooks.bench import Bench, bench_of
from autograder.notebooks.graded import asked_above, is_autograded, is_for_a_person, name_of, points_of, written_in
from autograder.notebooks.messages import exercise_lines
from autograder.notebooks.receipts import Answer, marked_answer, receipt_of, unread_answer
from autograder.notebooks.restore import ReleasedCell, content_of, restored
from autograder.notebooks.runner import CellRun
from autograder.quiz.marking import REWRITE

MENDED = "mended"
"""The id of the cell that says what was mended; a student's cells get other ids."""
_NOTE = "- "
JUDGED_BY = "judged_by"
"""Where the metadata of a graded notebook say what decided its scores (see `Bench.judge`)."""


@contextmanager
def faults_stop(converter: Any, resources: Any) -> Iterator[None]:
    """A fault of the course or the machine ends nbgrader's run with one sentence, and leaves nothing half done behind.
    nbgrader would report it as a failure of each student in turn."""
    try:
        yield
    except (GradingError, CourseError, AuthoringError) as error:
        marks = resources["nbgrader"]
        shutil.rmtree(converter._format_dest(marks["assignment"], marks["student"]), ignore_errors=True)
        converter.log.error("%s; nothing more is done", error)
        raise SystemExit(1) from None


class SubmissionExporter(NotebookExporter):  # type: ignore[misc]
    """Reads a submitted notebook, in whatever state it is, or none: then the released one stands in its place."""

    def __init__(self, **kw: Any) -> None:
        """nbgrader makes it when it has listed the notebooks, and before it goes through them."""
        super().__init__(**kw)
        converter = self.parent
        wanted = converter.coursedir
        for folder in glob(converter._format_source(wanted.assignment_id, wanted.student_id)):
            if os.path.isdir(folder):  # nbgrader leaves those without a notebook out
                converter.assignments.setdefault(folder, [os.path.join(folder, f"{wanted.assignment_id}.ipynb")])

    def from_filename(self, filename: str, resources: Any = None, **kw: Any) -> Any:
        """As nbconvert's, but every cell of the release is there, and a first cell says what was mended."""
        marks = resources["nbgrader"]
        if not self.parent._sanitizing:  # then it reads what it has written itself
            return super().from_filename(filename, resources=resources, **kw)
        with Gradebook(marks["db_url"]) as gradebook:
            release = released_cells(gradebook, marks["notebook"], marks["assignment"])
        notebook, notes = restored(content_of(Path(filename)), release)
        for note in notes:
            self.log.warning("%s, %s: %s", marks["student"], marks["notebook"], note)
        if notes:
            lines = "".join(f"{_NOTE}{note}\n" for note in notes)
            notebook.cells.insert(0, new_markdown_cell(f"**Mended before grading**\n\n{lines}", id=MENDED))
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

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Do the step."""
        with faults_stop(self.parent.parent, resources):
            self.step(nb, resources)
        return nb, resources

    def step(self, nb: NotebookNode, resources: Any) -> None:
        """Change the notebook or its resources in place."""
        raise NotImplementedError

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


class AddBundle(_OurStep):
    """Puts the stubs and their public checks beside a released notebook. The first step: it sees what others cut."""

    def step(self, nb: NotebookNode, resources: Any) -> None:
        """The files travel with the notebook's resources: nbconvert writes them where it writes the notebook."""
        assignment = self.bench.assignment(resources["nbgrader"]["assignment"])
        if assignment is not None:
            source = self.bench.files.notebook(assignment.id)
            refuse_hidden_tests(nb, source.relative_to(self.bench.files.root).as_posix())
            self._refuse_modules(assignment)
            bundle = contents(self.bench.files, assignment)
            files = {path: data for path, data in bundle.items() if not path.endswith(".ipynb")}
            resources.setdefault("outputs", {}).update(files)

    def _refuse_modules(self, assignment: Assignment) -> None:
        folder = self.bench.files.notebook(assignment.id).parent
        modules = [path for path in sorted(folder.rglob("*.py")) if "__pycache__" not in path.parts]
        if modules:
            place = modules[0].relative_to(self.bench.files.root).as_posix()
            raise AuthoringError(f"{place} would be given to students and written over their own; move it elsewhere")


class RunCells(_OurStep):
    """Runs the code cells in a confined worker; autograded ones are left to `GradeModules`."""

    def step(self, nb: NotebookNode, resources: Any) -> None:
        """Outputs into the cells; no error of a cell stops the others. Under `--no-execute` nothing runs."""
        work = self.submission(resources)
        if work is None or self.config.Execute.get("enabled") is False:
            return
        cells = [cell for cell in nb.cells if cell.cell_type == "code" and not is_autograded(cell)]
        runs = self.bench.run(work[0], [cell.source for cell in cells], work[1])
        for number, (cell, run) in enumerate(zip(cells, runs, strict=True), start=1):
            cell.outputs, cell.execution_count = outputs_of(run, number), number


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
    """Writes the score and the messages of each exercise and question into its autograded cell."""

    def step(self, nb: NotebookNode, resources: Any) -> None:
        """Every autograded cell gets outputs of ours and no others."""
        cells = [cell for cell in nb.cells if is_autograded(cell)]
        work = self.submission(resources)
        if work is None:
            if cells:
                raise GradingError(f"{resources['nbgrader']['assignment']} is no assignment of course.yml")
            return
        receipt = self.bench.receipt(*work)
        withheld = self.bench.withheld(work[0], work[1].student)
        for cell in cells:
            exercise = name_of(cell)
            if question_of(exercise):
                continue
            checks = receipt.exercises().get(exercise)
            if not checks:
                raise GradingError(f"the cell {exercise} is no exercise of course.yml; generate the assignment anew")
            lines = exercise_lines(receipt, exercise, withheld)
            cell.outputs, cell.execution_count = _outputs(cell, checks, lines), None
        self._keep_answers(nb, resources, work[0], receipt, withheld)
        nb.metadata[JUDGED_BY] = self.bench.judge(work[0])
        resources["nbgrader"]["open"] = {c.exercise for c in receipt.checks if c.outcome == GRADER_TROUBLE}

    def _keep_answers(
        self, nb: NotebookNode, resources: Any, assignment: Assignment, modules: Receipt, withheld: str
    ) -> None:
        """What the notebook asks itself: a receipt of it, and points and messages into the cells of questions."""
        written, answers = answers_in(nb), []
        for place, cell in enumerate(nb.cells):
            if is_autograded(cell) and (question := question_of(name_of(cell))):
                answers.append(self._marked(cell, question, assignment, written, withheld))
            elif is_for_a_person(cell):
                asked = asked_above(nb.cells, place) or name_of(cell)
                answers.append(unread_answer(name_of(cell), points_of(cell), asked, written_in(cell)))
        if answers:
            self.bench.keep(receipt_of(answers, _mended(nb), self.bench.questions(assignment), modules))
        unread = {a.check.exercise for a in answers if a.check.outcome == REWRITE}
        resources["nbgrader"]["unread"] = unread

    def _marked(
        self, cell: NotebookNode, question: str, assignment: Assignment, written: Mapping[str, str], withheld: str
    ) -> Answer:
        """A question by what stands in its answer cell; the cell with its points says how that was marked."""
        bank = self.bench.bank(assignment)
        item = bank.by_id.get(question)
        if item is None:
            raise GradingError(f"the question {question} is not in the quiz any more; generate the assignment anew")
        mark = marked(bank, item, written)
        answer = marked_answer(name_of(cell), bank, item, mark)
        headline = f"{question}: {shown(answer.check.earned)} of {shown(item.points)} points"
        lines = [headline, *answer_lines(answer.check, mark.feedback, withheld)]
        cell.outputs, cell.execution_count = _scored(float(mark.share * points_of(cell)), lines), None
        return answer


class LeaveOpen(NbGraderPreprocessor):  # type: ignore[misc]
    """Marks in the gradebook what a person has to look at: exercises on which the grader failed, which have no score
    then, answers that cannot be read, and notebooks that were mended."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Runs after the scores were saved."""
        marks = resources["nbgrader"]
        cells = [name_of(cell) for cell in nb.cells if is_autograded(cell)]
        unsure, was_mended = marks.get("open", set()), bool(_mended(nb))
        with Gradebook(marks["db_url"]) as gradebook:
            for name in cells:
                if name in unsure | marks.get("unread", set()) or (was_mended and name == cells[0]):
                    grade = gradebook.find_grade(name, marks["notebook"], marks["assignment"], marks["student"])
                    grade.auto_score = None if name in unsure else grade.auto_score
                    grade.needs_manual_grade = True
            gradebook.db.commit()
        return nb, resources


def _mended(nb: NotebookNode) -> list[str]:
    """What had to be mended in a submitted notebook, as `SubmissionExporter` wrote it down."""
    if not nb.cells or nb.cells[0].get("id") != MENDED:
        return []
    return [line.removeprefix(_NOTE) for line in nb.cells[0].source.splitlines() if line.startswith(_NOTE)]


def _outputs(cell: NotebookNode, checks: list[CheckResult], lines: Iterator[str]) -> list[NotebookNode]:
    earned, possible = total(checks)
    headline = f"{name_of(cell)}: {shown(earned)} of {shown(possible)} points"
    return _scored(float(earned * points_of(cell) / possible), [headline, *lines])


def _scored(points: float, lines: list[str]) -> list[NotebookNode]:
    """What nbgrader reads as a score, below what the student reads."""
    return [
        new_output("display_data", {"text/plain": "\n".join(lines)}),
        new_output("execute_result", {"text/plain": repr(float(points))}, execution_count=None),
    ]
