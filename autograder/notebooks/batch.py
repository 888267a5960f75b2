"""A class of notebooks through nbgrader in one process: modules first, cells ahead of nbgrader, then its own chain.

    cells   ── `jobs` workers at a time ─────► outputs, kept until nbgrader asks for them
    modules ── our grader, a few at a time ──► receipts, meanwhile
    nbgrader's own autograde, one student after the other ──► gradebook, autograded notebooks

The grades are those of `nbgrader autograde`: it is the same chain, which finds its slow parts done.
"""

from __future__ import annotations

import glob
import json
import logging
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.authoring.workbook import asked_points
from autograder.course import Assignment, Course
from autograder.grading.errors import GradingError
from autograder.grading.parts import NOTEBOOK
from autograder.grading.receipt import Receipt
from autograder.intake import Submission
from autograder.notebooks.bench import Bench, bench_of
from autograder.notebooks.bridge import JUDGED_BY, released_cells
from autograder.notebooks.config import configure, database
from autograder.notebooks.graded import is_autograded
from autograder.notebooks.restore import ReleasedCell, content_of, restored

DONE, UNCHANGED, NO_NOTEBOOK, FAILED = "done", "unchanged", "no notebook", "failed"


@dataclass(frozen=True)
class Row:
    """What came of one student: the receipt of the modules, what was mended in the notebook or went wrong, and the
    gradebook's points, if nbgrader has them."""

    student: str
    outcome: str
    receipt: Receipt
    notes: tuple[str, ...] = ()
    score: float | None = None
    max_score: float | None = None
    needs_manual_grade: bool = False


