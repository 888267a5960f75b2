"""The names lab as its tests use it: its modules, a short list of names, and settings that take a moment."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from grading import ROOT

from autograder.course import CourseFiles, load_course

FILES = CourseFiles(ROOT)
NAMES_LAB = load_course(ROOT).assignment("names_lab")
FOLDERS = [FILES.solutions(assignment) for assignment in ("names_lab", "week08")]

sys.path.insert(0, str(FOLDERS[0]))
from lab.runs import FAST  # noqa: E402
from lab.settings import Settings  # noqa: E402

sys.path.remove(str(FOLDERS[0]))

SMALL = {"model_dim": 8, "num_heads": 2, "num_layers": 2, "batch_size": 4, "warmup_steps": 3, "evaluate_every": 4}
TINY = Settings(**SMALL, total_steps=12)
TINY_FAST = replace(FAST, **SMALL, total_steps=12)


@pytest.fixture(scope="module", autouse=True)
def one_thread_and_no_traces() -> Iterator[None]:
    """The lab finds the solutions by sys.path; other tests must not."""
    threads, path = torch.get_num_threads(), [*sys.path]
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    sys.path[:] = path
    for name, module in [*sys.modules.items()]:
        if Path(getattr(module, "__file__", None) or "/").parent in FOLDERS:
            del sys.modules[name]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """About eighty names, a few of them twice."""
    chosen = FILES.data("names.txt").read_text("ascii").split()[:75]
    path = tmp_path_factory.mktemp("list") / "short.txt"
    path.write_text("".join(f"{name}\n" for name in [*chosen, "jazzy", "quinn", "willow", *chosen[:3]]), "ascii")
    return path
