"""What a process that grades notebook after notebook keeps ready: the course, its receipts, and two warm zygotes."""

from __future__ import annotations

import atexit
import hashlib
import secrets
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path

from autograder.course import Assignment, Course, CourseFiles, find_course, load_course
from autograder.grading.disclosure import hint_withheld
from autograder.grading.errors import GradingError
from autograder.grading.receipt import Receipt
from autograder.grading.reuse import reusable
from autograder.grading.run import grade
from autograder.grading.schedule import Zygotes
from autograder.grading.store import Store
from autograder.grading.submission import Batch
from autograder.intake import Submission, collect_one
from autograder.notebooks.runner import ENVIRONMENT, WARM, CellLimits, CellRun, run_cells
from autograder.sandbox.host import SandboxError, Zygote


class Bench:
    """Grades modules and runs cells of one course, one submission after the other."""

    def __init__(self, root: Path) -> None:
        self.files = CourseFiles(root)
        self._course: tuple[int, Course] | None = None
        self._cells: Zygote | None = None
        self._open = ExitStack()
        self._prepared: dict[str, list[CellRun]] = {}

    @cached_property
    def store(self) -> Store:
        """The receipts, the same that `autograder grade` keeps."""
        return self._open.enter_context(Store.in_course(self.files.root))

    @property
    def course(self) -> Course:
        """The course as its file says now: in JupyterLab a bench lives for days.

        Raises:
            CourseError: course.yml is no longer a course.
        """
        path = find_course(self.files.root)
        stamp = path.stat().st_mtime_ns
        if self._course is None or self._course[0] != stamp:
            self._course = stamp, load_course(path)
        return self._course[1]

    def assignment(self, name: str) -> Assignment | None:
        """The assignment of that name, if the course has one. Raises as `course`."""
        return self.course.assignments.get(name)

    def submission(self, assignment: Assignment, student: str, folder: Path) -> Submission:
        """The modules that lie in a student's folder."""
        return collect_one(folder, student, [e.name for e in assignment.exercises], assignment.id)

    def receipt(self, assignment: Assignment, submission: Submission) -> Receipt:
        """The receipt of this work (see `receipts`)."""
        return self.receipts(assignment, [submission])[submission.student]

    def receipts(self, assignment: Assignment, submissions: Sequence[Submission]) -> dict[str, Receipt]:
        """The receipt of each work, by student: an earlier one, or a new one, which is kept.

        Raises:
            GradingError: the suites or the sandbox are at fault.
        """
        found = reusable(self.store, self.files, assignment, submissions)
        for student, receipt in found.items():
            if receipt != self.store.standing(assignment.id, student):
                self.store.add(receipt)  # the same work as before that: this receipt stands again
        waiting = [s for s in submissions if s.student not in found]

        def finished(receipt: Receipt) -> None:
            self.store.add(receipt)
            found[receipt.student] = receipt

        if waiting:
            batch = Batch(self.files, self.course.id, assignment, waiting, seed=secrets.randbelow(2**31))
            grade(batch, finished, lambda _: None, self._zygotes)
        return found

    def withheld(self, assignment: Assignment, student: str) -> str:
        """Why diagnoses are not told to this student now; "" where they are (see `disclosure`)."""
        attempts = len({r.submission_hash for r in self.store.history(assignment.id, student)})
        return hint_withheld(assignment, attempts, datetime.now(UTC))

    def run(self, assignment: Assignment, cells: Sequence[str], submission: Submission) -> list[CellRun]:
        """How each cell of a notebook ended, beside the submitted modules (see `runner`).

        Raises:
            GradingError: the sandbox is at fault, twice.
        """
        prepared = self._prepared.pop(_key(cells, submission), None)
        if prepared is not None:
            return prepared
        for is_last_try in (False, True):
            try:
                if self._cells is None:
                    self._cells = self._open.enter_context(warm_zygote())
                return _run_in(self._cells, assignment, cells, submission)
            except SandboxError as error:
                self._cells = None
                if is_last_try:
                    raise GradingError(f"notebooks cannot be run: {error}") from None
        raise AssertionError("unreachable")

    def prepare(self, zygote: Zygote, assignment: Assignment, cells: Sequence[str], submission: Submission) -> None:
        """Run cells now, in a worker of this zygote, for the `run` that comes later; if that fails, `run` does it."""
        with suppress(SandboxError):
            self._prepared[_key(cells, submission)] = _run_in(zygote, assignment, cells, submission)

    @cached_property
    def _zygotes(self) -> Zygotes:
        return self._open.enter_context(Zygotes())

    def close(self) -> None:
        """End the zygotes and let go of the receipts."""
        self._open.close()


def warm_zygote() -> Zygote:
    """A zygote whose workers can run cells of notebooks."""
    return Zygote(also=WARM, variables=ENVIRONMENT)


def _run_in(zygote: Zygote, assignment: Assignment, cells: Sequence[str], submission: Submission) -> list[CellRun]:
    limits = assignment.limits
    allowed = CellLimits(assignment.seconds_per_cell, limits.seconds_per_submission, limits.memory_mb)
    modules = {name: file.content for name, file in submission.files.items()}
    return list(run_cells(zygote, cells, modules, allowed))


def _key(cells: Sequence[str], submission: Submission) -> str:
    digest = hashlib.sha256(submission.digest.encode())
    for cell in cells:
        digest.update(f"{len(cell)}:{cell}".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


@cache
def bench_of(root: Path) -> Bench:
    """The bench of a course in this process; nbgrader makes its parts anew for each notebook, and this must last."""
    bench = Bench(root)
    atexit.register(bench.close)
    return bench
