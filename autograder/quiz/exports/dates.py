"""When each flash card changed last, `reference/cards/<assignment>.json`: card -> digest of its content, and a time.

Anki replaces a note only by one that is younger, and takes any younger one for changed. So a card must keep its time
until its content changes, on every machine: the export writes the record, and it is kept with the course.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from autograder.quiz.errors import QuizError


@dataclass(frozen=True)
class Dated:
    """A card's content, as a digest, and the time of its last change in seconds since 1970."""

    digest: str
    changed: int


def dated(contents: Mapping[str, Sequence[str]], before: Mapping[str, Dated], now: int) -> dict[str, Dated]:
    """The record for these cards: what is as it was keeps its time, what is new or different gets `now`."""
    found = {}
    for card, content in contents.items():
        digest = hashlib.sha256("\0".join(content).encode()).hexdigest()[:16]
        old = before.get(card)
        if old and old.digest == digest:
            found[card] = old
        else:
            found[card] = Dated(digest, max(now, old.changed + 1) if old else now)
    return found


def read_dates(path: Path) -> dict[str, Dated]:
    """The record in a file; empty where there is none. Raises QuizError."""
    if not path.is_file():
        return {}
    try:
        entries = json.loads(path.read_text("utf-8"))
        return {
            str(card): Dated(str(entry["digest"]), int(datetime.fromisoformat(entry["changed"]).timestamp()))
            for card, entry in entries.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        raise QuizError(f"{path} cannot be read; restore it, or delete it so that all cards count as new") from None


def write_dates(path: Path, record: Mapping[str, Dated]) -> None:
    """Raises OSError."""
    lines = {
        card: {"digest": entry.digest, "changed": datetime.fromtimestamp(entry.changed, UTC).isoformat()}
        for card, entry in sorted(record.items())
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(lines, indent=1) + "\n", "utf-8")
