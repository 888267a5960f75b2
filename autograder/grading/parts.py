"""The parts of an assignment that are graded on their own, each with receipts under a name of its own:

    week08            the modules
    week08/quiz       the questions of the quiz
    week08/notebook   what the workbook itself asks: answer cells, and answers that a person reads

The name of an assignment has no slash, so a name says which part it is of.
"""

from __future__ import annotations

from dataclasses import dataclass

from autograder.grading.errors import GradingError


@dataclass(frozen=True)
class Part:
    """A kind of part: what stands behind the slash, and the words that differ from kind to kind."""

    suffix: str
    title: str
    """Behind the title of the assignment, where a page is about this part."""
    pieces: str
    """What its points are counted by."""
    command: str
    """What makes its receipts, with a place for the assignment."""

    def of(self, assignment: str) -> str:
        """What receipts of this part of an assignment are kept under."""
        return f"{assignment}/{self.suffix}" if self.suffix else assignment


MODULES = Part("", "", "Exercises", "autograder grade {} ...")
QUIZ = Part("quiz", "knowledge checks", "Sections", "autograder quiz mark {} ...")
NOTEBOOK = Part("notebook", "questions of the notebook", "Answers", "autograder nbgrade {}")


def assignment_of(name: str) -> str:
    """The assignment to which receipts of this name belong."""
    return name.partition("/")[0]


def part_of(name: str) -> Part:
    """Which part of its assignment receipts of this name are of.

    Raises:
        GradingError: no part has such a name.
    """
    for part in (MODULES, QUIZ, NOTEBOOK):
        if name == part.of(assignment_of(name)):
            return part
    whole = assignment_of(name)
    raise GradingError(f"{name} is no part of {whole}; there are {whole}, {QUIZ.of(whole)} and {NOTEBOOK.of(whole)}")


def command_for(name: str) -> str:
    """The command that makes receipts of this name. Raises as `part_of`."""
    return part_of(name).command.format(assignment_of(name))
