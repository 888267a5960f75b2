"""What a source says without being run: what an exercise forbids, and lines an instructor should see.

A forbidden operation is a dotted name such as torch.nn.functional.layer_norm. It is found by what names mean in the
file (imports and their aliases), so a function of one's own with the same last name is no use of it. What is put
together while the code runs is not found here; an operator log is there for that (`checking.computes_without`).
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Any

from selfcheck.loading import statements_of

MOST_FOUND = 20

_CURIOUS_MODULES = set(
    """ctypes cffi gc inspect sys os subprocess socket importlib builtins multiprocessing threading _thread signal
    pickle marshal mmap pty code codeop atexit faulthandler linecache traceback autograder pytest _pytest""".split()
)
_CURIOUS_NAMES = {"eval", "exec", "compile", "__import__", "globals", "vars", "breakpoint", "setattr", "delattr"}
_CURIOUS_ATTRIBUTES = set(
    """_C ops _getframe f_back f_globals f_locals f_builtins __globals__ __builtins__ __subclasses__ __code__
    __closure__ __bases__ __mro__ __dict__ __reduce__ __loader__ __torch_function__ __torch_dispatch__""".split()
)


def inspect(source: bytes, forbidden: Collection[str]) -> dict[str, list[list[Any]]]:
    """Findings as [what, line]: `refused`, the forbidden operations it uses, and `curious`, what is worth a look."""
    nodes = [node for statement in statements_of(source) for node in ast.walk(statement)]
    meanings, stars = _imports(nodes)
    own = {n.name for n in nodes if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))}
    uses = _uses(nodes, meanings, stars, own, forbidden)
    return {"refused": _by_line(uses), "curious": _by_line(_curious(nodes))}


def _by_line(found: Iterator[tuple[str, int]]) -> list[list[Any]]:
    return [[what, line] for line, what in sorted({(line, what) for what, line in found})[:MOST_FOUND]]


def _imports(nodes: list[ast.AST]) -> tuple[dict[str, str], list[str]]:
    """What imported names mean, and the modules of which everything is imported."""
    meanings: dict[str, str] = {}
    stars = []
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                meanings[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            meanings |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            stars += [node.module or "" for alias in node.names if alias.name == "*"]
    return meanings, stars


def _uses(
    nodes: list[ast.AST], meanings: dict[str, str], stars: list[str], own: set[str], forbidden: Collection[str]
) -> Iterator[tuple[str, int]]:
    ends = {(name.partition(".")[0], name.rpartition(".")[2]): name for name in forbidden}
    for node in nodes:
        if isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and node.id not in own):
            meaning = _meaning(node, meanings)
            if meaning is None and isinstance(node, ast.Name):
                meaning = next((f"{module}.{node.id}" for module in stars), None)
            if meaning and (
                found := meaning
                if meaning in forbidden
                else ends.get((meaning.partition(".")[0], meaning.rpartition(".")[2]))
            ):
                yield found, node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            asked = [a.value for a in node.args[1:2] if isinstance(a, ast.Constant)]
            yield from ((name, node.lineno) for (_, end), name in ends.items() if end in asked)


def _meaning(node: ast.expr, meanings: dict[str, str]) -> str | None:
    """The dotted name that an expression stands for, as far as imports tell."""
    if isinstance(node, ast.Name):
        return meanings.get(node.id)
    if isinstance(node, ast.Attribute) and (base := _meaning(node.value, meanings)):
        return f"{base}.{node.attr}"
    return None


def _curious(nodes: list[ast.AST]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            yield from ((f"imports {n[:60]}", node.lineno) for n in names if n.partition(".")[0] in _CURIOUS_MODULES)
        elif isinstance(node, ast.Name) and node.id in _CURIOUS_NAMES:
            yield f"uses {node.id}", node.lineno
        elif isinstance(node, ast.Attribute) and node.attr in _CURIOUS_ATTRIBUTES:
            yield f"uses .{node.attr}", node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            yield "uses getattr", node.lineno
