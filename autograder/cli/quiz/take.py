"""`autograder quiz take`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from autograder.authoring.bundle.questions import QuizTrouble, load_quiz
from autograder.authoring.bundle.quiz import take
from autograder.cli.setting import Setting
from autograder.quiz.answers_file import AnswersTrouble
from autograder.quiz.bank import has_quiz, load_bank
from autograder.quiz.errors import QuizError
from autograder.quiz.practice import explained
from autograder.quiz.public import public_quiz


def run(course: Path | None, assignment: str, sections: Sequence[str], again: bool, graded: bool) -> int:
    """Ask the questions on this terminal. Returns the exit code."""
    setting = Setting.find(course)
    folder = setting.files.stubs(setting.course.assignment(assignment).id)
    if not folder.is_dir():
        raise QuizError(f"there is no folder of exercises for {assignment} yet; release it first")
    try:
        if not has_quiz(setting.files, assignment):
            return take(folder, load_quiz(folder), sections, again=again)
        bank = load_bank(setting.files, setting.course, assignment)
        explain = None if graded else lambda *answer: explained(bank, *answer)
        return take(folder, public_quiz(bank), sections, again=again, explain=explain)
    except (QuizTrouble, AnswersTrouble) as error:
        raise QuizError(str(error)) from None
