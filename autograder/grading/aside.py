"""A file of receipts beside the record, for results that nobody has asked to keep yet."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from autograder.grading.errors import GradingError
from autograder.grading.store import FOLDER, Store

FILE = "regrade.sqlite"


def open_aside(root: Path) -> Store:
    """The file in a course's folder. It only saves time: one that cannot be read is begun anew."""
    folder = root / FOLDER
    folder.mkdir(exist_ok=True)
    url = sa.URL.create("sqlite", database=str(folder / FILE))
    try:
        return Store(url)
    except GradingError:
        forget_aside(root)
        return Store(url)


def forget_aside(root: Path) -> None:
    """Remove it."""
    for path in (root / FOLDER).glob(f"{FILE}*"):
        path.unlink()
