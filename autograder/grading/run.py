"""Grade a batch: one pytest session collects the suites once and runs their checks for submission after submission."""

from __future__ import annotations

import gc
import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import pytest

from autograder import __version__
from autograder.course import Assignment, CourseFiles
from autograder.grading.errors import GradingError
from autograder.grading.receipt import GRADED, GRADER_TROUBLE, CheckResult, Receipt
from autograder.grading.store import now
from autograder.grading.hashes import submission_hash, suite_hash
from autograder.intake import Submission
from autograder.sandbox.host import SandboxError, Zygote
from autograder.sandbox.session import Session, SessionLimits
from autograder.suite.checks import Check
from autograder.suite.desk import Desk
from autograder.suite.explain import Verdict, trouble, verdict
from autograder.suite.plugin import CHECK, Fixtures

ISOLATION = "process only"
"""What stands between student code and the machine: a process of its own with limits."""

MOST_FAILURES = 3
"""So many submissions in a row under which the sandbox failed are no accident; the run stops."""

_PLUGINS_NOT_NEEDED = """terminal cacheprovider logging junitxml pastebin faulthandler stepwise setuponly setupplan doctest unittest
skipping warnings capture debugging threadexception unraisableexception legacypath""".split()


@dataclass(frozen=True)
class Batch:
    """What is graded, and how."""

    files: CourseFiles
    course: str
    assignment: Assignment
    submissions: Sequence[Submission]
    seed: int
    shared_workers: bool = True


def grade(batch: Batch, finished: Callable[[Receipt], None], started: Callable[[Submission], None]) -> None:
    """Grade every submission of the batch; `finished` gets each receipt as soon as it is complete.

    Raises:
        GradingError: the suites or the sandbox are at fault; nothing was scored by them.
        Exception: what `finished` or `started` raised, such as that a receipt cannot be kept.
        KeyboardInterrupt: the user stopped; receipts so far were handed over.
    """
    run = _Run(batch, finished, started)
    suites = [batch.files.suite_file(batch.assignment.id, e.name) for e in batch.assignment.exercises]
    missing = [path.name for path in suites if not path.is_file()]
    if missing:
        raise GradingError(f"tests/suites/{batch.assignment.id} has no {', '.join(missing)}; every exercise needs a suite")
    arguments = [str(path) for path in suites] + ["--noconftest", "-c", os.devnull, f"--rootdir={batch.files.root}"]
    arguments += [part for name in _PLUGINS_NOT_NEEDED for part in ("-p", f"no:{name}")]
    with _quiet_environment(), _suites_read_afresh(suites):
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
    error: str | None = None
    ready: bool = False
    failure: BaseException | None = None
    _failures: int = 0
    _collect_errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.desk = Desk(self.batch.files, self.batch.assignment, self.batch.seed)
        self.fixtures = Fixtures(self.desk)
        self.limits = SessionLimits(**self.batch.assignment.limits.model_dump())
        self.torch_version = "unknown"

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
        self.suite_hash = suite_hash(self.batch.files, self.batch.assignment)
        order = {e.name: i for i, e in enumerate(self.batch.assignment.exercises)}
        items = sorted(session.items, key=lambda item: (order[item.stash[CHECK].exercise], _uses_own_parts(item)))
        gc.freeze()  # what collection built stays; looking through it again and again would cost more than the checks
        try:
            self._all_submissions(items)
        except SandboxError as error:
            self.error = f"the sandbox failed for {MOST_FAILURES} submissions in a row: {error}"
        except (Exception, KeyboardInterrupt) as failure:
            self.failure = failure
        return True

    def _all_submissions(self, items: Sequence[pytest.Item]) -> None:
        with _Zygotes() as zygotes:
            for submission in self.batch.submissions:
                self.started(submission)
                self.finished(self._graded(zygotes, submission, items))

    def _graded(self, zygotes: _Zygotes, submission: Submission, items: Sequence[pytest.Item]) -> Receipt:
        """Its receipt. When the sandbox fails under it, a second attempt; then it is left to a human."""
        for _ in range(2):
            try:
                receipt = self._one_submission(zygotes.get(), submission, items)
            except SandboxError as error:
                zygotes.renew()
                failure = error
            else:
                self._failures = 0
                return receipt
        self._failures += 1
        if self._failures == MOST_FAILURES:
            raise failure
        results = tuple(_result(item.stash[CHECK], verdict(failure, (), public=False), failure, 0.0) for item in items)
        return replace(self._receipt(submission, Session(zygotes.get(), self.limits)), checks=results)

    def _one_submission(self, zygote: Zygote, submission: Submission, items: Sequence[pytest.Item]) -> Receipt:
        begun = time.perf_counter()
        session = Session(zygote, self.limits, shared=self.batch.shared_workers)
        self.torch_version = zygote.report["torch"]
        self.desk.seat(session, {name: file.content for name, file in submission.files.items()})
        try:
            results = tuple(self._one_check(item, items[(i + 1) % len(items)]) for i, item in enumerate(items))
        finally:
            session.close()
        return replace(
            self._receipt(submission, session),
            checks=results,
            seconds=round(time.perf_counter() - begun, 4),
        )

    def _one_check(self, item: pytest.Item, following: pytest.Item) -> CheckResult:
        check = item.stash[CHECK]
        begun = time.perf_counter()
        raised = _run_item(item, following)
        seconds = time.perf_counter() - begun
        if isinstance(raised, (KeyboardInterrupt, SandboxError)):
            raise raised
        return _result(check, verdict(raised, self.desk.calls, public=check.public), raised, seconds)

    def _receipt(self, submission: Submission, session: Session) -> Receipt:
        own = [f"{exercise}.py: {note}" for exercise, notes in session.notes.items() for note in notes]
        outputs = {e.name: session.output(e.name) for e in self.batch.assignment.exercises}
        return Receipt(
            course=self.batch.course,
            assignment=self.batch.assignment.id,
            student=submission.student,
            name=submission.name,
            status=GRADED if submission.status == "ready" else submission.status,
            submission_hash=submission_hash(submission),
            suite_hash=self.suite_hash,
            kit_version=__version__,
            seed=self.batch.seed,
            torch_version=self.torch_version,
            isolation=ISOLATION,
            graded_at=now(),
            seconds=0.0,
            notes=(*submission.notes, *own),
            ignored=submission.ignored,
            files={
                name: f"{file.path} sha256:{hashlib.sha256(file.content).hexdigest()[:16]}"
                for name, file in submission.files.items()
            },
            attempt=submission.attempt,
            output={exercise: text for exercise, text in outputs.items() if text},
            flags={exercise: tuple(changed) for exercise, changed in session.changes.items()},
        )


