"""Questions of the quiz in a workbook: one cell of its text becomes three of the notebook.

    # %% quiz="s04_scores"

    a text with the question ── answer-s04_scores, where students write ── quiz-s04_scores, locked, for the points

The question is the same for everybody: where numbers are drawn, they are drawn for the workbook. What it is worth and
what the complete notebook answers come from the bank.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from autograder.authoring.errors import AuthoringError
from autograder.quiz.bank import Bank
from autograder.quiz.drawing import filled
from autograder.quiz.model import AnyItem, Drawn, Number, ShortText

if TYPE_CHECKING:
    from nbformat import NotebookNode

ANSWER, POINTS = "answer-", "quiz-"
"""What the names of the two cells of a question begin with; its id follows."""

DRAWN_FOR = "workbook"
"""Whose variant of a question a workbook asks."""


def questions(notebook: NotebookNode) -> list[str]:
    """Ids of the questions that a text asks for."""
    return [cell.metadata["quiz"] for cell in notebook.cells if "quiz" in cell.metadata]


def ask(notebook: NotebookNode, bank: Bank, where: str) -> None:
    """Put the cells of each question in the place of the one that asks for it. Raises AuthoringError."""
    cells: list[NotebookNode] = []
    for cell in notebook.cells:
        cells += _cells(bank, str(cell.metadata["quiz"]), where) if "quiz" in cell.metadata else [cell]
    notebook.cells = cells


def _cells(bank: Bank, name: str, where: str) -> Iterator[NotebookNode]:
    from nbformat.v4 import new_code_cell, new_markdown_cell

    item = bank.by_id.get(name)
    if not isinstance(item, (Drawn, ShortText)) or not name.isidentifier():
        wanted = f"a question of the quiz of {bank.assignment} that asks for a number, a shape or a text"
        raise AuthoringError(f"{where}: {name} is not {wanted}")
    prompt, key, example = _asked(bank, item)
    points = int(item.points) if item.points.denominator == 1 else float(item.points)
    worth = "1 point" if points == 1 else f"{points:g} points"
    task = f"{prompt.strip()}\n\nWrite it behind the `=`, {example}. Only what is written there counts."
    text = f"**Question ({worth}, {section_of(bank, item)}).** {task}"
    solution = f"### BEGIN SOLUTION\n{name} = {key!r}\n### END SOLUTION"
    guard = f'assert {name} is not None, "the answer above is still to be written"'
    locked = {"grade": False, "grade_id": f"question-{name}", "locked": True, "solution": False}
    answer = {"grade": False, "grade_id": f"{ANSWER}{name}", "locked": False, "solution": True}
    graded = {"grade": True, "grade_id": f"{POINTS}{name}", "locked": True, "solution": False, "points": points}
    yield new_markdown_cell(text, metadata={"nbgrader": locked})
    yield new_code_cell(f"{name} = None\n{solution}", metadata={"nbgrader": answer})
    yield new_code_cell(guard, metadata={"nbgrader": graded})


def _asked(bank: Bank, item: Drawn | ShortText) -> tuple[str, object, str]:
    """The question, its answer, and how one may look."""
    if isinstance(item, ShortText):
        return item.prompt, item.key.accept[0], 'in quotes, such as `"word"`'
    draw = bank.draw(item, DRAWN_FOR)
    example = "such as `0.125` or `1/8`" if isinstance(item, Number) else "such as `[3, 7]`"
    return filled(item.prompt, draw.parameters), draw.value, example


def section_of(bank: Bank, item: AnyItem) -> str:
    """The section of the course that a question belongs to."""
    return item.course or next(group.course for group in bank.groups if item in group.items)
