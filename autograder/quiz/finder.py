"""Whose is it? Hand-ins of a quiz in folders, zips and files, whoever named them."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from autograder.intake import nbgrader
from autograder.intake.archive import ZipTree, open_class_zip
from autograder.intake.attempts import Filed, parse
from autograder.intake.files import (
    MAX_DEPTH,
    Entry,
    FileList,
    FolderTree,
    Refused,
    Tree,
    Wide,
    kind_of,
)
from autograder.intake.gradescope import METADATA
from autograder.intake.handins import HandIn, from_gradescope, submitters
from autograder.intake.names import is_archive, is_zip, shown, without_ending
from autograder.intake.places import Place, in_archive, on_disk
from autograder.intake.roster import Roster
from autograder.quiz.answers_file import NAME

_ANSWERS = re.compile(r"(?:(?P<student>.+)[ _-])?quiz_answers(?: ?\(\d+\)|-\d+)?\.(?:json|ya?ml)", re.IGNORECASE)
"""An answers file, perhaps with its student's name in front; browsers and platforms number copies."""
_TEXTS = (".json", ".yml", ".yaml")


@dataclass(frozen=True)
class Finder:
    """What is needed to tell whose a name is."""

    assignment: str
    roster: Roster | None

    # -- one hand-in, or a class?

    def places(self, path: Path) -> tuple[list[Place], list[HandIn]]:
        """What lies at a path, or the path itself where it is one hand-in; and hand-ins whose student is known."""
        alone = on_disk(path)
        if stat.S_ISDIR(alone.mode):
            entries = self._in_folder(path)
            inside = [alone] if entries is None else [on_disk(path / entry.path) for entry in entries]
            return self._of_gradescope(entries or [], inside)
        tree = open_class_zip(path) if stat.S_ISREG(alone.mode) and is_zip(path.name) else None
        if tree is None:
            return [alone], []
        entries = self._class_in(tree, tree.children(""))
        is_students = self._is_students(without_ending(path.name))
        if not self._has_two(tree, entries) and (is_students or not any(map(self._names_a_student, entries))):
            return [alone], []
        refused = [HandIn(_top(name), shown(name[:80]), _no_files, problem=why) for name, why in tree.refused.items()]
        places, known = self._of_gradescope(entries, [in_archive(path, tree, entry) for entry in entries])
        return places, known + refused

    def _of_gradescope(self, entries: Sequence[Entry], places: list[Place]) -> tuple[list[Place], list[HandIn]]:
        """Of these places those that Gradescope says nothing of, and hand-ins of the others."""
        by_folder = submitters(entries, self.roster)
        known = [from_gradescope(place, one) for place in places for one in by_folder.get(place.name, ())]
        return [place for place in places if place.name not in by_folder and place.name != METADATA], known

    def _in_folder(self, path: Path) -> list[Entry] | None:
        """What lies in a folder; None where it is one hand-in."""
        tree = Wide(FolderTree(path))
        try:
            entries = tree.children("")
            if _plain_among(entries) or answers_below(tree, entry_named(entries, self.assignment)):
                return None
            notebooks = nbgrader.notebooks_in(tree, entries, self.assignment)
            if notebooks is not None and path.name != nbgrader.FOLDER:
                entries = [entry for entry in entries if entry != notebooks] + tree.children(notebooks.path)
        except Refused:
            return None
        is_students = self._is_students(path.name)
        if is_students and not any(entry.kind == "folder" or _is_hand_in(entry.name) for entry in entries):
            return None
        return entries

    def _class_in(self, tree: ZipTree, entries: list[Entry]) -> list[Entry]:
        """The entries that may be students', below single folders and in place of nbgrader's."""
        for _ in range(MAX_DEPTH):
            if notebooks := nbgrader.notebooks_in(tree, entries, self.assignment):
                return [entry for entry in entries if entry != notebooks] + tree.children(notebooks.path)
            if len(entries) != 1 or entries[0].kind != "folder" or self._names_a_student(entries[0]):
                break
            entries = tree.children(entries[0].path)
        return entries

    def _has_two(self, tree: Tree, entries: Sequence[Entry]) -> bool:
        """Do two folders hold answers, and none is the assignment's? Then they are two students'."""
        is_one = entry_named(entries, self.assignment) is not None
        return not is_one and sum(bool(answers_below(tree, entry)) for entry in entries) > 1

    # -- whose is it?

    def hand_ins(self, places: Iterable[Place]) -> Iterator[HandIn]:
        """What is one: a folder, a zip, an answers file, or files that a platform put side by side."""
        loose: dict[tuple[Path, str, str | None, str | None], list[Entry]] = {}
        for place in places:
            name = place.name
            if stat.S_ISDIR(place.mode):
                yield self._whole(place, name, place.as_folder)
            elif not stat.S_ISREG(place.mode):
                problem = f"{shown(name)} is {kind_of(place.mode)}; hand in the file itself."
                yield HandIn(_without_endings(name), place.where, _no_files, None, problem, "unreadable")
            elif (filed := self._parsed(name)) is not None and filed.file is not None:
                key = place.key.parent, filed.student, filed.attempt, filed.problem
                loose.setdefault(key, []).append(Entry(filed.file, "file", place.read, handed_in_as=name))
            elif is_zip(name):
                yield self._whole(place, without_ending(name), place.as_zip)
            elif is_archive(name):
                problem = f"{shown(name)} is an archive of another kind; hand in a zip file."
                yield HandIn(without_ending(name), place.where, _no_files, None, problem, "unreadable")
            elif name.casefold().endswith(_TEXTS):
                yield _answers_file(place)
        for (folder, student, attempt, why), entries in loose.items():
            where = f"{shown(folder.name)}/{shown(student)}_..."
            yield HandIn(student, where, partial(FileList, tuple(entries)), attempt, why)

    def _whole(self, place: Place, name: str, open_tree: Callable[[], Tree]) -> HandIn:
        filed = self._parsed(name) or Filed(name, None, None)
        return HandIn(filed.student, place.where, open_tree, filed.attempt, filed.problem)

    def _names_a_student(self, entry: Entry) -> bool:
        if entry.name == METADATA:
            return True
        if entry.kind == "file" and not is_archive(entry.name):
            filed, named = self._parsed(entry.name), _ANSWERS.fullmatch(entry.name)
            return (filed is not None and filed.file is not None) or bool(named and named["student"])
        return self._is_students(without_ending(entry.name))

    def _is_students(self, name: str) -> bool:
        """Does a folder or zip of this name belong to one student, as a platform or the roster says?"""
        filed = self._parsed(name)
        return (filed is not None and filed.file is None) or (
            self.roster is not None and self.roster.find(name) is not None
        )

    def _parsed(self, name: str) -> Filed | None:
        return parse(name, self.assignment, (), self.roster)


