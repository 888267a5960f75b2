"""The bridge of Week 8 as its tests run it: in a student's folder, in this process, on modules of which some are wrong."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from grading import EXERCISES, ROOT, solution

from autograder.course import CourseFiles

FILES = CourseFiles(ROOT)
OURS = ("week08_bridge", "bridge_mine", "bridge_pages", "bridge_weights", "selfcheck")
"""How the modules begin that it brings into this process."""

Run = Callable[..., tuple[int, str, str]]
"""Runs the program with these arguments: exit code, output and what went to the error stream."""


def students_folder(parent: Path) -> Path:
    """A student's folder with untouched stubs, and the examples as their sources are now."""
    folder = parent / "week08"
    shutil.copytree(FILES.stubs("week08"), folder, ignore=shutil.ignore_patterns("examples", "__pycache__"))
    shutil.copytree(FILES.examples("week08"), folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def imported(bundle: Path) -> Iterator[ModuleType]:
    """The program of this folder in this process; the body of a fixture `bridge`."""
    before = list(sys.path)
    sys.path.insert(0, str(bundle / "examples"))
    yield import_module("week08_bridge")
    sys.path[:] = before
    for name in [name for name in sys.modules if name.startswith(OURS)]:
        del sys.modules[name]


def runner(bridge: ModuleType, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: object) -> tuple[int, str, str]:
        try:
            code = bridge.main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code
        told = capsys.readouterr()
        assert "Traceback" not in told.out + told.err
        return code, told.out, told.err

    return run


def write_modules(folder: Path, changed: dict[str, str | None]) -> Path:
    """Have the solutions in this folder, but for those given (None: missing)."""
    for name in EXERCISES:
        text = changed.get(name, solution(name))
        if text is not None:
            (folder / f"{name}.py").write_text(text, "utf-8")
    return folder


def flat(text: str) -> str:
    """The text without its line breaks."""
    return " ".join(text.split())


def steps_of(output: str) -> list[str]:
    """The output in one part for each step."""
    return re.split(r"^(?=Step \d of )", output, flags=re.MULTILINE)[1:]
