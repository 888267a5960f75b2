"""The exceptions of this stage."""

from __future__ import annotations

from autograder.course import CourseError


class QuizError(CourseError):
    """A quiz cannot be read, built or marked; the text says what to do."""


class Rewrite(ValueError):
    """An answer that could mean two things, or nothing; the text says how to write it."""
