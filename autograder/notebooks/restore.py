"""Make a submitted notebook whole again before nbgrader reads it: whatever a student or an editor did to it, it comes
out as a notebook of format 4.5 with every released cell in it once, and with notes that say what had to be mended.

The cells that count are known by their `grade_id`. What belongs to the release (type, points, locked text) is taken
from the release; what belongs to the student (answers, free cells) is kept; outputs and everything else in the file is
left behind. Nothing is executed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_notebook

MAX_BYTES = 128 << 20
MAX_MARKS = 6_000_000
"""Most braces, brackets and commas of a file: what stands between them takes up to a hundred bytes when it is read."""
MAX_CELLS = 2_000
MAX_SOURCE = 100_000
"""Most characters of a cell; nbconvert's Markdown takes its time over more."""
NO_NOTEBOOK = "there is no notebook, or none of the released name; hand it in beside the modules"
_TYPES = ("code", "markdown", "raw")
_KERNEL = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}


class Unreadable(ValueError):
    """The file is no notebook that can be graded; the text says why, and what to do."""


@dataclass(frozen=True)
class ReleasedCell:
    """One cell of the release that nbgrader knows by its `grade_id`."""

    grade_id: str
    cell_type: str
    source: str
    locked: bool
    grade: bool
    solution: bool
    task: bool
    points: float | None
    checksum: str | None

    def metadata(self) -> dict[str, Any]:
        """As nbgrader writes it into a cell."""
        found: dict[str, Any] = {
            "grade": self.grade,
            "grade_id": self.grade_id,
            "locked": self.locked,
            "schema_version": 3,
            "solution": self.solution,
            "task": self.task,
            "cell_type": self.cell_type,
        }
        if self.grade or self.task:
            found["points"] = self.points
        if self.checksum is not None:
            found["checksum"] = self.checksum
        return found


def restored(data: bytes | None, release: Sequence[ReleasedCell]) -> tuple[NotebookNode, list[str]]:
    """The notebook with every cell of the release in it once, and what was mended, a sentence each. One that cannot be
    read, or is not there (None), comes back as the release without any answers."""
    try:
        submitted, notes = _cells(data), []
    except Unreadable as error:
        submitted, notes = [], [str(error)]
    cells = _mended(_shortened(submitted, notes), {cell.grade_id: cell for cell in release}, notes)
    _add_missing(cells, release, [] if notes and not submitted else notes)
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    return new_notebook(cells=cells, metadata={"kernelspec": _KERNEL, "language_info": {"name": "python"}}), notes


def content_of(path: Path) -> bytes | None:
    """What a submitted file holds, as far as it is looked at: nothing where it cannot be read, None where it is not."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError:
        return b""


def _cells(data: bytes | None) -> list[dict[str, Any]]:
    """Type, source and nbgrader's metadata of each cell of the file. Raises Unreadable."""
    if data is None:
        raise Unreadable(NO_NOTEBOOK)
    raw = _notebook(data)
    if raw.get("nbformat") == 3 or "worksheets" in raw:
        try:
            raw = nbformat.convert(nbformat.from_dict(raw), 4)
        except Exception:
            raise Unreadable(
                "the notebook is in an old format that cannot be converted; save it as version 4"
            ) from None
    cells = raw.get("cells")
    if not isinstance(cells, list):
        raise Unreadable("the notebook has no list of cells; save it again in Jupyter and hand it in anew")
    if len(cells) > MAX_CELLS:
        raise Unreadable(f"the notebook has {len(cells)} cells; more than {MAX_CELLS} are not read")
    return [_plain(cell) for cell in cells if isinstance(cell, dict)]


