"""A small released notebook, and what students made of it."""

from __future__ import annotations

import json
from typing import Any

import nbformat

from autograder.notebooks.restore import ReleasedCell, restored

Cell = dict[str, Any]
File = dict[str, Any]


def released(grade_id: str, source: str, **changed: Any) -> ReleasedCell:
    usual: dict[str, Any] = {"cell_type": "code", "locked": True, "grade": False, "solution": False, "task": False}
    return ReleasedCell(
        **{**usual, "grade_id": grade_id, "source": source, "points": None, "checksum": "c0", **changed}
    )


RELEASE = [
    released("setup", "import torch"),
    released("softmax", "raise NotImplementedError", locked=False, solution=True),
    released("softmax_test", 'check("softmax")', grade=True, points=3.0),
    released("mask_test", 'check("mask")', grade=True, points=3.0),
    released("explain", "YOUR ANSWER", cell_type="markdown", locked=False, grade=True, solution=True, points=5.0),
    released("essay", "Write.", cell_type="markdown", task=True, points=2.0),
]
ANSWERS = {"softmax": "def softmax(x): return x.softmax(-1)", "explain": "Because rows sum to one."}


def cell(kind: Any, source: Any, grade_id: Any = None, **more: Any) -> Cell:
    made: Cell = {"cell_type": kind, "metadata": {}, "source": source, **more}
    if grade_id is not None:
        made["metadata"] = {"nbgrader": {"grade_id": grade_id, "grade": True, "points": 99, "schema_version": 3}}
    return made


def submitted() -> File:
    """As Jupyter saves it: the answers given, two cells of the student's own, one of them with an output."""
    cells = [cell(r.cell_type, ANSWERS.get(r.grade_id, r.source), r.grade_id) for r in RELEASE]
    mine = cell("code", "print(1)", outputs=[{"output_type": "stream", "name": "stdout", "text": "1"}])
    return {
        "cells": [*cells[:2], mine, *cells[2:], cell("markdown", "my notes")],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def saved(notebook: Any) -> bytes:
    return json.dumps(notebook).encode()


def by_id(notebook: Any) -> dict[str, Any]:
    """The released cells of a restored notebook; each is there once."""
    marked = [c for c in notebook.cells if "nbgrader" in c.metadata]
    found = {c.metadata.nbgrader["grade_id"]: c for c in marked}
    assert len(marked) == len(found)
    return found


def assert_whole(data: bytes, answers: dict[str, str] | None = None) -> tuple[Any, list[str]]:
    """Every released cell is there once, with all that belongs to the release; nothing else came with the file."""
    notebook, notes = restored(data, RELEASE)
    found = by_id(notebook)
    assert set(found) == {r.grade_id for r in RELEASE}
    for expected in RELEASE:
        got = found[expected.grade_id]
        assert got.cell_type == expected.cell_type
        assert dict(got.metadata.nbgrader) == expected.metadata()
        if expected.locked:
            assert got.source == expected.source
        elif answers is not None:
            assert got.source == answers.get(expected.grade_id, expected.source)
    assert all(c.get("outputs", []) == [] and c.get("execution_count") is None for c in notebook.cells)
    assert all(set(c.metadata) <= {"nbgrader"} for c in notebook.cells)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.kernelspec.name == "python3"
    assert len({c.id for c in notebook.cells}) == len(notebook.cells)
    nbformat.validate(notebook)
    nbformat.writes(notebook).encode()
    json.dumps(notebook, allow_nan=False)
    assert all(isinstance(note, str) and "\n" not in note and len(note) < 300 for note in notes)
    return notebook, notes


def free(notebook: Any) -> list[str]:
    return [c.source for c in notebook.cells if "nbgrader" not in c.metadata]
