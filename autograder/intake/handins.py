"""Finding the hand-ins in what staff point at: a student's folder or zip, or one that holds a whole class."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from autograder.intake import nbgrader
from autograder.intake.archive import open_class_zip
from autograder.intake.attempts import Filed, parse
from autograder.intake.files import (
    MAX_CLASS_ENTRIES,
    MAX_DEPTH,
    Entry,
    FileList,
    FolderTree,
    Refused,
    Tree,
    Wide,
    kind_of,
    mode_of,
)
from autograder.intake.gradescope import MAX_METADATA_BYTES, METADATA, Submitted, read_metadata
from autograder.intake.names import is_archive, is_code, is_zip, match, shown, without_ending
from autograder.intake.places import Place, in_archive, on_disk
from autograder.intake.roster import Roster
from autograder.intake.submission import IntakeError, Status


@dataclass(frozen=True)
class HandIn:
    """Something handed in by one student: opened later, or never when `problem` says what is wrong with it."""

    student: str
    where: str
    open: Callable[[], Tree]
    attempt: str | None = None
    problem: str | None = None
    problem_status: Status = "needs attention"
    remarks: tuple[str, ...] = ()


def time_of(hand_in: HandIn) -> str:
    """When it was handed in, so that later ones are greater; not known is the least."""
    if hand_in.attempt is None:
        return ""
    moment = datetime.fromisoformat(hand_in.attempt)
    return (moment if moment.tzinfo is None else moment.astimezone(UTC)).replace(tzinfo=None).isoformat()


def of_latest_attempt(hand_ins: Sequence[HandIn]) -> list[HandIn]:
    """The latest attempt, or all that could be meant."""
    if any(hand_in.attempt is None for hand_in in hand_ins):
        return list(hand_ins)
    newest = max(map(time_of, hand_ins), default="")
    return [hand_in for hand_in in hand_ins if time_of(hand_in) == newest]


@dataclass(frozen=True)
class _Class:
    """A folder that names students, on disk or in an archive."""

    places: list[Place]
    submitted: Mapping[str, list[Submitted]]
    """By folder, where Gradescope says whose it is."""
    refused: Mapping[str, str]


@dataclass(frozen=True)
class Finder:
    """What is needed to tell whose a name is and what it stands for."""

    exercises: Sequence[str]
    assignment: str
    roster: Roster | None = None

    def find(self, paths: Sequence[Path]) -> list[HandIn]:
        """All hand-ins at `paths`, each place once. Raises `IntakeError` for a path that does not exist."""
        places: dict[Path, Place] = {}
        submitted: dict[Path, list[Submitted]] = {}
        hand_ins: list[HandIn] = []
        for given in paths:
            path = Path(os.path.abspath(given))
            if not os.path.lexists(path):
                raise IntakeError(f"There is no file or folder {given}.")
            found = self._class_at(path)
            places |= {place.key: place for place in found.places}
            submitted |= {p.key: found.submitted[p.name] for p in found.places if p.name in found.submitted}
            hand_ins += [self._refused(name, why) for name, why in found.refused.items()]
            hand_ins += _without_folder(found)
        loose: list[tuple[Place, Filed]] = []
        for key, place in sorted(places.items()):
            filed = self.filed(place.name) if stat.S_ISREG(place.mode) else None
            if key in submitted:
                hand_ins += [_from_gradescope(place, one) for one in submitted[key]]
            elif filed is not None:
                loose.append((place, filed))
            elif (hand_in := self._single(place)) is not None:
                hand_ins.append(hand_in)
        return hand_ins + _together(loose)

    # -- a student's folder, or a class?

    def _class_at(self, path: Path) -> _Class:
        """What lies in `path`, or `path` alone when it is one hand-in."""
        alone = _Class([on_disk(path)], {}, {})
        mode = mode_of(path)
        if stat.S_ISREG(mode) and is_zip(path.name):
            return self._class_in_zip(path) or alone
        if not stat.S_ISDIR(mode):
            return alone
        tree = FolderTree(path)
        try:
            entries = tree.children("", MAX_CLASS_ENTRIES)
        except Refused:
            return alone
        if self.is_one_hand_in(path.name, Wide(tree), entries):
            return alone
        entries, _ = self._class_folder(Wide(tree), entries)
        return _Class([on_disk(path / entry.path) for entry in entries], _submitters(entries, self.roster), {})

    def _class_in_zip(self, path: Path) -> _Class | None:
        """The class that lies in a zip: only where names of students or platforms say that it is one."""
        name = without_ending(path.name)
        if self._is_student(name) or self.filed_whole(name) is not None:
            return None
        tree = open_class_zip(path)
        if tree is None:
            return None
        entries, are_students = self._class_folder(tree, tree.children(""))
        submitted = _submitters(entries, self.roster)
        if not submitted and not are_students:
            return None
        return _Class([in_archive(path, tree, entry) for entry in entries], submitted, tree.refused)

    def is_one_hand_in(self, name: str, tree: Tree, entries: list[Entry]) -> bool:
        """Is a folder on disk one student's, or a class?"""
        if self._is_student(name) or self.filed_whole(name):
            return True
        if any(map(self._names_a_student, entries)) or any(entry.name == METADATA for entry in entries):
            return False
        if name == nbgrader.FOLDER and nbgrader.holds_students(tree, "", self.assignment):
            return False
        if nbgrader.notebooks_in(tree, entries, self.assignment):
            return False
        if any(self.is_answer(entry) for entry in entries):
            return True
        if not any(entry.kind == "folder" or is_archive(entry.name) or self.stands_alone(entry) for entry in entries):
            return bool(entries) or self.roster is None
        return self._is_wrapped(tree, entries)

    def _is_wrapped(self, tree: Tree, entries: list[Entry]) -> bool:
        """True when single folders lead down to exercise files, the last of them named like the assignment.

        Any other single folder is a class of one: its name is the student's.
        """
        for _ in range(MAX_DEPTH):
            folders = [entry for entry in entries if entry.kind == "folder"]
            if len(folders) != 1 or any(is_archive(entry.name) for entry in entries):
                return False
            if nbgrader.notebooks_in(tree, entries, self.assignment):
                return False
            try:
                entries = tree.children(folders[0].path)
            except Refused:
                return False
            if any(self.is_answer(entry) for entry in entries):
                return folders[0].name.lower() == self.assignment.lower()
        return False

    def _class_folder(self, tree: Tree, entries: list[Entry]) -> tuple[list[Entry], bool]:
        """`entries`, or those of the folder below them that names students when single folders lead down to one; with
        those in nbgrader's folder in its place. And whether anything but `METADATA` says that they are students'.
        """
        inside = entries
        for _ in range(MAX_DEPTH):
            if notebooks := nbgrader.notebooks_in(tree, inside, self.assignment):
                return [entry for entry in inside if entry != notebooks] + tree.children(notebooks.path), True
            are_students = any(map(self._names_a_student, inside))
            if are_students or any(entry.name == METADATA for entry in inside):
                return inside, are_students
            if len(inside) != 1 or inside[0].kind != "folder":
                break
            try:
                inside = tree.children(inside[0].path)
            except Refused:
                break
        return entries, False

    def _is_student(self, name: str) -> bool:
        return self.roster is not None and self.roster.find(name) is not None

    def _names_a_student(self, entry: Entry) -> bool:
        if entry.kind == "file" and not is_archive(entry.name):
            filed = self.filed(entry.name)
            return filed is not None and (filed.attempt is not None or self.is_work(entry.name))
        name = without_ending(entry.name)
        return self._is_student(name) or self.filed_whole(name) is not None

    # -- whose is it?

    def filed_whole(self, name: str) -> Filed | None:
        """What the name of a folder or zip says."""
        filed = parse(name, self.assignment, self.exercises, self.roster)
        return filed if filed is not None and filed.file is None else None

    def _single(self, place: Place) -> HandIn | None:
        """The hand-in that a folder or an archive is; None for files that are not hand-ins."""
        student = without_ending(place.name)
        if stat.S_ISDIR(place.mode):
            return self._whole(place, place.name, place.as_folder)
        if not stat.S_ISREG(place.mode):
            problem = f"{shown(place.name)} is {kind_of(place.mode)}; hand in the folder or file itself."
            student = self.owner(place.name)
        elif is_zip(place.name):
            return self._whole(place, student, place.as_zip)
        elif student != place.name:
            problem = f"{shown(place.name)} is an archive of another kind; hand in a zip file."
            filed = self.filed_whole(student)
            if filed is not None:
                return HandIn(filed.student, place.where, _no_files, filed.attempt, problem, "unreadable")
        else:
            return self.file(place)
        return HandIn(student, place.where, _no_files, problem=problem, problem_status="unreadable")

    # -- what differs with what is looked for

    def is_work(self, name: str) -> bool:
        """May a file of this name be what was asked for?"""
        return is_code(name)

    def is_answer(self, entry: Entry) -> bool:
        """Is it certainly that, so that its folder is a student's?"""
        found = match(entry.name, self.exercises)
        return found is not None and found.closeness != "loose"

    def stands_alone(self, entry: Entry) -> bool:
        """May a file be all that a student handed in, with the student in its name?"""
        return False

    def owner(self, name: str) -> str:
        """The student after whom something that cannot be opened is named."""
        return without_ending(name)

    def file(self, place: Place) -> HandIn | None:
        """The hand-in that a file is which lies in no student's folder; None where it is none."""
        if not is_code(place.name):
            return None
        problem = f"{shown(place.name)} lies outside of any student's folder; move it into one."
        return HandIn(place.name, place.where, _no_files, problem=problem)

    def filed(self, name: str) -> Filed | None:
        """What the name of a loose file says, under which a platform has filed it."""
        filed = parse(name, self.assignment, self.exercises, self.roster)
        return filed if filed is not None and filed.file is not None else None

    def _whole(self, place: Place, name: str, open_tree: Callable[[], Tree]) -> HandIn:
        filed = self.filed_whole(name)
        if filed is None:
            return HandIn(name, place.where, open_tree)
        return HandIn(filed.student, place.where, open_tree, filed.attempt, filed.problem)

    def _refused(self, name: str, why: str) -> HandIn:
        """A name in the archive of a class that leads elsewhere: a row for whoever it belongs to."""
        top = next((part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")), name)
        filed = parse(top, self.assignment, self.exercises, self.roster)
        return HandIn(filed.student if filed else top, shown(name[:80]), _no_files, problem=why)


def _submitters(entries: Sequence[Entry], roster: Roster | None) -> dict[str, list[Submitted]]:
    """What Gradescope says, by folder; nothing where these are not its folders."""
    found: dict[str, list[Submitted]] = {}
    for entry in entries:
        if entry.kind == "file" and entry.name == METADATA:
            try:
                content = entry.load(MAX_METADATA_BYTES)
            except Refused:
                continue
            for one in read_metadata(content, roster):
                found.setdefault(one.folder, []).append(one)
    return found


def _without_folder(found: _Class) -> list[HandIn]:
    """What Gradescope lists and did not come along."""
    there = {place.name for place in found.places}
    return [
        HandIn(
            one.student,
            folder,
            _no_files,
            one.time,
            f"{folder} is listed, but not there; export from Gradescope again.",
        )
        for folder, submitted in found.submitted.items()
        if folder not in there
        for one in submitted
    ]


def _from_gradescope(place: Place, one: Submitted) -> HandIn:
    """What one submitter handed in, who need not be the only one."""
    return HandIn(one.student, place.where, place.as_folder, one.time)


def _together(files: list[tuple[Place, Filed]]) -> list[HandIn]:
    """Loose files of one student and one time are one hand-in."""
    groups: dict[tuple[Path, str, str | None, str | None], list[tuple[Place, Filed]]] = {}
    for place, filed in files:
        groups.setdefault((place.key.parent, filed.student, filed.attempt, filed.problem), []).append((place, filed))
    return [_loose(members) for members in groups.values()]


def _loose(members: list[tuple[Place, Filed]]) -> HandIn:
    place, first = members[0]
    where = place.where.removesuffix(shown(first.file or "")) + "..."
    entries = tuple(Entry(f.file or "", "file", p.read, handed_in_as=p.name) for p, f in members)
    remarks = tuple(filed.remark for _, filed in members if filed.remark)
    tree = partial(FileList, entries)
    return HandIn(first.student, where, tree, first.attempt, first.problem, remarks=remarks)


def _no_files() -> Tree:
    """What is in a hand-in that is not opened."""
    return FileList(())
