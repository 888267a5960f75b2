"""A class of notebooks through nbgrader in one process: modules first, cells ahead of nbgrader, then its own chain.

    modules ── our grader, a few at a time ──► receipts
    cells   ── `jobs` zygotes ───────────────► outputs, kept until nbgrader asks for them
    nbgrader's own autograde, one student after the other ──► gradebook, autograded notebooks

The grades are those of `nbgrader autograde`: it is the same chain, which finds its slow parts done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.course import Assignment, Course
from autograder.grading.errors import GradingError
from autograder.grading.receipt import Receipt
from autograder.intake import Submission
from autograder.notebooks.bench import Bench, warm_zygote
from autograder.notebooks.bridge import is_autograded, released_cells
from autograder.notebooks.config import configure, database
from autograder.notebooks.restore import ReleasedCell, content_of, restored
from autograder.sandbox.host import Zygote

DONE, UNCHANGED, NO_NOTEBOOK, FAILED = "done", "unchanged", "no notebook", "failed"


@dataclass(frozen=True)
class Row:
    """What came of one student: the receipt of the modules, what was mended in the notebook, and the gradebook's
    points, if nbgrader has them."""

    student: str
    outcome: str
    receipt: Receipt
    notes: tuple[str, ...] = ()
    score: float | None = None
    max_score: float | None = None
    needs_manual_grade: bool = False


class ClassOfNotebooks:
    """The submitted notebooks of one assignment, and what is needed to have nbgrader grade them."""

    def __init__(self, root: Path, course: Course, assignment: Assignment, bench: Bench) -> None:
        """Have the assignment in nbgrader's gradebook; it is generated when it is not there yet.

        Raises:
            GradingError: nbgrader cannot generate it, or nothing was submitted.
        """
        config = Config()
        configure(config, root)
        self._root, self._assignment, self._bench = root, assignment, bench
        self._api = NbGraderAPI(CourseDirectory(config=config), config=config)
        self._release = self._released(course.id)
        self._folder = root / "submitted" / "notebooks"
        self.students = sorted(p.parent.name for p in self._folder.glob(f"*/{assignment.id}") if p.is_dir())
        if not self.students:
            where = f"submitted/notebooks/STUDENT/{assignment.id}"
            raise GradingError(f"nothing was submitted; put each student's notebook and modules into {where}")

    def grade(self, jobs: int, force: bool, finished: Callable[[Row], None]) -> None:
        """Grade everybody whose work changed since (with `force`, everybody); each row is handed over when it is done.

        Raises:
            GradingError: the course or the sandbox is at fault; rows so far stand.
        """
        work = {s: self._bench.submission(self._assignment, s, self._place(s)) for s in self.students}
        receipts = self._bench.receipts(self._assignment, list(work.values()))
        waiting = [s for s in self.students if force or not self._is_current(s)]
        with _Ahead(self._bench, self._assignment, jobs) as ahead:
            for student in waiting:
                ahead.add(student, self._cells(student), work[student])
            for student in self.students:
                outcome, notes = UNCHANGED, self._mended(student)
                if student in waiting:
                    ahead.wait_for(student)
                    outcome = self._through_nbgrader(student)
                finished(self._row(student, outcome, receipts[student], notes))

    def _through_nbgrader(self, student: str) -> str:
        if not self._notebook(student).is_file():
            return NO_NOTEBOOK
        found = self._api.autograde(self._assignment.id, student, force=True)
        return DONE if found["success"] else FAILED

    def _released(self, course: str) -> list[ReleasedCell]:
        name = self._assignment.id
        try:
            with Gradebook(database(self._root), course) as gradebook:
                return released_cells(gradebook, name, name)
        except MissingEntry:
            made = self._api.generate_assignment(name)
        if not made["success"]:
            raise GradingError(f"nbgrader cannot generate {name}: `nbgrader generate_assignment {name}` says why")
        with Gradebook(database(self._root), course) as gradebook:
            return released_cells(gradebook, name, name)

    def _row(self, student: str, outcome: str, receipt: Receipt, notes: tuple[str, ...]) -> Row:
        if outcome == NO_NOTEBOOK:
            return Row(student, outcome, receipt, ("there is no notebook; the modules were graded",))
        try:
            with Gradebook(database(self._root)) as gradebook:
                found = gradebook.find_submission(self._assignment.id, student)
                return Row(student, outcome, receipt, notes, found.score, found.max_score, found.needs_manual_grade)
        except MissingEntry:
            return Row(student, FAILED, receipt, notes)

    def _place(self, student: str) -> Path:
        return self._folder / student / self._assignment.id

    def _notebook(self, student: str) -> Path:
        """The notebook that will be graded: the only one counts whatever its name (see `handins`)."""
        meant = self._place(student) / f"{self._assignment.id}.ipynb"
        others = list(self._place(student).glob("*.ipynb"))
        return others[0] if len(others) == 1 else meant

    def _cells(self, student: str) -> list[str]:
        """The code cells that will be run, as nbgrader will find them."""
        if not self._notebook(student).is_file():
            return []
        notebook, _ = restored(content_of(self._notebook(student)), self._release)
        return [cell.source for cell in notebook.cells if cell.cell_type == "code" and not is_autograded(cell)]

    def _mended(self, student: str) -> tuple[str, ...]:
        if not self._notebook(student).is_file():
            return ()
        return tuple(restored(content_of(self._notebook(student)), self._release)[1])

    def _is_current(self, student: str) -> bool:
        """Was the notebook autograded after everything that was submitted?"""
        graded = (
            self._root / "autograded" / "notebooks" / student / self._assignment.id / f"{self._assignment.id}.ipynb"
        )
        if not graded.is_file():
            return False
        newest = max((p.lstat().st_mtime for p in self._place(student).rglob("*")), default=0.0)
        return graded.stat().st_mtime > newest


class _Ahead:
    """Runs cells of notebooks ahead of the one that nbgrader is at, a few notebooks at a time."""

    def __init__(self, bench: Bench, assignment: Assignment, jobs: int) -> None:
        self._bench, self._assignment, self._jobs = bench, assignment, jobs
        self._free: SimpleQueue[Zygote] = SimpleQueue()
        self._started = 0
        self._under_way: dict[str, Future[None]] = {}
        self._stack = ExitStack()

    def __enter__(self) -> _Ahead:
        self._pool = self._stack.enter_context(ThreadPoolExecutor(self._jobs))
        return self

    def __exit__(self, *failure: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._stack.close()

    def add(self, student: str, cells: Sequence[str], submission: Submission) -> None:
        """Let this notebook be run when its turn comes."""
        if not cells:
            return
        if self._started < self._jobs:
            self._started += 1
            self._free.put(self._stack.enter_context(warm_zygote()))
        self._under_way[student] = self._pool.submit(self._run, cells, submission)

    def wait_for(self, student: str) -> None:
        """Until this notebook was run. Raises GradingError."""
        if student in self._under_way:
            self._under_way.pop(student).result()

    def _run(self, cells: Sequence[str], submission: Submission) -> None:
        zygote = self._free.get()
        try:
            self._bench.prepare(zygote, self._assignment, cells, submission)
        finally:
            self._free.put(zygote)