class ClassOfNotebooks:
    """The submitted notebooks of one assignment, and what is needed to have nbgrader grade them."""

    def __init__(self, root: Path, course: Course, assignment: Assignment) -> None:
        """Have the assignment in nbgrader's gradebook; it is generated when it is not there yet.

        Raises:
            GradingError: nbgrader cannot generate it, or nothing was submitted.
        """
        self._config = Config()
        configure(self._config, root)
        self._root, self._course, self._assignment = root, course, assignment
        self._bench = bench_of(root)  # where nbgrader's chain looks for what was run ahead
        self._directory = CourseDirectory(config=self._config, assignment_id=assignment.id)
        self._folder = root / "submitted" / "notebooks"
        self.students = sorted(p.parent.name for p in self._folder.glob(f"*/{assignment.id}") if p.is_dir())
        if not self.students:
            where = f"submitted/notebooks/STUDENT/{assignment.id}"
            raise GradingError(f"nothing was submitted; put each student's notebook and modules into {where}")
        self._release = self._released()

    def grade(self, jobs: int, force: bool, finished: Callable[[Row], None]) -> None:
        """Grade everybody whose work, or what judges it, changed since (with `force`, everybody); each row is handed
        over when it is done.

        Raises:
            GradingError: the course or the sandbox is at fault; rows so far stand.
        """
        work = {s: self._bench.submission(self._assignment, s, self._place(s)) for s in self.students}
        judge, marked = self._bench.judge(self._assignment), self._with_marked_answers()
        waiting = {s for s in self.students if force or s not in marked or not self._is_current(s, judge)}
        mended: dict[str, list[str]] = {}
        with _Ahead(self._bench, self._assignment, jobs) as ahead:
            for student in self.students:
                notebook, mended[student] = restored(content_of(self._notebook(student)), self._release)
                if student in waiting:
                    cells = [c.source for c in notebook.cells if c.cell_type == "code" and not is_autograded(c)]
                    ahead.add(student, cells, work[student])
            receipts = self._bench.receipts(self._assignment, list(work.values()))
            with Gradebook(database(self._root), self._course.id) as gradebook:
                for student in self.students:
                    outcome = UNCHANGED if self._notebook(student).is_file() else NO_NOTEBOOK
                    if student in waiting:
                        ahead.wait_for(student)
                        if trouble := self._through_nbgrader(student):
                            outcome = FAILED
                            mended[student].insert(0, f"nbgrader: {trouble}")
                        elif outcome == UNCHANGED:
                            outcome = DONE
                    finished(self._row(gradebook, student, outcome, receipts[student], tuple(mended[student])))

    def _through_nbgrader(self, student: str) -> str:
        """Why nbgrader could not grade; "" when it did."""
        self._directory.student_id = glob.escape(student)
        converter = _Autograde(coursedir=self._directory, config=self._config)
        converter.force = True
        errors = _Errors()
        converter.log.addHandler(errors)
        try:
            converter.start()
        except NbGraderException as error:
            return errors.cause or str(error)
        except SystemExit as end:  # a fault that is no student's (see `bridge.faults_stop`)
            raise GradingError(str(end.code if isinstance(end.code, str) else end.__context__)) from None
        finally:
            converter.log.removeHandler(errors)
        return ""

    def _released(self) -> list[ReleasedCell]:
        name = self._assignment.id
        with Gradebook(database(self._root), self._course.id) as gradebook:
            try:
                return released_cells(gradebook, name, name)
            except MissingEntry:
                pass
        try:
            GenerateAssignment(coursedir=self._directory, config=self._config).start()
        except (Exception, SystemExit):
            raise GradingError(
                f"nbgrader cannot generate {name}: `nbgrader generate_assignment {name}` says why"
            ) from None
        with Gradebook(database(self._root), self._course.id) as gradebook:
            return released_cells(gradebook, name, name)

    def _row(self, gradebook: Gradebook, student: str, outcome: str, receipt: Receipt, notes: tuple[str, ...]) -> Row:
        try:
            found = gradebook.find_submission(self._assignment.id, student)
            return Row(student, outcome, receipt, notes, found.score, found.max_score, found.needs_manual_grade)
        except MissingEntry:
            return Row(student, FAILED, receipt, notes)
        finally:
            gradebook.db.remove()  # the next look is a new one

    def _place(self, student: str) -> Path:
        return self._folder / student / self._assignment.id

    def _notebook(self, student: str) -> Path:
        """The notebook that will be graded: the only one counts whatever its name (see `handins`)."""
        meant = self._place(student) / f"{self._assignment.id}.ipynb"
        others = list(self._place(student).glob("*.ipynb"))
        return others[0] if len(others) == 1 else meant

    def _with_marked_answers(self) -> Collection[str]:
        """Whose answers have a receipt; everybody where the notebook asks nothing itself."""
        if not asked_points(self._bench.files, self._assignment):
            return self.students
        return self._bench.store.standing_receipts(NOTEBOOK.of(self._assignment.id))

    def _is_current(self, student: str, judge: str) -> bool:
        """Was the notebook autograded after everything that was submitted, and by what decides now?"""
        graded = (
            self._root / "autograded" / "notebooks" / student / self._assignment.id / f"{self._assignment.id}.ipynb"
        )
        newest = max((p.lstat().st_mtime for p in self._place(student).rglob("*")), default=0.0)
        try:
            is_newer = graded.stat().st_mtime > newest
            return is_newer and json.loads(graded.read_bytes())["metadata"].get(JUDGED_BY) == judge
        except (OSError, ValueError):  # none yet, or one that was stopped while it was written
            return False


class _Autograde(Autograde):  # type: ignore[misc]  # nbgrader ships no types
    """nbgrader's own, also for somebody without a notebook, for whom it would not even begin."""

    def init_notebooks(self) -> None:
        """Leave the list to our exporter."""
        self.assignments: dict[str, list[str]] = {}
        self.notebooks: list[str] = []


class _Errors(logging.Handler):
    """Keeps the last line of the first error that nbgrader logs, as that is a traceback where there is one."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.cause = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Nothing is written."""
        lines = record.getMessage().strip().splitlines()
        if len(lines) > 1:
            self.cause = lines[-1]


class _Ahead:
    """Runs cells of notebooks ahead of the one that nbgrader is at, a few notebooks at a time."""

    def __init__(self, bench: Bench, assignment: Assignment, jobs: int) -> None:
        self._bench, self._assignment = bench, assignment
        self._pool = ThreadPoolExecutor(jobs)
        self._under_way: dict[str, Future[None]] = {}

    def __enter__(self) -> _Ahead:
        return self

    def __exit__(self, *failure: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def add(self, student: str, cells: Sequence[str], submission: Submission) -> None:
        """Let this notebook be run when its turn comes."""
        self._under_way[student] = self._pool.submit(self._bench.prepare, self._assignment, cells, submission)

    def wait_for(self, student: str) -> None:
        """Until this notebook was run. Raises GradingError."""
        self._under_way.pop(student).result()
