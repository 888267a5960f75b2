"""For the workbook: `check("layer_norm")` runs the public checks of one exercise in the notebook's own process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1]


class NotYet(AssertionError):
    """Some public checks do not pass."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows in place of a traceback, which would lead into this file and explain nothing."""
        return [f"{type(self).__name__}: {self}"]


def check(exercise: str) -> None:
    """Run the public checks of an exercise on the file in this folder, and print what they found.

    Raises:
        NotYet: some do not pass.
        ValueError: there is no such exercise here.
    """
    suite = FOLDER / f"test_{exercise}.py"
    if not suite.is_file():
        raise ValueError(f"there is no exercise {exercise} here; its checks would be in {suite.name}")
    sys.stdout.flush()
    code = pytest.main([str(suite), "-q", "--no-header", "-p", "no:cacheprovider", f"--rootdir={FOLDER}"])
    if code != pytest.ExitCode.OK:
        raise NotYet(f"{exercise}: not all public checks pass; what they found stands above") from None