def _answers_file(place: Place) -> HandIn:
    """A hand-in of this file only. Its student is in its name, or is its folder where it has its usual name."""
    named = _ANSWERS.fullmatch(place.name)
    folder = without_ending(place.key.parent.name)
    student = _without_endings(place.name) if named is None else named["student"] or folder
    entry = Entry(NAME, "file", place.read, handed_in_as=place.name)
    return HandIn(student, place.where, partial(FileList, (entry,)))


# -- answers files in a folder


def answers_among(entries: Sequence[Entry]) -> list[Entry]:
    """Those that are answers files by their names."""
    return [entry for entry in entries if _ANSWERS.fullmatch(entry.name)]


def _plain_among(entries: Sequence[Entry]) -> list[Entry]:
    """Those that name no student."""
    return [entry for entry in entries if (named := _ANSWERS.fullmatch(entry.name)) and not named["student"]]


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


def _no_files() -> Tree:
    return FileList(())


# -- names


def _is_hand_in(name: str) -> bool:
    return is_archive(name) or name.casefold().endswith(_TEXTS)


def _without_endings(name: str) -> str:
    """The name without what makes it an archive or a text."""
    return Path(name).stem if name.casefold().endswith(_TEXTS) else without_ending(name)


def _top(name: str) -> str:
    """The folder that a name in an archive begins with."""
    return next((part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")), name)
