"""Grade a batch: one pytest session collects the suites once and runs their checks for submission after submission."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import pytest
import torch

from autograder.course import Assignment, CourseError, load_traces
from autograder.grading.batch import Batch
from autograder.grading.errors import GradingError
from autograder.grading.receipt import Receipt
from autograder.grading.schedule import LANES, grade_all
from autograder.grading.submission import Grader
from autograder.intake import Submission
from autograder.sandbox.host.errors import NotConfined, SandboxError
from autograder.sandbox.host.zygotes import Zygotes
from autograder.suite.desk import Desk
from autograder.suite.plugin import CHECK, Fixtures

_PLUGINS_NOT_NEEDED = """terminal cacheprovider logging junitxml pastebin faulthandler stepwise setuponly setupplan
doctest unittest skipping warnings capture debugging threadexception unraisableexception legacypath""".split()


def grade(
    batch: Batch,
    finished: Callable[[Receipt], None],
    started: Callable[[Submission], None],
    zygotes: Zygotes | None = None,
    lanes: int = LANES,
) -> None:
    """Grade every submission of the batch; `finished` gets each receipt as soon as it is complete.

    A process that grades batch after batch may hand in the `zygotes` to use; without, they are of this run.
    `lanes` submissions are under way at a time.

    Raises:
        GradingError: the suites or the sandbox are at fault; nothing was scored by them.
        Exception: what `finished` or `started` raised, such as that a receipt cannot be kept.
        KeyboardInterrupt: the user stopped; receipts so far were handed over.
    """
    run = _Run(batch, finished, started, zygotes, lanes)
    suites = [batch.files.suite_file(batch.assignment.id, e.name) for e in batch.assignment.exercises]
    missing = [path.name for path in suites if not path.is_file()]
    if missing:
        raise GradingError(
            f"tests/suites/{batch.assignment.id} has no {', '.join(missing)}; every exercise needs a suite"
        )
    arguments = [str(path) for path in suites] + ["--noconftest", "-c", os.devnull, f"--rootdir={batch.files.root}"]
    arguments += [f"--confcutdir={path.parent}" for path in suites[:1]]  # or it looks through all folders above
    arguments += [part for name in _PLUGINS_NOT_NEEDED for part in ("-p", f"no:{name}")]
    with _quiet_environment(), _one_thread(), _suites_read_afresh(suites):
        code = pytest.main(arguments, plugins=[run.fixtures, run])
    if run.failure is not None:
        raise run.failure
    if run.error is not None:
        raise GradingError(run.error)
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) or not run.ready:
        raise GradingError("the suites could not be run; `pytest tests/suites` shows why")


@dataclass
class _Run:
    """The pytest plugin of a grading run."""

    batch: Batch
    finished: Callable[[Receipt], None]
    started: Callable[[Submission], None]
    zygotes: Zygotes | None = None
    lanes: int = LANES
    error: str | None = None
    ready: bool = False
    failure: BaseException | None = None
    _collect_errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.fixtures = Fixtures(Desk(self.batch.files, self.batch.assignment, self.batch.seed))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._collect_errors.append(f"{report.nodeid}: {_last_line(report.longreprtext)}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Instead of running every item once: run all of them for each submission."""
        problems = [*self._collect_errors, *([self.fixtures.problem] if self.fixtures.problem else [])]
        self.error = "; ".join(problems) or _points_problem(self.batch.assignment, session.items)
        if self.error is not None:
            return True
        self.ready = True
        self.error = _oracle_problem(self.fixtures.desk)
        if self.error is not None:
            return True
        grader = Grader(self.batch, self.fixtures.desk, session.items)
        gc.freeze()  # what collection built stays; looking through it again and again would cost more than the checks
        try:
            own = Zygotes(required=self.batch.required_isolation)
            with nullcontext(self.zygotes) if self.zygotes else own as zygotes:
                grade_all(grader, self.batch.submissions, self.started, self.finished, zygotes, self.lanes)
        except NotConfined as error:
            self.error = str(error)
        except SandboxError as error:
            self.error = f"the sandbox cannot be started: {error}"
        except (Exception, KeyboardInterrupt) as failure:
            self.failure = failure
        return True


def _oracle_problem(desk: Desk) -> str | None:
    """Which reference or trace file cannot be used, if any: better to know before the first submission."""
    for exercise in desk.exercises:
        try:
            desk.reference(exercise)
            if desk.files.traces(exercise).is_file():
                load_traces(desk.files.traces(exercise))
        except CourseError as error:
            return str(error)
        except Exception as error:
            return f"reference/{exercise}.py cannot be loaded: {type(error).__name__}: {error}"
    return None


def _points_problem(assignment: Assignment, items: Sequence[pytest.Item]) -> str | None:
    """What is wrong with the suites' points, if anything: 0 of 0 is an error, and so is a sum that does not fit."""
    for exercise in assignment.exercises:
        checks = [c for item in items if (c := item.stash.get(CHECK, None)) and c.exercise == exercise.name]
        if not checks:
            return f"{exercise.name} has no runnable checks in tests/suites/{assignment.id}/test_{exercise.name}.py"
        points = sum((check.points for check in checks), Fraction(0))
        if points != exercise.points:
            return f"the checks of {exercise.name} are worth {points} points, course.yml says {exercise.points}"
    return None


@contextmanager
def _suites_read_afresh(suites: Sequence[Path]) -> Iterator[None]:
    """Import these very files: this process may have read suites of the same names before."""
    before, import_path = {p.stem: sys.modules.pop(p.stem) for p in suites if p.stem in sys.modules}, list(sys.path)
    try:
        yield
    finally:
        sys.path[:] = import_path
        for path in suites:
            sys.modules.pop(path.stem, None)
        sys.modules.update(before)


@contextmanager
def _one_thread() -> Iterator[None]:
    """No threads inside torch's operators: the cores belong to the workers, and sums come out alike everywhere."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("E").strip() if lines else "cannot be collected"


@contextmanager
def _quiet_environment() -> Iterator[None]:
    """No plugins but the named ones, no options from the environment."""
    before = {key: os.environ.pop(key, None) for key in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")}
    before["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        yield
    finally:
        for key, value in before.items():
            os.environ.pop(key, None)
            if value is not None:
                os.environ[key] = value
