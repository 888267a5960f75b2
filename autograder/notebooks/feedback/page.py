"""From a graded notebook to its page: first the points, then each exercise and answer, last the notebook as it ran."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup
from nbformat import NotebookNode

from autograder.notebooks.feedback import text
from autograder.notebooks.graded import HEADING
from autograder.notebooks.messages import Told, told
from autograder.reports.marks import Mark
from autograder.reports.templates import source, templates


@dataclass(frozen=True)
class Heading:
    """What stands on top of a page."""

    title: str
    student: str
    score: float
    points: float
    penalty: float


@dataclass(frozen=True)
class Exercise:
    """A cell whose points came from checks."""

    mark: Mark
    told: Told


@dataclass(frozen=True)
class Answer:
    """A cell that a student wrote and a person reads or has commented on. `mark` is None where it gives no points."""

    name: str
    title: str
    mark: Mark | None
    question: Markup
    answer: Markup
    comment: Markup


@dataclass(frozen=True)
class Output:
    """A piece of what a cell showed: a picture's address, or a text of the kind `text` or `error`."""

    kind: str
    content: str


@dataclass(frozen=True)
class Cell:
    """A cell of the notebook as it ran."""

    name: str
    locked: bool
    graded: bool
    prose: Markup | None
    source: Markup | None
    outputs: Sequence[Output]


def page(notebook: NotebookNode, heading: Heading, root: Path) -> str:
    """The page's HTML."""
    answers = list(_answers(notebook.cells))
    exercises = [_exercise(cell) for cell in notebook.cells if _is_graded(cell) and not _marks(cell)["solution"]]
    marks = [e.mark for e in exercises] + [a.mark for a in answers if a.mark is not None]
    jinja = templates(__package__)
    css = [source(jinja, "shared.css"), source(jinja, "page.css"), text.code_colours("default"), _in_the_dark()]
    return jinja.get_template("page.html.j2").render(
        heading=heading,
        exercises=exercises,
        answers=answers,
        marks=marks,
        cells=[_cell(cell, root) for cell in notebook.cells],
        css=Markup("\n".join(css)),
    )


def _in_the_dark() -> str:
    return f"@media (prefers-color-scheme: dark) {{ @media screen {{\n{text.code_colours('github-dark')}\n}} }}"


def _marks(cell: NotebookNode) -> Any:
    return cell.metadata.get("nbgrader", {})


def _is_graded(cell: NotebookNode) -> bool:
    marks = _marks(cell)
    return bool(marks.get("grade") or marks.get("task"))


def _mark(cell: NotebookNode, title: str) -> Mark:
    marks = _marks(cell)
    return Mark(
        marks["grade_id"], title, float(marks["score"]), float(marks["points"]), marks["open"], marks["by_hand"]
    )


def _exercise(cell: NotebookNode) -> Exercise:
    """What the grader wrote into the cell: its messages, then the points."""
    shown_text = next((o.data.get("text/plain", "") for o in cell.outputs if o.output_type == "display_data"), "")
    return Exercise(_mark(cell, _marks(cell)["grade_id"]), told(shown_text.split("\n")[1:]))


def _answers(cells: Sequence[NotebookNode]) -> Iterator[Answer]:
    """Cells for a person, each with the text above it, which asks the question."""
    for place, cell in enumerate(cells):
        marks = _marks(cell)
        if not (marks.get("solution") or marks.get("task")) or not (_is_graded(cell) or marks.get("comment")):
            continue
        question = next((c.source for c in reversed(cells[:place]) if c.cell_type == "markdown"), "")
        heading = HEADING.search(question)
        title = heading[1] if heading else marks["grade_id"]
        yield Answer(
            name=marks["grade_id"],
            title=title,
            mark=_mark(cell, title) if _is_graded(cell) else None,
            question=text.markdown(question),
            answer=_written(cell),
            comment=text.markdown(marks.get("comment") or ""),
        )


def _written(cell: NotebookNode) -> Markup:
    if cell.cell_type == "markdown":
        return text.markdown(cell.source)
    return Markup('<pre class="code">{}</pre>').format(text.code(cell.source))


def _cell(cell: NotebookNode, root: Path) -> Cell:
    marks = _marks(cell)
    return Cell(
        name=str(marks.get("grade_id", "")),
        locked=bool(marks.get("locked")),
        graded=_is_graded(cell),
        prose=text.markdown(cell.source) if cell.cell_type == "markdown" else None,
        source=text.code(cell.source) if cell.cell_type == "code" else None,
        outputs=[_output(output, root) for output in cell.get("outputs", [])],
    )


def _output(output: Any, root: Path) -> Output:
    """Text or a PNG; nothing else that a notebook can hold is shown."""
    if output.output_type == "stream":
        return Output("text", text.plain(output.text, root))
    if output.output_type == "error":
        return Output("error", text.plain("\n".join(output.traceback), root))
    address = text.picture(output.data["image/png"]) if "image/png" in output.data else None
    if address:
        return Output("picture", address)
    return Output("text", text.plain(str(output.data.get("text/plain", "")), root))
