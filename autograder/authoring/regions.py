"""Marked regions of a source file: `### BEGIN SOLUTION` to `### END SOLUTION`, and the same for HIDDEN TESTS."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.authoring.errors import AuthoringError

SOLUTION, HIDDEN_TESTS = "SOLUTION", "HIDDEN TESTS"

_MARKERS = {f"### {edge} {kind}": (edge, kind) for edge in ("BEGIN", "END") for kind in (SOLUTION, HIDDEN_TESTS)}
_LOOKS_LIKE = re.compile(r"###\s*(?:BEGIN|END)\b|#[#\s]*(?:BEGIN|END)[\s_-]*(?:SOLUTION|HIDDEN)", re.IGNORECASE)


@dataclass(frozen=True)
class Region:
    """The lines between two markers. `begin` and `end` (from 1) are the lines of the markers, `indent` is theirs."""

    begin: int
    end: int
    indent: str

    def holds(self, node: ast.stmt) -> bool:
        """Does the statement lie in the region with all its lines?"""
        return self.begin < first_line(node) and last_line(node) < self.end

    def touches(self, node: ast.stmt) -> bool:
        """Does at least one line of the statement lie in the region?"""
        return first_line(node) < self.end and last_line(node) > self.begin


def find_regions(text: str, kind: str, file: str) -> list[Region]:
    """The regions of this kind, in file order.

    Raises:
        AuthoringError: a marker is misspelt, lacks its partner, or stands in quotes or in the wrong kind of file.
    """
    found: list[Region] = []
    begin, indent = 0, ""
    for number, line, edge, of in _markers(text, file):
        here = line[: len(line) - len(line.lstrip())]
        if of != kind:
            raise AuthoringError.at(file, number, f"`{line.strip()}` has no place in this kind of file")
        if edge == "BEGIN":
            if begin:
                raise AuthoringError.at(file, number, f"this region begins inside that of line {begin}")
            begin, indent = number, here
        elif not begin:
            raise AuthoringError.at(file, number, "this region ends but never began")
        elif here != indent:
            raise AuthoringError.at(file, number, f"indent this marker like its partner in line {begin}")
        else:
            found.append(Region(begin, number, indent))
            begin = 0
    if begin:
        raise AuthoringError.at(file, begin, "this region never ends")
    return found


def parse(text: str, file: str) -> ast.Module:
    """The syntax tree of a text that must compile. Raises AuthoringError."""
    try:
        compile(text, file, "exec", dont_inherit=True)
        return ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        raise AuthoringError.at(file, line, f"this is not valid Python: {message}") from None


def first_line(node: ast.stmt) -> int:
    """The line on which a statement begins, its decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def last_line(node: ast.stmt) -> int:
    """The last line of a statement."""
    return node.end_lineno or node.lineno


def _markers(text: str, file: str) -> Iterator[tuple[int, str, str, str]]:
    """Line number, line, BEGIN or END, and kind of each marker."""
    comments = {
        token.start[0]
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    }
    for number, line in enumerate(text.split("\n"), start=1):
        if not _LOOKS_LIKE.search(line):
            continue
        if line.strip() not in _MARKERS:
            known = ", ".join(f"`{marker}`" for marker in _MARKERS)
            raise AuthoringError.at(file, number, f"write a marker alone on its line and exactly as one of {known}")
        if number not in comments:
            raise AuthoringError.at(file, number, "this marker stands inside a text in quotes")
        yield number, line, *_MARKERS[line.strip()]
