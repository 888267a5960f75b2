"""A pytest plugin: the suites on a submission in the same process, as a plain `pytest` subprocess would grade it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from floor import Bare, Floor

from autograder.course import CourseFiles, load_course
from autograder.intake import HandedIn, Submission
from autograder.suite.checks import Check
from autograder.suite.desk import Seat


@pytest.fixture(scope="session")
def plain() -> tuple[Floor, Submission]:
    root, folder = Path(os.environ["BENCH_COURSE"]), Path(os.environ["BENCH_SUBMISSION"])
    assignment = load_course(root).assignment("week08")
    files = {e.name: HandedIn(e.name, "", (folder / f"{e.name}.py").read_bytes()) for e in assignment.exercises}
    floor = Floor(CourseFiles(root), assignment, seed=1)
    submission = Submission("s", None, files, "ready")
    floor.desk.take(Seat(None, {name: file.content for name, file in files.items()}))  # type: ignore[arg-type]  # only its sources and stand-ins are used
    return floor, submission


@pytest.fixture
def module(request: pytest.FixtureRequest, plain: tuple[Floor, Submission]):
    floor, submission = plain
    exercise = request.path.stem.removeprefix("test_")
    sources = {name: file.content for name, file in submission.files.items()}
    return lambda own: floor._modules(exercise, sources, own)


@pytest.fixture
def student(request: pytest.FixtureRequest, module):
    return Bare(module(False)[request.path.stem.removeprefix("test_")])


@pytest.fixture
def own(request: pytest.FixtureRequest, module):
    return Bare(module(True)[request.path.stem.removeprefix("test_")])


@pytest.fixture
def rig(request: pytest.FixtureRequest, module):
    return Bare(module(False)[f"rig_{request.path.stem.removeprefix('test_')}"])


@pytest.fixture
def reference(request: pytest.FixtureRequest, plain):
    return plain[0].desk.reference(request.path.stem.removeprefix("test_"))


@pytest.fixture
def trace(request: pytest.FixtureRequest, plain):
    return lambda entry: plain[0].desk.trace(request.path.stem.removeprefix("test_"), entry)


@pytest.fixture
def rng(request: pytest.FixtureRequest, plain):
    exercise = request.path.stem.removeprefix("test_")
    return plain[0].desk.inputs(Check(f"{exercise}::{request.node.name}", exercise, "", None, True))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "points(points, title): what a check is worth")
