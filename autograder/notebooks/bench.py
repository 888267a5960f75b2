"""What a process that grades notebook after notebook keeps ready: the course, its receipts, and two warm zygotes.

One zygote is for modules and one for cells, which need more: what a module can do depends on no notebook.
"""

from __future__ import annotations

import atexit
import hashlib
import secrets
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from autograder import __version__
from autograder.course import Assignment, Course, CourseFiles, find_course, load_course
from autograder.grading.batch import Batch
from autograder.grading.disclosure import hint_withheld
from autograder.grading.errors import GradingError
from autograder.grading.hashes import suite_hash
from autograder.grading.receipt import Receipt
from autograder.grading.reuse import reusable, with_known_times
from autograder.grading.run import grade
from autograder.grading.store import Store
from autograder.intake import Submission, collect_one
from autograder.notebooks.runner import ENVIRONMENT, WARM, CellLimits, CellRun, run_cells
from autograder.quiz.bank import Bank, has_quiz, load_bank, quiz_folder
from autograder.quiz.receipts import bank_hash
from autograder.sandbox.host.errors import SandboxError
from autograder.sandbox.host.worker import Worker, WorkerLimits
from autograder.sandbox.host.zygote import Zygote
from autograder.sandbox.host.zygotes import Zygotes


class Bench:
    """Grades modules and runs cells of one course, one submission after the other."""

    def __init__(self, root: Path) -> None:
        self.files = CourseFiles(root)
        self._course: tuple[int, Course] | None = None
        self._banks: dict[str, tuple[Any, Bank]] = {}
        self._cells: Zygote | None = None
        self._turn = Lock()
        self._open = ExitStack()
        self._prepared: dict[str, list[CellRun]] = {}
        self._seed = secrets.randbelow(2**31)  # one for all: what the solutions taught is of use for the next student

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

    def bank(self, assignment: Assignment) -> Bank:
        """Its questions, as their files say now. Raises CourseError."""
        folders = (quiz_folder(self.files, assignment.id), self.files.root / "reference")
        stamp = tuple((path, path.stat().st_mtime_ns) for folder in folders for path in sorted(folder.rglob("*.yml")))
        if self._banks.get(assignment.id, (None,))[0] != stamp:
            self._banks[assignment.id] = stamp, load_bank(self.files, self.course, assignment.id)
        return self._banks[assignment.id][1]

    def judge(self, assignment: Assignment) -> str:
        """Changes with anything that decides the scores of a notebook but what was submitted. Raises CourseError."""
        deciding = f"{__version__} {suite_hash(self.files, assignment)} {self.questions(assignment)}"
        return hashlib.sha256(deciding.encode()).hexdigest()

    def questions(self, assignment: Assignment) -> str:
        """Changes with anything that decides the mark of an answer. Raises CourseError."""
        return bank_hash(self.bank(assignment)) if has_quiz(self.files, assignment.id) else ""

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
        before = self.store.standing_receipts(assignment.id, [s.student for s in submissions])
        submissions = with_known_times(submissions, before)
        found = reusable(self.store, self.files, assignment, submissions, standing=before)
        for student, receipt in found.items():
            if receipt != before.get(student):
                self.store.add(receipt)  # the same work as before that: this receipt stands again
        waiting = [s for s in submissions if s.student not in found]

        def finished(receipt: Receipt) -> None:
            self.store.add(receipt)
            found[receipt.student] = receipt

        if waiting:
            batch = Batch(self.files, self.course.id, assignment, waiting, seed=self._seed)
            grade(batch, finished, lambda _: None, self._zygotes)
        return found

    def keep(self, receipt: Receipt) -> None:
        """Keep the receipt of a notebook's own points, unless one that says the same stands."""
        before = self.store.standing(receipt.assignment, receipt.student)
        if before is None or replace(before, graded_at=receipt.graded_at) != receipt:
            self.store.add(receipt)

    def withheld(self, assignment: Assignment, student: str) -> str:
        """Why diagnoses are not told to this student now; "" where they are (see `disclosure`)."""
        attempts = len({r.submission_hash for r in self.store.history(assignment.id, student)})
        return hint_withheld(assignment, attempts, datetime.now(UTC), student)

    def run(self, assignment: Assignment, cells: Sequence[str], submission: Submission) -> list[CellRun]:
        """How each cell of a notebook ended, beside the submitted modules (see `runner`).

        Raises:
            GradingError: the sandbox is at fault, twice.
        """
        prepared = self._prepared.pop(_key(cells, submission), None)
        if prepared is not None:
            return prepared
        limits = assignment.limits
        allowed = CellLimits(assignment.seconds_per_cell, limits.seconds_per_submission, limits.memory_mb)
        modules = {name: file.content for name, file in submission.files.items()}
        for is_last_try in (False, True):
            zygote = self._zygote_of_cells()
            try:
                return list(run_cells(zygote, cells, modules, allowed))
            except SandboxError as error:
                self._give_up(zygote)
                if is_last_try:
                    raise GradingError(f"notebooks cannot be run: {error}") from None
        raise AssertionError("unreachable")

    def prepare(self, assignment: Assignment, cells: Sequence[str], submission: Submission) -> None:
        """Run cells now, in any thread, for the `run` that comes later. Raises as `run`."""
        self._prepared[_key(cells, submission)] = self.run(assignment, cells, submission)

    def _zygote_of_cells(self) -> Zygote:
        with self._turn:
            if self._cells is None:
                self._cells = self._open.enter_context(_SharedZygote(also=WARM, variables=ENVIRONMENT))
            return self._cells

    def _give_up(self, zygote: Zygote) -> None:
        with self._turn:
            if self._cells is zygote:
                self._cells = None

    @cached_property
    def _zygotes(self) -> Zygotes:
        return self._open.enter_context(Zygotes())

    def close(self) -> None:
        """End the zygotes and let go of the receipts."""
        self._open.close()


class _SharedZygote(Zygote):
    """One of which several threads have workers."""

    def __init__(self, **how: Any) -> None:
        self._turn = Lock()
        super().__init__(**how)

    def fork(self, limits: WorkerLimits) -> Worker:
        """As of any zygote."""
        with self._turn:
            return super().fork(limits)

    def end(self, pid: int) -> None:
        """As of any zygote."""
        with self._turn:
            super().end(pid)


def _key(cells: Sequence[str], submission: Submission) -> str:
    digest = hashlib.sha256(f"{submission.student}:{submission.digest}".encode("utf-8", "surrogatepass"))
    for cell in cells:
        digest.update(f"{len(cell)}:{cell}".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def bench_of(root: Path) -> Bench:
    """The bench of a course in this process; nbgrader makes its parts anew for each notebook, and this must last."""
    return _bench_of(root.resolve())


@cache
def _bench_of(root: Path) -> Bench:
    bench = Bench(root)
    atexit.register(bench.close)
    return bench
