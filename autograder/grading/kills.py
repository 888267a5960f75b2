"""Which checks a mistake fails, as it was found when the checks were proved: `reference/kills/<exercise>.json`.

With it a diagnosis looks only at mistakes that can be behind the checks that failed. The file is written by
`autograder verify`; one that was written for other sources says nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from autograder.course import Assignment, CourseFiles


@dataclass(frozen=True)
class Kill:
    """Ids of the checks that a mistake fails `always`, and those it fails with some inputs only."""

    always: frozenset[str]
    sometimes: frozenset[str] = frozenset()

    @property
    def any(self) -> frozenset[str]:
        """Those it ever fails."""
        return self.always | self.sometimes

    def may_be_behind(self, failed: frozenset[str], passed: frozenset[str]) -> bool:
        """Can a submission that fared so have this mistake?"""
        return not self.always & passed and bool(self.any & failed)

    def distance(self, failed: frozenset[str]) -> int:
        """How many checks fared otherwise than they would with this mistake alone."""
        return len(self.always - failed) + len(failed - self.always - self.sometimes)


def load_kills(files: CourseFiles, assignment: Assignment, exercise: str) -> Mapping[str, Kill] | None:
    """The kills by mistake; None where none were noted, or the sources have changed since."""
    try:
        found = json.loads(files.kills(exercise).read_text("utf-8"))
        if found["sources"] != sources_digest(files, assignment, exercise):
            return None
        checks = [f"{exercise}::{name}" for name in found["checks"]]
        return {
            mistake: Kill(*(frozenset(checks[i] for i in numbers) for numbers in row))
            for mistake, row in found["mistakes"].items()
        }
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        return None


def unproved(files: CourseFiles, assignment: Assignment) -> list[str]:
    """Exercises that have mistakes, none of which can be named now."""
    names = [exercise.name for exercise in assignment.exercises if files.mistakes(exercise.name).is_file()]
    return [name for name in names if load_kills(files, assignment, name) is None]


def kills_text(
    files: CourseFiles, assignment: Assignment, exercise: str, checks: list[str], kills: Mapping[str, Kill]
) -> str:
    """The file's text for these kills."""
    number = {check: i for i, check in enumerate(checks)}
    head = {
        "sources": sources_digest(files, assignment, exercise),
        "checks": [check.partition("::")[2] for check in checks],
    }
    rows = ",\n".join(
        f"  {json.dumps(mistake)}: {[sorted(number[c] for c in part) for part in (kill.always, kill.sometimes)]}"
        for mistake, kill in kills.items()
    )
    lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items())
    return f'{{\n{lines},\n "mistakes": {{\n{rows}\n }}\n}}\n'


def sources_digest(files: CourseFiles, assignment: Assignment, exercise: str) -> str:
    """SHA-256 over all that decides which checks a mistake of this exercise fails."""
    paths = [
        files.suite_file(assignment.id, exercise),
        files.rig(assignment.id, exercise),
        files.reference(exercise),
        files.traces(exercise),
        files.mistakes(exercise),
        files.solution(assignment.id, exercise),
        *(files.stand_in(name) for name in sorted(assignment.all_needs(exercise))),
    ]
    digest = hashlib.sha256()
    for path in paths:
        content = path.read_bytes() if path.is_file() else b""
        digest.update(f"{path.name}:{len(content)}:".encode() + content)
    return digest.hexdigest()
