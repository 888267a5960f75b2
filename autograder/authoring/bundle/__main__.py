"""`python -m selfcheck hint layer_norm [--more]`, `quiz [--section 9] [--again]`, `progress [--read 9]`"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from autograder.authoring.bundle.hints import HintError, hint
from autograder.authoring.bundle.progress import course_total, mark_read, report
from autograder.authoring.bundle.questions import QuizTrouble, load_quiz
from autograder.authoring.bundle.quiz import take
from autograder.authoring.bundle.terminal import Terminal
from autograder.quiz.answers_file import AnswersTrouble

FOLDER = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m selfcheck", description="Help, the quiz, and how far you are.")
    commands = parser.add_subparsers(dest="what", required=True)
    asked = commands.add_parser("hint", help="help with an exercise, step by step")
    asked.add_argument("exercise", help="such as layer_norm")
    asked.add_argument("--more", action="store_true", help="the next step")
    quiz = commands.add_parser("quiz", help="answer the questions of the sections; it goes on where you stopped")
    quiz.add_argument("--section", action="append", default=[], help="only this one, such as 9 or a word of its title")
    quiz.add_argument("--again", action="store_true", help="also questions that are answered")
    progress = commands.add_parser("progress", help="what is read, answered and passed")
    progress.add_argument("--read", action="append", default=[], metavar="SECTION", help="record a section as read")
    progress.add_argument("--unread", action="append", default=[], metavar="SECTION", help="take that back")
    try:
        arguments = parser.parse_args()
        sys.exit({"hint": _hint, "quiz": _quiz, "progress": _progress}[arguments.what](arguments))
    except (HintError, QuizTrouble, AnswersTrouble) as error:
        sys.exit(Terminal().layout.spelled(str(error)))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads any more


def _hint(asked: argparse.Namespace) -> int:
    exercise = asked.exercise.removesuffix(".py")
    Terminal().say(*hint(FOLDER, exercise, asked.more, f"python -m selfcheck hint {exercise}").split("\n"))
    return 0


def _quiz(asked: argparse.Namespace) -> int:
    return take(FOLDER, load_quiz(FOLDER), asked.section, again=asked.again)


def _progress(asked: argparse.Namespace) -> int:
    terminal = Terminal()
    for wanted, is_read in ((asked.read, True), (asked.unread, False)):
        if wanted and (remark := mark_read(FOLDER, wanted, is_read)):
            terminal.say(remark)
    terminal.say(*report(FOLDER, terminal.layout), "", *course_total([FOLDER]))
    return 0


main()
