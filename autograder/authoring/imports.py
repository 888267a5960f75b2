"""The imports of a suite as students get it: only what is used, and `selfcheck` in the place of the kit."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator

from autograder.authoring.errors import AuthoringError
from autograder.authoring.regions import parse

API, STUDENTS_API = "autograder.suite.checking", "selfcheck.checking"
WIDTH = 120

_STUDENTS_HAVE = {"torch", "numpy", "pytest", *sys.stdlib_module_names}


def for_students(text: str, file: str) -> str:
    """A public suite or rig with its unused imports removed and the kit's API imported from `selfcheck`."""
    tree = parse(text, file)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    lines = text.split("\n")
    for node in reversed(tree.body):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            _rewrite(lines, node, [alias for alias in node.names if _is_used(node, alias, used)])
    return "\n".join(lines)


def refuse_foreign(tree: ast.Module, file: str) -> None:
    """Raises AuthoringError when a public part imports something that students do not have."""
    for module, node in _foreign(tree, ()):
        if module != API or isinstance(node, ast.Import):
            raise AuthoringError.at(
                file, node.lineno, f"students do not have `{module}`; public checks import from {API} instead"
            )


def refuse_absent(tree: ast.Module, file: str, beside: Collection[str]) -> None:
    """The same for a file that students get as it is; `beside` are the modules that lie within its reach there."""
    for module, node in _foreign(tree, beside):
        raise AuthoringError.at(file, node.lineno, f"students do not have `{module}`, which this example imports")


def _foreign(tree: ast.Module, beside: Collection[str]) -> Iterator[tuple[str, ast.Import | ast.ImportFrom]]:
    """Each import of something that is neither on a student's machine nor `beside`: its module, and where it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = ["." * node.level + (node.module or "")]
        else:
            continue
        for module in modules:
            if module.partition(".")[0] not in _STUDENTS_HAVE and module.partition(".")[0] not in beside:
                yield module, node


def _is_used(node: ast.Import | ast.ImportFrom, alias: ast.alias, used: set[str]) -> bool:
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return True
    return alias.name == "*" or (alias.asname or alias.name.partition(".")[0]) in used


def _rewrite(lines: list[str], node: ast.Import | ast.ImportFrom, kept: list[ast.alias]) -> None:
    """Replace the lines of an import. One that needs no change stays as the author wrote it."""
    redirected = isinstance(node, ast.ImportFrom) and node.module == API
    if len(kept) == len(node.names) and not redirected:
        return
    first, last = node.lineno - 1, node.end_lineno or node.lineno
    if kept:
        lines[first:last] = _written(node, kept)
        return
    del lines[first:last]
    if 0 < first < len(lines) and not lines[first].strip() and not lines[first - 1].strip():
        del lines[first]


def _written(node: ast.Import | ast.ImportFrom, kept: list[ast.alias]) -> list[str]:
    names = [f"{alias.name} as {alias.asname}" if alias.asname else alias.name for alias in kept]
    if isinstance(node, ast.Import):
        return [f"import {', '.join(names)}"]
    start = f"from {STUDENTS_API if node.module == API else node.module} import "
    line = start + ", ".join(names)
    return [line] if len(line) <= WIDTH else [f"{start}(", *(f"    {name}," for name in names), ")"]
