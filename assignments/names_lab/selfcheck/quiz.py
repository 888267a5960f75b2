"""Takes a student through a quiz, one question after the other. Every answer is saved at once; it goes on where it was.

There are no keys in a student's folder, so nothing is judged here. Where the complete quiz is at hand, `explain` says
at once what an answer means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from selfcheck.progress import record_quiz
from selfcheck.questions import (
    Question,
    answered,
    chosen,
    courses,
    how,
    is_answered,
    may_be_answer,
    may_be_typed,
    refuse_unreadable,
    shown,
)
from selfcheck.terminal import Terminal
from selfcheck.answers_file import NAME, load, save
from selfcheck.reading import Rewrite

DONE, STOPPED = 0, 130

COMMANDS = {"s": "skip", "b": "back", "q": "quit"}
HELP = """\
Type your answer and press Enter. It is saved at once; what was typed before can be changed later.

- :s goes on without an answer, :b goes back, :q stops; the same command goes on later
- s, b or q alone will do where they cannot be an answer
- Enter alone keeps the answer that you gave before
- numbers: 0.125, 0,125, 1/8, 12.5 % and 1.25e-1 are the same
- a backslash at the end of a line lets the answer go on in the next one
"""

Explain = Callable[[str, str, str], Sequence[str]]
"""Id of a question, the answer as typed, the student -> Markdown to show."""


def take(
    folder: Path,
    quiz: Mapping[str, Any],
    wanted: Sequence[str] = (),
    *,
    again: bool = False,
    explain: Explain | None = None,
) -> int:
    """Ask the questions of the wanted sections that are not answered yet; with `again` all of them.

    Returns:
        The exit code: 130 after Ctrl-C, else 0.

    Raises:
        QuizTrouble: there is no such section.
        AnswersTrouble: the answers file cannot be read or written.
    """
    places = chosen(quiz, wanted)
    taking = _Taking(folder, quiz, places, again, explain)
    status = DONE
    try:
        taking.run()
    except EOFError:
        taking.terminal.say()
    except KeyboardInterrupt:
        taking.terminal.say()
        status = STOPPED
    taking.say_where_it_stands()
    return status


class _Stop(Exception):
    """The student has asked to stop."""


class _Taking:
    """One sitting."""

    def __init__(
        self, folder: Path, quiz: Mapping[str, Any], places: Sequence[str], again: bool, explain: Explain | None
    ) -> None:
        self.terminal = Terminal()
        self._folder, self._quiz, self._explain = folder, quiz, explain
        self._places = places
        self._titles = {section["course"]: section for section in reversed(quiz["sections"])}
        self._order = list(courses(quiz))
        self._questions = [(place, question) for place in places for question in courses(quiz)[place]]
        self._taken = load(folder, quiz["assignment"])
        self._todo = {q["id"] for _, q in self._questions if again or not is_answered(q, self._taken)}
        self._section = ""
        self._untold = ""

    def run(self) -> None:
        """From the first question that is to be asked to the last."""
        try:
            self._ask_who()
            at = self._next(-1)
            while at < len(self._questions):
                step = self._ask(at)
                at = max(0, at - 1) if step == "back" else self._next(at)
        except _Stop:
            pass

    def _next(self, at: int) -> int:
        later = (i for i in range(at + 1, len(self._questions)) if self._questions[i][1]["id"] in self._todo)
        return next(later, len(self._questions))

    def _ask_who(self) -> None:
        while not self._taken.student:
            self._say("Some numbers are drawn for each student. Your name or id, as your instructor knows you:")
            typed = " ".join(self.terminal.ask().split())[:200]
            if typed in (":q", "q"):
                raise _Stop
            if typed.startswith(":") or typed in ("?", "s", "b"):
                self._say(
                    f'"{typed}" is no name; :q stops. The name stays in {NAME}, where it can be changed.', "yellow"
                )
            elif typed:
                self._taken.student = typed
                save(self._folder, self._taken)

    def _ask(self, at: int) -> str:
        """Ask one question until it is answered or left; returns what was done."""
        _, question = self._questions[at]
        self._show(at)
        before, doubted = self._taken.answers.get(question["id"]), ""
        while True:
            typed = self._typed(question)
            command = _command(question, typed)
            if command == "quit":
                raise _Stop
            if command == "help":
                self.terminal.say("", *self.terminal.layout.plain(HELP), "")
                self._say(f"Here: {how(question)}")
            elif command:
                return command
            elif typed.lower() in COMMANDS and may_be_typed(question) and typed != doubted:
                doubted = typed
                self._say(f'If "{typed}" is your answer, type it once more; :{typed} is the command.', "yellow")
            elif not typed and is_answered(question, self._taken):
                self._say(f"kept: {before}", "dim")
                return "kept"
            elif not typed:
                self._say("Nothing was typed; :s goes on without an answer.", "yellow")
            elif self._save(question, typed):
                return "answered"

    def _typed(self, question: Question) -> str:
        typed = self.terminal.ask()
        while typed.endswith("\\") and may_be_typed(question):
            typed = typed[:-1].rstrip() + "\n" + self.terminal.ask("... ")
        return typed

    def _save(self, question: Question, typed: str) -> bool:
        """Keep an answer that can be read. What another sitting has saved meanwhile stays."""
        try:
            refuse_unreadable(question, typed)
        except Rewrite as error:
            self._say(f"Please write this again: {error}", "yellow")
            return False
        student = self._taken.student or ""
        self._taken = load(self._folder, self._quiz["assignment"])
        self._taken.student = student
        self._taken.answers[question["id"]] = typed
        self._taken.versions[question["id"]] = question["version"]
        save(self._folder, self._taken)
        self._untold = record_quiz(self._folder, answered(self._quiz, self._taken)) or self._untold
        self._todo.discard(question["id"])
        self._say(f"saved: {typed}", "dim")
        if self._explain:
            for part in self._explain(question["id"], typed, student):
                self.terminal.say("", *self.terminal.layout.plain(part))
        return True

    def _show(self, at: int) -> None:
        place, question = self._questions[at]
        say = self.terminal.say
        if place != self._section:
            self._section = place
            section = self._titles[place]
            optional = ", optional" if section["optional"] else ""
            say()
            self._say(f"{place}: {section['title']}", "bold")
            self._say(f"section {self._order.index(place) + 1} of {len(self._order)}{optional}", "dim")
        mine = courses(self._quiz)[place]
        points = question["points"]
        worth = "not counted" if points == "0" else "1 point" if points == "1" else f"{points} points"
        done, total = self._count()
        optional = ", optional" if question.get("optional") else ""
        say()
        number = f"Question {mine.index(question) + 1} of {len(mine)}"
        self._say(f"{number} ({worth}{optional}). {done} of {total} answered.", "dim")
        say("", *shown(question, self._taken.student or "", self.terminal.layout), "")
        before = self._taken.answers.get(question["id"])
        if is_answered(question, self._taken):
            self._say(f"Your answer so far: {before}")
        elif before:
            self._say(f"This question has changed since you answered it: {before}", "yellow")
        self._say(f"Type {how(question)}.", "dim")
        say("? help  :s skip  :b back  :q quit", style="dim")

    def _count(self) -> tuple[int, int]:
        every = [q for questions in courses(self._quiz).values() for q in questions]
        return sum(is_answered(q, self._taken) for q in every), len(every)

    def _say(self, text: str, style: str = "") -> None:
        self.terminal.say(*self.terminal.layout.wrapped(text), style=style)

    def say_where_it_stands(self) -> None:
        """The last words of a sitting."""
        done, total = self._count()
        mine = [q for _, q in self._questions]
        left = len(mine) - sum(is_answered(q, self._taken) for q in mine)
        self.terminal.say()
        if self._untold:
            self._say(self._untold, "yellow")
        if len(self._places) < len(self._order):
            self._say(f"{', '.join(self._places)}: {len(mine) - left} of {len(mine)} answered.")
        place, here = (self._folder / NAME).resolve(), Path.cwd().resolve()
        told = place.relative_to(here).as_posix() if place.is_relative_to(here) else NAME
        self._say(f"{done} of {total} questions answered, saved in {told}.")
        if left:
            self._say("The same command goes on with the rest.")
        elif self._explain is None:
            self._say(f"Hand in {NAME} with your exercises. With --again you can look at your answers once more.")


def _command(question: Question, typed: str) -> str:
    if typed in ("?", ":?", ":h"):
        return "help"
    letter = typed.removeprefix(":").lower()
    is_meant = typed.startswith(":") or not may_be_answer(question, letter)
    return COMMANDS.get(letter, "") if is_meant else ""
