"""Hand-ins of a quiz: found where `grade` finds exercises, and in answers files that are named after their students."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from autograder.intake.attempts import Filed
from autograder.intake.files import Entry, FileList, Refused, Tree
from autograder.intake.gradescope import METADATA
from autograder.intake.handins import Finder, HandIn
from autograder.intake.places import Place
from autograder.quiz.answers_file import NAME

_ANSWERS = re.compile(
    r"(?:(?P<student>.+)[ _-])?quiz_answers(?: ?\(\d+\)|-\d+)?\.(?:json|ya?ml|txt|json\.txt)", re.IGNORECASE
)
"""An answers file, perhaps with its student's name in front; browsers, platforms and Windows add to its name."""
_TEXTS = (".json", ".yml", ".yaml")


class AnswersFinder(Finder):
    """Tells whose a name is, and whether it stands for answers."""

    def is_work(self, name: str) -> bool:
        """See Finder: answers or exercises, which come together."""
        return super().is_work(name) or is_answers(name)

    def is_answer(self, entry: Entry) -> bool:
        """See Finder."""
        named = _ANSWERS.fullmatch(entry.name)
        return super().is_answer(entry) or (named is not None and not named["student"])

    def stands_alone(self, entry: Entry) -> bool:
        """See Finder."""
        return is_text(entry.name)

    def is_one_hand_in(self, name: str, tree: Tree, entries: list[Entry]) -> bool:
        """See Finder. An empty folder is a class of nobody; answers in a folder of the assignment are one student's."""
        mine = answers_below(tree, entry_named(entries, self.assignment))
        return bool(mine) or (bool(entries) and super().is_one_hand_in(name, tree, entries))

    def filed(self, name: str) -> Filed | None:
        """See Finder."""
        named = _ANSWERS.fullmatch(name)
        known = self.roster.find(named["student"]) if self.roster and named and named["student"] else None
        return super().filed(name) or (Filed(known, None, NAME) if known else None)

    def owner(self, name: str) -> str:
        """See Finder."""
        return Path(name).stem if is_text(name) else super().owner(name)

    def file(self, place: Place) -> HandIn | None:
        """See Finder. The student is in its name, or is its folder where it has its usual one."""
        if not is_text(place.name):
            return None
        named, folder = _ANSWERS.fullmatch(place.name), place.key.parent.name
        filed = self.filed_whole(folder)
        owner = filed.student if filed else folder
        student = Path(place.name).stem if named is None else named["student"] or owner
        return HandIn(student, place.where, partial(FileList, (Entry(NAME, "file", place.read, place.name),)))


def is_text(name: str) -> bool:
    """May a file of this name hold answers?"""
    return is_answers(name) or (name.casefold().endswith(_TEXTS) and name != METADATA)


def is_answers(name: str) -> bool:
    """Does a file of this name hold answers?"""
    return _ANSWERS.fullmatch(name) is not None


def answers_among(entries: Sequence[Entry]) -> list[Entry]:
    """Those that are answers files by their names."""
    return [entry for entry in entries if is_answers(entry.name)]


def answers_below(tree: Tree, folder: Entry | None) -> list[Entry]:
    """Those in a folder; none where there is no folder, or none that can be listed."""
    if folder is None or folder.kind != "folder":
        return []
    try:
        return answers_among(tree.children(folder.path))
    except Refused:
        return []


def entry_named(entries: Sequence[Entry], name: str) -> Entry | None:
    """The one of this name."""
    return next((entry for entry in entries if entry.name == name), None)