def _notebook(data: bytes) -> dict[str, Any]:
    if len(data) > MAX_BYTES:
        raise Unreadable(f"the notebook has more than {MAX_BYTES >> 20} MB; clear its outputs and hand it in again")
    if sum(data.count(mark) for mark in (b"{", b"[", b",")) > MAX_MARKS:
        raise Unreadable("the notebook has too many parts; clear its outputs and hand it in again")
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].lower()
    if not start:
        raise Unreadable("the notebook file is empty; save it again and hand it in anew")
    if start.startswith((b"<!doctype html", b"<html")):
        raise Unreadable("the file is an HTML page; download the raw notebook and hand that in")
    try:
        raw = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        conflict = b"<<<<<<< " in data and b">>>>>>> " in data
        why = "it holds conflict markers of git" if conflict else "it is not JSON"
        raise Unreadable(f"the notebook cannot be read ({why}); save it again in Jupyter and hand it in anew") from None
    if not isinstance(raw, dict):
        raise Unreadable("the file is JSON but no notebook; save the notebook again in Jupyter and hand it in anew")
    version = raw.get("nbformat", 4)
    if isinstance(version, int) and version > 4:
        raise Unreadable("the notebook was made by a newer format; save it as version 4 and hand it in again")
    language = _language(raw)
    if language not in ("", "python", "ipython"):
        spoken = "".join(filter(str.isalnum, language))[:20] or "something else"
        raise Unreadable(f"this is not a Python notebook (its kernel speaks {spoken}); hand in the released one")
    return raw


def _language(raw: dict[str, Any]) -> str:
    metadata = raw.get("metadata")
    kernel = metadata.get("kernelspec") if isinstance(metadata, dict) else None
    language = kernel.get("language") if isinstance(kernel, dict) else None
    return language.lower() if isinstance(language, str) else ""


def _plain(cell: dict[str, Any]) -> dict[str, Any]:
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    metadata = cell.get("metadata")
    kind = cell.get("cell_type")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = marks.get("grade_id") if isinstance(marks, dict) else None
    return {
        "type": kind if isinstance(kind, str) and kind in _TYPES else "markdown",
        "source": (source if isinstance(source, str) else "").encode("utf-8", "replace").decode(),
        "grade_id": grade_id if isinstance(grade_id, str) else None,
    }


def _shortened(cells: list[dict[str, Any]], notes: list[str]) -> list[dict[str, Any]]:
    long = sum(len(cell["source"]) > MAX_SOURCE for cell in cells)
    if long:
        notes.append(f"{long} cells were too long; the first {MAX_SOURCE} characters of each were read")
    return [{**cell, "source": cell["source"][:MAX_SOURCE]} for cell in cells]


def _mended(
    submitted: Sequence[dict[str, Any]], release: dict[str, ReleasedCell], notes: list[str]
) -> list[NotebookNode]:
    """The cells as they are to be graded. Of copies of an answer the last counts, as in a run from top to bottom; of
    copies of a released cell the first."""
    counts: dict[str, list[int]] = {}
    for place, cell in enumerate(submitted):
        if cell["grade_id"] in release:
            counts.setdefault(cell["grade_id"], []).append(place)
    chosen = {places[0 if release[name].locked else -1]: release[name] for name, places in counts.items()}
    notes += [
        f"the cell `{name}` was there {len(places)} times; the {'first' if release[name].locked else 'last'} one counts"
        for name, places in counts.items()
        if len(places) > 1
    ]
    found = []
    for place, cell in enumerate(submitted):
        known = chosen.get(place)
        if known is None:
            found.append(_new_cell(cell["type"], cell["source"]))
            continue
        if cell["type"] != known.cell_type:
            notes.append(
                f"the cell `{known.grade_id}` had become a {cell['type']} cell; it is a {known.cell_type} cell"
            )
        if known.locked and cell["source"].strip() != known.source.strip():
            notes.append(f"the cell `{known.grade_id}` had been changed; the released one is used")
        found.append(_released(known, known.source if known.locked else cell["source"]))
    return found


def _released(cell: ReleasedCell, source: str) -> NotebookNode:
    return _new_cell(cell.cell_type, source, nbgrader=NotebookNode(cell.metadata()))


def _new_cell(kind: str, source: str, **metadata: Any) -> NotebookNode:
    """A cell without an id. nbformat's own functions look up a schema for each, and take longer than all the rest."""
    made = NotebookNode(cell_type=kind, source=source, metadata=NotebookNode(metadata))
    return NotebookNode(made, execution_count=None, outputs=[]) if kind == "code" else made


def _add_missing(cells: list[NotebookNode], release: Sequence[ReleasedCell], notes: list[str]) -> None:
    """Put each released cell that is not there behind the one that it follows in the release."""
    after = 0
    for cell in release:
        places = [i for i, c in enumerate(cells) if c.metadata.get("nbgrader", {}).get("grade_id") == cell.grade_id]
        if places:
            after = places[0] + 1
            continue
        notes.append(f"the cell `{cell.grade_id}` was missing; the released one was put back")
        cells.insert(after, _released(cell, cell.source))
        after += 1
