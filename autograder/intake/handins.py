"""Finding the hand-ins in what staff point at: a student's folder or zip, or a folder that holds a whole class."""

import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from autograder.intake.archive import open_zip
from autograder.intake.attempts import Filed, parse
from autograder.intake.files import (
    MAX_CLASS_ENTRIES,
    MAX_DEPTH,
    Entry,
    FileList,
    FolderTree,
    Refused,
    Tree,
    kind_of,
    mode_of,
    read_file,
)
from autograder.intake.names import match, shown
from autograder.intake.roster import Roster
from autograder.intake.submission import IntakeError, Status

_OTHER_ARCHIVES = (".rar", ".7z", ".tar", ".tgz", ".gz", ".bz2", ".xz")


@dataclass(frozen=True)
class HandIn:
    """Something handed in by one student: opened later, or never when `problem` says what is wrong with it."""

    student: str
    where: str
    open: Callable[[], Tree]
    attempt: str | None = None
    problem: str | None = None
    problem_status: Status = "needs attention"


@dataclass(frozen=True)
class Finder:
    """What is needed to tell whose a name is and what it stands for."""

    exercises: Sequence[str]
    assignment: str
    roster: Roster | None = None

    def find(self, paths: Sequence[Path]) -> list[HandIn]:
        """All hand-ins at `paths`, each place once. Raises `IntakeError` for a path that does not exist."""
        places: dict[Path, None] = {}
        for given in paths:
            path = Path(os.path.abspath(given))
            if not os.path.lexists(path):
                raise IntakeError(f"There is no file or folder {given}.")
            places |= dict.fromkeys(self._members(path))
        hand_ins: list[HandIn] = []
        loose: list[tuple[Path, Filed]] = []
        for path in sorted(places):
            mode = mode_of(path)
            filed = self._filed(path.name) if stat.S_ISREG(mode) else None
            if filed is not None:
                loose.append((path, filed))
                continue
            hand_in = self._single(path, mode)
            if hand_in is not None:
                hand_ins.append(hand_in)
        return hand_ins + _together(loose)

    # -- a student's folder, or a class?

    def _members(self, path: Path) -> list[Path]:
        """`path` itself when it is one hand-in, else what lies in it."""
        if not stat.S_ISDIR(mode_of(path)):
            return [path]
        try:
            entries = FolderTree(path).children("", MAX_CLASS_ENTRIES)
        except Refused:
            return [path]
        if self._is_one_hand_in(path, entries):
            return [path]
        folder, entries = self._class_folder(path, entries)
        return [folder / entry.name for entry in entries]

    def _is_one_hand_in(self, path: Path, entries: list[Entry]) -> bool:
        if self._is_student(path.name) or self._filed_whole(path.name):
            return True
        if any(self._names_a_student(entry) for entry in entries):
            return False
        if any(self._is_answer(entry) for entry in entries):
            return True
        if not any(entry.kind == "folder" or _is_archive(entry.name) for entry in entries):
            return bool(entries) or self.roster is None
        return self._is_wrapped(path, entries)

    def _is_wrapped(self, path: Path, entries: list[Entry]) -> bool:
        """True when single folders lead down to exercise files, the last of them named like the assignment.

        Any other single folder is a class of one: its name is the student's.
        """
        tree = FolderTree(path)
        for _ in range(MAX_DEPTH):
            folders = [entry for entry in entries if entry.kind == "folder"]
            if len(folders) != 1 or any(_is_archive(entry.name) for entry in entries):
                return False
            try:
                entries = tree.children(folders[0].path)
            except Refused:
                return False
            if any(self._is_answer(entry) for entry in entries):
                return folders[0].name.lower() == self.assignment.lower()
        return False

    def _class_folder(self, path: Path, entries: list[Entry]) -> tuple[Path, list[Entry]]:
        """`path`, or the folder below it that names students when single folders lead down to one."""
        folder, inside = path, entries
        for _ in range(MAX_DEPTH):
            if any(self._names_a_student(entry) for entry in inside):
                return folder, inside
            if len(inside) != 1 or inside[0].kind != "folder":
                break
            folder = folder / inside[0].name
            try:
                inside = FolderTree(folder).children("", MAX_CLASS_ENTRIES)
            except Refused:
                break
        return path, entries

    def _is_student(self, name: str) -> bool:
        return self.roster is not None and self.roster.find(name) is not None

    def _is_answer(self, entry: Entry) -> bool:
        found = match(entry.name, self.exercises)
        return found is not None and found.closeness != "loose"

    def _names_a_student(self, entry: Entry) -> bool:
        if entry.kind == "file" and not _is_archive(entry.name):
            return self._filed(entry.name) is not None
        name = _without_ending(entry.name)
        return self._is_student(name) or self._filed_whole(name) is not None

    # -- whose is it?

    def _filed(self, name: str) -> Filed | None:
        """What the name of a loose file says."""
        filed = parse(name, self.assignment, self.exercises, self.roster)
        return filed if filed is not None and filed.file is not None else None

    def _filed_whole(self, name: str) -> Filed | None:
        """What the name of a folder or zip says."""
        filed = parse(name, self.assignment, self.exercises, self.roster)
        return filed if filed is not None and filed.file is None else None

    def _single(self, path: Path, mode: int) -> HandIn | None:
        """The hand-in that a folder or an archive is; None for files that are not hand-ins."""
        student = _without_ending(path.name)
        if stat.S_ISDIR(mode):
            return self._whole(path, path.name, partial(FolderTree, path))
        if not stat.S_ISREG(mode):
            problem = f"{shown(path.name)} is {kind_of(mode)}; hand in the folder or file itself."
        elif _is_zip(path.name):
            return self._whole(path, student, partial(open_zip, path))
        elif student != path.name:
            problem = f"{shown(path.name)} is an archive of another kind; hand in a zip file."
        elif path.name.casefold().endswith((".py", ".ipynb")):
            problem = f"{shown(path.name)} lies outside of any student's folder; move it into one."
            return HandIn(path.name, _where(path), _nothing, problem=problem)
        else:
            return None
        return HandIn(student, _where(path), _nothing, problem=problem, problem_status="unreadable")

    def _whole(self, path: Path, name: str, open_tree: Callable[[], Tree]) -> HandIn:
        filed = self._filed_whole(name)
        if filed is None:
            return HandIn(name, _where(path), open_tree)
        return HandIn(filed.student, _where(path), open_tree, filed.attempt, filed.problem)


