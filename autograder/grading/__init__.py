"""Grading: run a batch through one pytest session, score it, and keep a receipt of every submission."""

from autograder.grading.errors import GradingError
from autograder.grading.receipt import CheckResult, Receipt

__all__ = ["CheckResult", "GradingError", "Receipt"]
