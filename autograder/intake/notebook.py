"""Exercises written in a notebook: the cells that belong to each, as the text of a module. No cell is run or parsed.

A cell belongs to an exercise when it defines one of its names. Cells that define nothing of any exercise (imports,
helpers, trials) go along with all of them, in the notebook's order; those of other exercises do not, and what an
exercise builds on is imported from there as in its module, so that a mistake costs once in a notebook too. Where a
cell stands twice, the later one counts, as when the notebook is run. Outputs, cell ids and metadata play no part.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.course import Assignment, CourseFiles
from autograder.intake.content import conflict_line, unreadable

MAX_NOTEBOOK_BYTES = 20_000_000
"""Outputs of old runs, which are not read, may make a notebook large."""
NEWEST_FORMAT = 4

_DEFINED = re.compile(r"^(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]{1,80})?=(?!=)", re.MULTILINE)
_FUTURE = re.compile(r"^from __future__ import .*\n?", re.MULTILINE)
_WRITTEN_FILE = re.compile(r"%%writefile[ \t]+(?:\./)?(\w+)\.py[ \t]*\n(.*)", re.DOTALL)
_HARMLESS_MAGIC = re.compile(r"%%(?:time|timeit|capture)\b.*\n?")
_COMMAND = re.compile(r"^([%!].*)$", re.MULTILINE)


@dataclass(frozen=True)
class Part:
    """What an exercise defines, and what it takes from others: names by exercise."""

    defines: frozenset[str]
    needs: Mapping[str, Sequence[str]]


def parts_of(files: CourseFiles, assignment: Assignment) -> dict[str, Part]:
    """The parts of an assignment, read off its solutions; an exercise without one is not looked for in notebooks."""
    names = {e.name: _public_names(files, assignment.id, e.name) for e in assignment.exercises}
    return {
        e.name: Part(names[e.name], {need: sorted(names[need]) for need in e.needs if names[need]})
        for e in assignment.exercises
        if names[e.name]
    }


def _public_names(files: CourseFiles, assignment: str, exercise: str) -> frozenset[str]:
    try:
        body = ast.parse(files.solution(assignment, exercise).read_bytes()).body
    except (OSError, SyntaxError):
        return frozenset()
    names = [node.name for node in body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
    return frozenset(name for name in names if not name.startswith("_"))


@dataclass(frozen=True)
class Notebook:
    """The code cells of a notebook, or in `problem` why there are none, in words that continue the file's name."""

    cells: tuple[str, ...] = ()
    problem: str | None = None

    def module(self, exercise: str, parts: Mapping[str, Part]) -> bytes | None:
        """The module of an exercise, or None where no cell defines any of it."""
        if written := _written(self.cells, exercise):
            return written.encode("utf-8", "surrogatepass")
        own = parts[exercise].defines
        others = frozenset[str]().union(*(part.defines for part in parts.values())) - own
        cells = [(cell, _names(cell)) for cell in map(_without_commands, self.cells)]
        if not any(names & own for _, names in cells):
            return None
        chosen = [cell for cell, names in cells if names & own or not names & others]
        imports = [f"from {need} import {', '.join(names)}" for need, names in parts[exercise].needs.items()]
        future = dict.fromkeys(line.strip() for cell in chosen for line in _FUTURE.findall(cell))
        text = "\n\n".join(["\n".join([*future, *imports]), *(_FUTURE.sub("", cell) for cell in chosen)])
        return (text.strip() + "\n").encode("utf-8", "surrogatepass")


def read_notebook(content: bytes) -> Notebook:
    """The notebook in these bytes, whatever they are."""
    if problem := _no_text(content):
        return Notebook(problem=problem)
    try:
        data = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        line = conflict_line(content)
        where = f"has a git conflict marker in line {line}; resolve the conflict" if line else ""
        return Notebook(problem=where or "cannot be read as a notebook; save it again and hand it in")
    if not isinstance(data, dict) or not isinstance(data.get("nbformat", NEWEST_FORMAT), int):
        return Notebook(problem="is no notebook; save it again and hand it in")
    if data.get("nbformat", NEWEST_FORMAT) > NEWEST_FORMAT:
        return Notebook(problem=f"was made by a newer format; save it as version {NEWEST_FORMAT}")
    language = _language(data.get("metadata"))
    if language is not None and "python" not in language.casefold():
        return Notebook(problem=f"is not a Python notebook (its language is {language[:20]!a})")
    return Notebook(tuple(_code(data)))


def _no_text(content: bytes) -> str | None:
    """What `unreadable` says of it; a notebook under its own name is none of its business."""
    problem = unreadable(content)
    return None if problem is not None and problem.startswith("is a notebook") else problem


def _language(metadata: Any) -> str | None:
    for key, name in (("kernelspec", "language"), ("language_info", "name")):
        part = metadata.get(key) if isinstance(metadata, dict) else None
        if isinstance(part, dict) and isinstance(part.get(name), str):
            return str(part[name])
    return None


def _code(data: Mapping[str, Any]) -> Iterator[str]:
    """The text of each code cell, of the format's third version too."""
    sheets = data.get("worksheets") if isinstance(data.get("worksheets"), list) else [data]
    for sheet in sheets or ():
        cells = sheet.get("cells") if isinstance(sheet, dict) else None
        for cell in cells if isinstance(cells, list) else ():
            if isinstance(cell, dict) and cell.get("cell_type") == "code":
                source = cell.get("source", cell.get("input", ""))
                yield "".join(map(str, source)) if isinstance(source, list) else str(source)


def _written(cells: Sequence[str], exercise: str) -> str | None:
    """What the last cell that writes this very file writes into it."""
    found = [match for cell in cells if (match := _WRITTEN_FILE.match(cell.lstrip())) and match[1] == exercise]
    return found[-1][2] if found else None


def _without_commands(cell: str) -> str:
    """The cell without what only a notebook understands."""
    cell = _HARMLESS_MAGIC.sub("", cell, count=1) if _HARMLESS_MAGIC.match(cell) else cell
    return "" if cell.startswith("%%") else _COMMAND.sub(r"# \1", cell)


def _names(cell: str) -> frozenset[str]:
    return frozenset(name for found in _DEFINED.findall(cell) for name in found if name)
