"""The hash of what judges a submission; with that of the submission itself it says whether a receipt still holds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from autograder.course import Assignment, CourseFiles


def suite_hash(files: CourseFiles, assignment: Assignment) -> str:
    """SHA-256 over suites, rigs, references, traces, stand-ins, mistakes, and the course's points, limits and needs."""
    digest = hashlib.sha256(repr((assignment.id, assignment.limits, assignment.exercises)).encode())
    for path in _deciding_files(files, assignment):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(files.root).as_posix()}:{len(content)}:".encode() + content)
    return digest.hexdigest()


def _deciding_files(files: CourseFiles, assignment: Assignment) -> Iterator[Path]:
    for exercise in assignment.exercises:
        candidates = (
            files.suite_file(assignment.id, exercise.name),
            files.rig(assignment.id, exercise.name),
            files.reference(exercise.name),
            files.traces(exercise.name),
            files.stand_in(exercise.name),
            files.mistakes(exercise.name),
        )
        yield from (path for path in candidates if path.is_file())
