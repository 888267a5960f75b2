"""Two hashes that say whether a receipt still holds: of what was handed in, and of what judges it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from autograder.course import Assignment, CourseFiles
from autograder.intake import Submission


def submission_hash(submission: Submission) -> str:
    """SHA-256 over the bytes handed in and what intake says of them (status, notes, attempt)."""
    said = repr((submission.digest, submission.status, submission.notes, submission.ignored, submission.attempt))
    return hashlib.sha256(said.encode()).hexdigest()


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
