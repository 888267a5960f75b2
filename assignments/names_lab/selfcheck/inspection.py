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
    """Findings as [what, line]: `refused`, the forbidden operations it uses, and `curious`, what is worth a look.

    Raises:
        RecursionError, MemoryError: it is too deep to be looked through as a whole.
    """
    statements = [statement for statement in statements_of(source) if not _is_for_main_only(statement)]
    nodes = [node for statement in statements for node in ast.walk(statement)]
    return {"refused": _by_line(_uses(nodes, forbidden)), "curious": _by_line(_curious(nodes))}


def _by_line(found: Iterator[tuple[str, int]]) -> list[list[Any]]:
    return [[what, line] for line, what in sorted({(line, what) for what, line in found})[:MOST_FOUND]]


def _is_for_main_only(statement: ast.stmt) -> bool:
    """Is it `if __name__ == "__main__":`? Under grading that never runs."""
    return isinstance(statement, ast.If) and ast.unparse(statement.test) in (
        "__name__ == '__main__'",
        "'__main__' == __name__",
    )


def _uses(nodes: list[ast.AST], forbidden: Collection[str]) -> Iterator[tuple[str, int]]:
    """Where a forbidden operation is imported or named; an import of it counts, whatever comes of it."""
    ends = {(name.partition(".")[0], name.rpartition(".")[2]): name for name in forbidden}

    def which(meaning: str | None) -> str | None:
        if meaning is None or meaning in forbidden:
            return meaning
        return ends.get((meaning.partition(".")[0], meaning.rpartition(".")[2]))

    meanings, stars = _meanings(nodes)
    own = {n.name for n in nodes if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))}
    own |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    own |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            imported = (which(f"{node.module}.{alias.name}") for alias in node.names)
            yield from ((name, node.lineno) for name in imported if name)
        elif isinstance(node, (ast.Attribute, ast.Name)):
            found = which(_meaning(node, meanings))
            if found is None and isinstance(node, ast.Name) and node.id not in own:
                found = next((name for star in stars if (name := which(f"{star}.{node.id}"))), None)
            if found:
                yield found, node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            thing, asked = (*node.args, None, None)[:2]
            if (
                thing is not None
                and isinstance(asked, ast.Constant)
                and type(asked.value) is str
                and (base := _meaning(thing, meanings))
            ):
                name = which(".".join((base, str(asked.value))))
                yield from [(name, node.lineno)] if name else []


def _meanings(nodes: list[ast.AST]) -> tuple[dict[str, str], list[str]]:
    """What imported names mean, and names that they were given to; the modules of which everything is imported."""
    meanings: dict[str, str] = {}
    stars = []
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                meanings[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            meanings |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            stars += [node.module or "" for alias in node.names if alias.name == "*"]
    for node in nodes:
        if isinstance(node, ast.Assign) and (meaning := _meaning(node.value, meanings)):
            meanings |= {target.id: meaning for target in node.targets if isinstance(target, ast.Name)}
    return meanings, stars


_DEEPEST = 12


def _meaning(node: ast.expr, meanings: dict[str, str]) -> str | None:
    """The dotted name that an expression stands for, as far as imports tell."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < _DEEPEST:
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in meanings:
        return None
    return ".".join([meanings[node.id], *reversed(parts)])


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
