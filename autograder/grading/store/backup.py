"""A copy of an SQLite store before it is changed for good."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from autograder.grading.errors import GradingError
from autograder.grading.store.database import meaning


def back_up(path: Path, revision: str) -> Path:
    """Copy the store beside itself, also while others use it, and check the copy. Returns its path.

    Raises:
        GradingError: it cannot be copied, for example because the disk is full; nothing of it stays.
    """
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    copy = path.with_name(f"{path.stem}-{revision}-{moment}{path.suffix}")
    unfinished = copy.with_name(f".{copy.name}")
    try:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(unfinished)) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")  # the copy is one file
            shutil.copymode(path, unfinished)
            (found,) = target.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise sqlite3.DatabaseError(f"malformed: {found.splitlines()[0]}")
        os.replace(unfinished, copy)
    except (sqlite3.Error, OSError) as error:
        unfinished.unlink(missing_ok=True)
        raise GradingError(
            f"the receipts at {path} are of an older kit, and no backup could be made before they are changed: "
            f"{meaning(error)}"
        ) from None
    return copy
