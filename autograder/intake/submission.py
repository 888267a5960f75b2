"""What intake hands on: one `Submission` per student, holding bytes and never running them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

Status = Literal["ready", "not submitted", "unreadable", "needs attention"]


class IntakeError(ValueError):
    """Staff gave something that cannot be collected from (a bad roster, a path that is not there)."""


@dataclass(frozen=True)
class HandedIn:
    """One exercise file as it arrived.

    `path` is the name it was handed in under, relative and safe to print; `content` is unchanged.
    """

    exercise: str
    path: str
    content: bytes = field(repr=False)


@dataclass(frozen=True)
class Submission:
    """What one student handed in for one assignment.

    `files` maps exercise names to the files that can be graded; an exercise that is missing, unreadable or
    ambiguous is absent and has a note. All text in here is printable and can be written as UTF-8.

    `attempt` is the time in the name it was filed under, as it stands there. `handed_in` is when it was handed in, ISO
    text with a time zone, None where nobody knows; `handed_in_remark` is what an instructor should know of that.
    """

    student: str
    name: str | None = None
    files: Mapping[str, HandedIn] = field(default_factory=dict)
    status: Status = "not submitted"
    notes: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    attempt: str | None = None
    handed_in: str | None = None
    handed_in_remark: str = ""

    @cached_property
    def digest(self) -> str:
        """SHA-256 over exercise names and bytes; file times, paths and order do not count."""
        digest = hashlib.sha256()
        for exercise in sorted(self.files):
            for part in (exercise.encode(), self.files[exercise].content):
                digest.update(len(part).to_bytes(8, "big") + part)
        return digest.hexdigest()
