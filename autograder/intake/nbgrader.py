"""Where nbgrader keeps what was handed in: `notebooks/<student>/<assignment>/`, in a folder called `submitted`."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.intake.files import Entry, Refused, Tree

FOLDER = "notebooks"


def holds_students(tree: Tree, folder: str, assignment: str) -> bool:
    """Is this folder of nbgrader's kind: with folders of students in it, one of which has handed in the assignment?"""
    return any(below.name == assignment for student in _folders(tree, folder) for below in _folders(tree, student.path))


def notebooks_in(tree: Tree, entries: Iterable[Entry], assignment: str) -> Entry | None:
    """The one of these that is such a folder, under nbgrader's name for it."""
    named = (entry for entry in entries if entry.kind == "folder" and entry.name == FOLDER)
    return next((entry for entry in named if holds_students(tree, entry.path, assignment)), None)


def _folders(tree: Tree, folder: str) -> list[Entry]:
    try:
        return [entry for entry in tree.children(folder) if entry.kind == "folder"]
    except Refused:
        return []
