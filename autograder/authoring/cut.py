"""Cut the answers out of the complete form: solution regions of modules, hidden regions of suites and rigs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autograder.authoring.errors import AuthoringError
from autograder.authoring.imports import for_students, refuse_foreign
from autograder.authoring.regions import HIDDEN_TESTS, SOLUTION, Region, find_regions, parse


def cut_solution(text: str, file: str = "solution.py") -> str:
    """A solution module with each region replaced by `raise NotImplementedError("name of the function")`.

    Raises:
        AuthoringError: a marker or the place of a region is wrong, or the text does not compile, before or after the
            cut.
    """
    text = with_line_feeds(text)
    tree, lines = parse(text, file), text.split("\n")
    for region in reversed(find_regions(text, SOLUTION, file)):
        name = function_around(tree, region, file)
        lines[region.begin - 1 : region.end] = [f'{region.indent}raise NotImplementedError("{name}")']
    stub = "\n".join(lines)
    parse(stub, f"{file} after the cut")
    return stub


def cut_hidden_tests(text: str, file: str = "test_suite.py") -> str:
    """The public part of a suite as students get it, with the imports it uses and `selfcheck` in the place of the kit.

    Raises:
        AuthoringError: as for `cut_solution`; also when a helper outside the regions serves hidden checks only, or the
            public part imports what students do not have.
    """
    _refuse_idle_helpers(parse(public_part(text, file), file), parse(with_line_feeds(text), file), file)
    return cut_hidden_parts(text, file)


def cut_hidden_parts(text: str, file: str) -> str:
    """The same for a rig, whose functions are called from elsewhere. Raises AuthoringError."""
    refuse_foreign(parse(public_part(text, file), file), file)
    text = with_line_feeds(text)
    lines = text.split("\n")
    for region in reversed(find_regions(text, HIDDEN_TESTS, file)):
        _cut(lines, region)
    public = for_students("\n".join(lines).rstrip("\n") + "\n", file)
    parse(public, f"{file} after the cut")
    return public


def public_part(text: str, file: str) -> str:
    """A suite or rig with the lines of its hidden regions emptied, so that all others keep their numbers.

    Raises:
        AuthoringError: a marker or the place of a region is wrong, or the text does not compile.
    """
    text = with_line_feeds(text)
    tree, lines = parse(text, file), text.split("\n")
    for region in find_regions(text, HIDDEN_TESTS, file):
        if region.indent:
            raise AuthoringError.at(file, region.begin, "do not indent a hidden region; it holds whole checks")
        _refuse_halves(tree.body, region, file)
        lines[region.begin - 1 : region.end] = [""] * (region.end - region.begin + 1)
    return "\n".join(lines)


def with_line_feeds(text: str) -> str:
    """The text with the line ends of Unix and no byte order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def function_around(tree: ast.Module, region: Region, file: str) -> str:
    """The function whose statements a region holds, as `layer_norm` or `LayerNorm.forward`."""
    names: list[str] = []
    node: ast.AST = tree
    in_function = False
    while True:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.append(node.name)
            in_function = not isinstance(node, ast.ClassDef)
        touched = [block for block in _blocks(node) if any(region.touches(statement) for statement in block)]
        if not touched:
            raise AuthoringError.at(file, region.begin, "this region holds no whole statement")
        inside = [statement for block in touched for statement in block if region.touches(statement)]
        if len(inside) == 1 and not region.holds(inside[0]):
            node = inside[0]
            continue
        if len(touched) > 1:
            raise AuthoringError.at(file, region.begin, "this region begins in one branch and ends in another")
        _refuse_halves(inside, region, file)
        if not in_function:
            raise AuthoringError.at(file, region.begin, "a solution region stands inside a function or method")
        if inside[0].col_offset != len(region.indent.encode()):
            raise AuthoringError.at(file, region.begin, "indent the markers like the statements between them")
        return ".".join(names)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements directly inside a node: bodies, else branches, handlers and cases."""
    for _, value in ast.iter_fields(node):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            yield value
        elif isinstance(value, list) and value and isinstance(value[0], (ast.excepthandler, ast.match_case)):
            for part in value:
                yield part.body


def _refuse_halves(statements: Sequence[ast.stmt], region: Region, file: str) -> None:
    for statement in statements:
        if region.touches(statement) and not region.holds(statement):
            raise AuthoringError.at(
                file, region.begin, f"this region cuts the statement of line {statement.lineno} in two"
            )


def _cut(lines: list[str], region: Region) -> None:
    """Take the region's lines out, and all but two of the blank lines that then meet."""
    first, last = region.begin - 1, region.end
    while first > 0 and not lines[first - 1].strip():
        first -= 1
    while last < len(lines) and not lines[last].strip():
        last += 1
    lines[first:last] = ["", ""] if first else []


def _refuse_idle_helpers(public: ast.Module, whole: ast.Module, file: str) -> None:
    """A helper that no public check uses would show students what hidden checks look at."""
    idle = _used_names(whole) - _used_names(public)
    for node in public.body:
        for name in _defined(node):
            if name in idle:
                raise AuthoringError.at(
                    file, node.lineno, f"`{name}` serves hidden checks only; move it into the hidden region"
                )


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _used_names(tree: ast.Module) -> set[str]:
    """Names that are read somewhere, by something other than the definition of the same name."""
    return {
        inner.id
        for node in tree.body
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id not in _defined(node)
    }
