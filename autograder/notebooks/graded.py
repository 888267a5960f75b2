"""Cells with points, and who gives them, as nbgrader's marks say: in a mended notebook those are the release's own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from nbformat import NotebookNode
from nbgrader import utils

HEADING = re.compile(r"^#{1,6}\s+(.+?)(?: \(\d+ points?\))?\s*$", re.MULTILINE)


def name_of(cell: NotebookNode) -> str:
    """The name by which nbgrader knows the cell."""
    return str(cell.metadata.nbgrader["grade_id"])


def points_of(cell: NotebookNode) -> Fraction:
    """What the cell is worth."""
    return Fraction(str(cell.metadata.nbgrader["points"]))


def is_autograded(cell: NotebookNode) -> bool:
    """Does nbgrader take the cell's score from its outputs?"""
    return bool(utils.is_grade(cell) and not utils.is_solution(cell) and cell.cell_type == "code")


def is_for_a_person(cell: NotebookNode) -> bool:
    """Does only a person give its points?"""
    return bool(utils.is_task(cell) or (utils.is_grade(cell) and not is_autograded(cell)))


def written_in(cell: NotebookNode) -> str | None:
    """What stands in a cell for a person. None: it is as released, and nbgrader gives it 0 points and asks nobody; "":
    it is a task, whose answer stands somewhere else in the notebook."""
    if utils.is_task(cell):
        return ""
    return None if utils.determine_grade(cell)[0] == 0 else str(cell.source)


def asked_above(cells: Sequence[NotebookNode], place: int) -> str:
    """The heading of the released text above a cell, which asks for what is in it; "" where there is none."""
    texts = (c.source for c in reversed(cells[:place]) if c.cell_type == "markdown" and utils.is_locked(c))
    found = HEADING.search(next(texts, ""))
    return found[1] if found else ""