class _Zygotes:
    """The zygote of a run; a fresh one after it failed."""

    def __init__(self) -> None:
        self._current: Zygote | None = None

    def __enter__(self) -> _Zygotes:
        return self

    def __exit__(self, *_: object) -> None:
        self.renew()

    def get(self) -> Zygote:
        """The running zygote; started when it is first needed."""
        self._current = self._current or Zygote()
        return self._current

    def renew(self) -> None:
        """Close it; the next `get` starts another."""
        if self._current is not None:
            self._current.close()
        self._current = None


def _run_item(item: pytest.Item, following: pytest.Item) -> BaseException | None:
    """Set up, call and tear down one item as pytest would, and return what it raised. No report is made of it."""
    item._initrequest()  # type: ignore[attr-defined]  # fresh fixtures, as a rerun of a test needs them
    raised: BaseException | None = None
    try:
        item.ihook.pytest_runtest_setup(item=item)
        item.ihook.pytest_runtest_call(item=item)
    except BaseException as error:
        raised = error
    try:
        item.ihook.pytest_runtest_teardown(item=item, nextitem=following)
    except BaseException as error:
        raised = raised or error
    return raised


def _result(check: Check, found: Verdict, raised: BaseException | None, seconds: float) -> CheckResult:
    return CheckResult(
        id=check.id,
        exercise=check.exercise,
        title=check.title,
        public=check.public,
        points=check.points,
        outcome=found.outcome,
        earned=check.points * Fraction(str(found.share)),
        message=found.message,
        trouble=trouble(raised) if found.outcome == GRADER_TROUBLE and raised is not None else "",
        seconds=round(seconds, 5),
    )


def _uses_own_parts(item: pytest.Item) -> bool:
    return "own" in getattr(item, "fixturenames", ())


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
