"""The names lab as its tests use it: its modules, a short list of names, and settings that take a moment."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import torch
from grading import ROOT

from autograder.course import CourseFiles, load_course

sys.path.insert(0, str(ROOT / "solutions/names_lab"))
from lab.runs import FAST
from lab.settings import Settings

sys.path.remove(str(ROOT / "solutions/names_lab"))

FILES = CourseFiles(ROOT)
NAMES_LAB = load_course(ROOT).assignment("names_lab")
FOLDERS = [FILES.solutions(assignment) for assignment in ("names_lab", "week08")]

SMALL = {"model_dim": 8, "num_heads": 2, "num_layers": 2, "batch_size": 4, "warmup_steps": 3, "evaluate_every": 4}
TINY = Settings(**SMALL, total_steps=12)
TINY_FAST = replace(FAST, **SMALL, total_steps=12)


def short_list(folder: Path) -> Iterator[Path]:
    """About eighty names in a file, a few of them twice; the body of a fixture `names`.

    The lab finds the solutions by sys.path, where other tests must not, so they are taken away afterwards.
    """
    threads, found = torch.get_num_threads(), [*sys.path]
    torch.set_num_threads(1)
    chosen = FILES.data("names.txt").read_text("ascii").split()[:75]
    path = folder / "short.txt"
    path.write_text("".join(f"{name}\n" for name in [*chosen, "jazzy", "quinn", "willow", *chosen[:3]]), "ascii")
    yield path
    torch.set_num_threads(threads)
    sys.path[:] = found
    for name, module in [*sys.modules.items()]:
        if Path(getattr(module, "__file__", None) or "/").parent in FOLDERS:
            del sys.modules[name]
