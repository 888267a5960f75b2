"""The pytest plugin of the suites: `pytest tests/suites/week08 --submission DIR` (default: the solutions).

It gives checks their fixtures, runs every call in a worker, and reports what a check found without a traceback of the
kit. A grading run (`autograder.grading.run`) uses the same fixtures for submission after submission.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from autograder.course import CourseFiles, find_course, load_course
from autograder.sandbox.host import Zygote
from autograder.sandbox.session import Session, SessionLimits
from autograder.suite.checks import Check, SuiteError, check_of
from autograder.suite.desk import Desk
from autograder.suite.explain import trouble, verdict
from autograder.suite.faults import Fault
from autograder.suite.inputs import Inputs
from autograder.suite.student import Student
from autograder.suite.trace import Trace

DESK = pytest.StashKey[Desk]()
CHECK = pytest.StashKey[Check]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("course kit")
    group.addoption("--submission", metavar="DIR", help="folder to check (default: the solutions)")
    group.addoption("--seed", type=int, metavar="N", help="seed of all random inputs (default: a new one)")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "points(points, title): what a check is worth, and its title in plain words")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Attach the check behind every item."""
    try:
        for item in items:
            if "student" in getattr(item, "fixturenames", ()) or item.get_closest_marker("points"):
                item.stash[CHECK] = check_of(item)
    except SuiteError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_report_header(config: pytest.Config) -> str | None:
    return f"seed {config.stash[DESK].seed}" if DESK in config.stash else None


@pytest.fixture(scope="session")
def desk(request: pytest.FixtureRequest) -> Generator[Desk]:
    """The desk of the grading run, or of this plain pytest run over one submission."""
    if DESK in request.config.stash:
        yield request.config.stash[DESK]
        return
    suite = Path(request.session.items[0].path).parent
    seed = request.config.getoption("--seed")
    desk = make_desk(suite, secrets.randbelow(2**31) if seed is None else seed)
    print(f"\nseed {desk.seed}")
    folder = request.config.getoption("--submission") or desk.files.solutions(desk.assignment)
    sources = {n: p.read_bytes() for n in desk.exercises if (p := Path(folder) / f"{n}.py").is_file()}
    with Zygote() as zygote:
        session = Session(zygote, limits_of(desk))
        desk.seat(session, sources)
        yield desk
        session.close()


def make_desk(suite: Path, seed: int) -> Desk:
    """A desk for the suite in this folder, found in its course."""
    root = find_course(suite).parent
    course = load_course(root)
    return Desk(CourseFiles(root), course.assignment(suite.name), seed)


def limits_of(desk: Desk) -> SessionLimits:
    """The limits that the course sets for this assignment."""
    return SessionLimits(**desk.limits.model_dump())


@pytest.fixture
def check(request: pytest.FixtureRequest, desk: Desk) -> Check:
    """The check that runs now; using it starts its clock."""
    found: Check = request.node.stash[CHECK]
    desk.begin(found)
    return found


@pytest.fixture
def student(desk: Desk, check: Check) -> Student:
    """The student's module of this exercise, on stand-ins for what it builds on."""
    return desk.student(check.exercise)


@pytest.fixture
def own(desk: Desk, check: Check) -> Student:
    """The student's module of this exercise, on the student's own earlier parts."""
    return desk.student(check.exercise, own=True)


@pytest.fixture
def rig(request: pytest.FixtureRequest, desk: Desk, check: Check) -> Student:
    """The spies of this exercise, in the same process as the student's module."""
    return desk.rig(check.exercise, own="own" in request.fixturenames)


@pytest.fixture
def reference(desk: Desk, check: Check) -> ModuleType:
    """The oracle of this exercise, float64."""
    return desk.reference(check.exercise)


@pytest.fixture
def rng(desk: Desk, check: Check) -> Inputs:
    """Fresh random inputs, from the run's seed and the check's name."""
    return desk.inputs(check)


@pytest.fixture
def trace(desk: Desk, check: Check) -> Callable[[str], Trace]:
    """Worked examples of the course text, by id."""
    return lambda entry: desk.trace(check.exercise, entry)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, pytest.TestReport, Any]:
    """A fault of the student's code is reported in words; a traceback is left for faults of the suite."""
    report = yield
    if call.excinfo is not None and CHECK in item.stash:
        check, calls = item.stash[CHECK], item.funcargs["desk"].calls if "desk" in getattr(item, "funcargs", {}) else []
        if isinstance(call.excinfo.value, Fault):
            found = verdict(call.excinfo.value, calls, public=True)
            report.longrepr = f"{check.title}\n{found.outcome}: {found.message}"
        else:
            report.sections.append(("grader trouble", trouble(call.excinfo.value)))
    return report
