"""The one exception of this stage."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class CourseError(Exception):
    """A course file is missing or wrong. `str()` is what the user reads; `problems` has one sentence for each error."""

    def __init__(self, summary: str, problems: Sequence[str] = ()) -> None:
        self.problems = tuple(problems)
        super().__init__("\n  ".join([summary, *self.problems]))

    @classmethod
    def in_file(cls, path: Path, problems: Sequence[str]) -> CourseError:
        """All errors of one file, each `place inside the file: sentence`."""
        count = "1 error" if len(problems) == 1 else f"{len(problems)} errors"
        return cls(f"{path} has {count}:", problems)


def place(keys: Sequence[str | int]) -> str:
    """Where a value stands in its file: `assignments.week08.exercises[3].points`; the whole file is `file`."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)
    return text.removeprefix(".") or "file"
