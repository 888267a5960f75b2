"""The exception of this stage."""

from __future__ import annotations

from autograder.course import CourseError


class QuizError(CourseError):
    """A quiz cannot be read, built or marked; the text says what to do."""
