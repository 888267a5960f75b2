"""Runs the public checks on the files in this folder and reports what they found. Not part of what you hand in."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

if (here := str(Path(__file__).resolve().parent)) not in sys.path:
    sys.path.append(here)  # last, so that no file here hides a library

from autograder.authoring.bundle.board import Board
from autograder.authoring.bundle.told import told
from autograder.suite.faults import Fault
from autograder.suite.inputs import Inputs, stream_seed
from autograder.suite.local import LocalTransport
from autograder.suite.student import Call, Student
from autograder.suite.trace import Trace, make_trace

FOLDER = Path(__file__).resolve().parent
BOARD = pytest.StashKey[Board]()
CALLS = pytest.StashKey[list[Call]]()
NOTES = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    with suppress(ValueError):  # another assignment's folder, checked in the same run, has added it
        parser.addoption("--inputs", type=int, metavar="N", help="draw the random inputs of run N again")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "points(points, title): what a check is worth, and its title in plain words")
    config.addinivalue_line("markers", "narrow(why): why right answers come near the tolerance of this check")
    config.addinivalue_line("markers", "attested: the check also believes what only your process can say")
    asked = config.getoption("--inputs", None)
    board = Board(FOLDER, int.from_bytes(os.urandom(3), "big") if asked is None else asked)
    config.option.inputs = board.seed  # so that the processes of a run in parallel draw the same
    config.stash[BOARD] = board
    config.pluginmanager.register(board)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In the order of the exercises, which build on each other."""
    order = list(config.stash[BOARD].exercises)
    mine = [item for item in items if _exercise(item) in order and item.path.parent == FOLDER]
    if len(mine) == len(items):
        items.sort(key=lambda item: order.index(_exercise(item)))


@pytest.fixture
def transport(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Generator[LocalTransport, None, None]:
    """The modules of this folder, read anew for each check."""
    if request.config.getoption("capture") != "no":
        monkeypatch.setattr(sys, "stdin", io.StringIO())  # as under grading: nobody is there to answer
    calls = request.node.stash.setdefault(CALLS, [])
    calls.clear()
    seed = stream_seed(request.config.stash[BOARD].seed, f"{request.node.name}/student") % 2**31
    exercise = _exercise(request.node)
    found = LocalTransport(FOLDER, exercise, seed, request.config.stash[BOARD].forbidden.get(exercise, ()))
    request.node.stash[NOTES] = [note.replace(f"{FOLDER}{os.sep}", "") for note in found.notes]
    yield found
    found.close()


@pytest.fixture
def student(request: pytest.FixtureRequest, transport: LocalTransport) -> Student:
    """The module of the exercise that the check belongs to."""
    return Student(transport, transport.module, request.node.stash[CALLS])


@pytest.fixture
def own(student: Student) -> Student:
    """The same; here an exercise always runs on your own earlier parts."""
    return student


@pytest.fixture
def rig(request: pytest.FixtureRequest, transport: LocalTransport) -> Student:
    """Models and other parts that a check brings along."""
    found = transport.rig(FOLDER / "rigs" / f"{transport.module}.py")
    found.calls = request.node.stash[CALLS]
    return found


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> Inputs:
    """Random inputs, other ones in each run."""
    return Inputs(stream_seed(request.config.stash[BOARD].seed, request.node.name))


@pytest.fixture
def trace(request: pytest.FixtureRequest) -> Callable[[str], Trace]:
    """Worked examples of the course text, by id."""
    return partial(_trace, request.config.stash[BOARD].traces[_exercise(request.node)])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, pytest.TestReport]:
    """Say in words what a check found; leave a result for the table."""
    marker, found = item.get_closest_marker("points"), call.excinfo
    error = found.value if found else None
    if isinstance(error, Fault):  # pytest would format a traceback, which takes longer than the check
        call.excinfo = pytest.ExceptionInfo.from_exception(_short(error))
    report: pytest.TestReport = yield
    call.excinfo = found
    if marker is None or report.skipped or (call.when != "call" and error is None):
        return report
    calls: list[Call] = item.stash.get(CALLS, [])
    result, text = told(error, calls, FOLDER)
    if text:
        report.longrepr = f"{marker.args[1]}\n\n{text}"
    notes = item.stash.get(NOTES, [])
    record = {"exercise": _exercise(item), "points": str(marker.args[0]), "notes": notes, **result}
    report.self_check = record  # type: ignore[attr-defined]  # pytest-xdist takes it along
    return report


def _short(fault: Fault) -> BaseException:
    """A failure that pytest shows without a traceback."""
    return pytest.fail.Exception(str(fault), pytrace=False).with_traceback(fault.__traceback__)


def _exercise(item: pytest.Item) -> str:
    return item.path.stem.removeprefix("test_")


def _trace(entries: dict[str, Any], name: str) -> Trace:
    return make_trace(entries[name])