def _together(files: list[tuple[Path, Filed]]) -> list[HandIn]:
    """Loose files of one student and one time are one hand-in."""
    groups: dict[tuple[Path, str, str | None], list[tuple[Path, Filed]]] = {}
    for path, filed in files:
        groups.setdefault((path.parent, filed.student, filed.attempt), []).append((path, filed))
    hand_ins = []
    for (_, student, attempt), members in groups.items():
        path, filed = members[0]
        where = _where(path).removesuffix(shown(filed.file or "")) + "..."
        entries = tuple(
            Entry(filed.file or "", "file", partial(read_file, path), handed_in_as=path.name) for path, filed in members
        )
        hand_ins.append(HandIn(student, where, partial(FileList, entries), attempt, filed.problem))
    return hand_ins


def _nothing() -> Tree:
    return FileList(())


def _where(path: Path) -> str:
    return shown(f"{path.parent.name}/{path.name}")


def _is_zip(name: str) -> bool:
    return name.casefold().endswith(".zip")


def _is_archive(name: str) -> bool:
    return name.casefold().endswith((".zip", *_OTHER_ARCHIVES))


def _without_ending(name: str) -> str:
    """`s02.zip` and `s02.tar.gz` without what makes them archives."""
    while _is_archive(name):
        name = name[: name.rindex(".")]
    return name
