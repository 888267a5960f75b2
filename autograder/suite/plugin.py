"""The pytest plugin of the suites: `pytest tests/suites/week08 --submission DIR` (default: the solutions).

It gives checks their fixtures, runs every call in a worker, and reports what a check found without a traceback of the
kit. A grading run (`autograder.grading.run`) registers the same fixtures and runs the checks itself.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from autograder.course import CourseError, CourseFiles, find_course, load_course
from autograder.intake import IntakeError, Submission, collect
from autograder.sandbox.host.errors import NotConfined
from autograder.sandbox.host.zygote import Zygote
from autograder.sandbox.session import Session
from autograder.sandbox.units import SessionLimits
from autograder.suite.answer import Oracle
from autograder.suite.checks import Check, SuiteError, check_of
from autograder.suite.desk import Desk, Seat
from autograder.suite.explain import trouble, verdict
from autograder.suite.faults import Fault
from autograder.suite.inputs import Inputs
from autograder.suite.student import Student
from autograder.suite.trace import Trace

CHECK = pytest.StashKey[Check]()


class Fixtures:
    """What checks can ask for. `desk` belongs to the run; the check that runs now is set before each one."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.check: Check | None = None
        self.own_parts = False
        self.problem: str | None = None

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "points(points, title): what a check is worth, and its title in plain words")
        config.addinivalue_line("markers", "narrow(why): why right answers come near the tolerance of this check")
        config.addinivalue_line("markers", "attested: the check also believes what only the student's process can say")

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Attach the check behind every item; a suite that is at fault becomes the `problem`."""
        try:
            for item in items:
                item.stash[CHECK] = check_of(item)
        except SuiteError as error:
            self.problem = str(error)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """A check begins: its own clock, seed and calls."""
        self.check = item.stash[CHECK]
        self.own_parts = "own" in getattr(item, "fixturenames", ())
        self.desk.begin(self.check)

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self) -> Generator[None, object, object]:
        """A fault of something that was left for later belongs to the check that left it."""
        result = yield
        self.desk.settle()
        return result

    @pytest.fixture
    def student(self) -> Student:
        """The student's module of this exercise, on stand-ins for what it builds on."""
        return self.desk.student(self._check.exercise)

    @pytest.fixture
    def own(self) -> Student:
        """The student's module of this exercise, on the student's own earlier parts."""
        return self.desk.student(self._check.exercise, own=True)

    @pytest.fixture
    def rig(self) -> Student:
        """The spies of this exercise, in the same process as the student's module."""
        return self.desk.rig(self._check.exercise, own=self.own_parts)

    @pytest.fixture
    def reference(self) -> Oracle:
        """The oracle of this exercise, float64."""
        return self.desk.reference(self._check.exercise)

    @pytest.fixture
    def rng(self) -> Inputs:
        """Fresh random inputs, from the run's seed and the check's name."""
        return self.desk.inputs(self._check)

    @pytest.fixture
    def trace(self) -> Callable[[str], Trace]:
        """Worked examples of the course text, by id."""
        exercise = self._check.exercise
        return lambda entry: self.desk.trace(exercise, entry)

    @property
    def _check(self) -> Check:
        assert self.check is not None
        return self.check


class OneSubmission(Fixtures):
    """A plain pytest run over one submission: a zygote of its own, and reports in words."""

    def __init__(self, desk: Desk, submission: Submission) -> None:
        super().__init__(desk)
        self.submission = submission

    def pytest_report_header(self) -> str:
        return (
            f"checking {self.submission.student}, seed {self.desk.seed} (--seed {self.desk.seed} draws the same inputs)"
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        if self.problem is not None:
            raise pytest.UsageError(self.problem)
        with Zygote() as zygote:
            try:
                zygote.must_have_scratch_for(self.desk.with_scratch)
            except NotConfined as error:
                raise pytest.UsageError(str(error)) from None
            sources = {name: file.content for name, file in self.submission.files.items()}
            with Session(zygote, SessionLimits(**self.desk.limits.model_dump())) as session:
                self.desk.take(Seat(session, sources))
                return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """A fault of the student's code is reported in words; a traceback is left for faults of the suite."""
        report = yield
        if call.excinfo is not None and isinstance(call.excinfo.value, Fault):
            found = verdict(call.excinfo.value, self.desk.calls, public=True)
            report.longrepr = f"{item.stash[CHECK].title}\n{found.outcome}: {found.message}"
        elif call.excinfo is not None:
            report.sections.append(("grader trouble", trouble(call.excinfo.value)))
        return report


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("course kit")
    group.addoption("--submission", metavar="DIR", help="submission to check (default: the solutions)")
    group.addoption("--seed", type=int, metavar="N", help="seed of all random inputs (default: a new one)")


def pytest_collection(session: pytest.Session) -> None:
    """In a plain run: find the assignment that the suites on the command line belong to, and the submission."""
    config = session.config
    if config.pluginmanager.has_plugin("fixtures of the suites"):
        return
    try:
        fixtures = _one_submission(config)
    except (CourseError, IntakeError) as error:
        raise pytest.UsageError(str(error)) from None
    config.pluginmanager.register(fixtures, "fixtures of the suites")


def _one_submission(config: pytest.Config) -> OneSubmission:
    suite = _suite_folder(config)
    root = find_course(suite).parent
    assignment = load_course(root).assignment(suite.name)
    seed = config.getoption("--seed")
    desk = Desk(CourseFiles(root), assignment, secrets.randbelow(2**31) if seed is None else seed)
    folder = Path(config.getoption("--submission") or desk.files.solutions(assignment.id))
    submissions = collect([folder], list(desk.exercises), assignment.id)
    if len(submissions) != 1:
        raise pytest.UsageError(f"--submission {folder}: holds {len(submissions)} submissions, give one")
    return OneSubmission(desk, submissions[0])


def _suite_folder(config: pytest.Config) -> Path:
    """tests/suites/<assignment>, from the first argument below it."""
    for argument in config.args:
        path = Path(str(argument).partition("::")[0]).absolute()
        for folder in (path, *path.parents):
            if folder.parent.name == "suites":
                return folder
    raise pytest.UsageError("run one assignment's suites at a time: pytest tests/suites/week08")
