"""From the complete form to what students get: cut, release, and the proof that nothing leaks."""

from autograder.authoring.contents import contents
from autograder.authoring.cut import cut_hidden_tests, cut_solution
from autograder.authoring.errors import AuthoringError
from autograder.authoring.leaks import scan
from autograder.authoring.release import archive_path, release, stale

__all__ = [
    "AuthoringError",
    "archive_path",
    "contents",
    "cut_hidden_tests",
    "cut_solution",
    "release",
    "scan",
    "stale",
]
