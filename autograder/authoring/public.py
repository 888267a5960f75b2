"""What the public part of a suite declares: its checks with points, and the rig and traces they use.

The text is read and never executed.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from fractions import Fraction

from autograder.authoring.errors import AuthoringError
from autograder.authoring.regions import parse
from autograder.course import exact_points

FIXTURES = ("student", "own", "rng", "trace", "rig")
"""What public checks may ask for; students have no reference."""


@dataclass(frozen=True)
class PublicSuite:
    """`points` of each public check by name; the ids in `traces` are those that checks may ask for."""

    points: dict[str, Fraction]
    traces: frozenset[str]
    uses_rig: bool


def read_public(text: str, file: str) -> PublicSuite:
    """The public suite in a suite's public part.

    Raises:
        AuthoringError: there is no check in it, or a check is not declared as students' checks must be.
    """
    tree = parse(text, file)
    checks = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test")]
    if not checks:
        raise AuthoringError.at(file, None, "there is no public check in it; students need at least one")
    points: dict[str, Fraction] = {}
    for check in checks:
        if check.name in points:
            raise AuthoringError.at(file, check.lineno, f"a second check is called {check.name}")
        points[check.name] = _points(check, file)
    asked = {argument.arg for check in checks for argument in check.args.args}
    return PublicSuite(
        points=points,
        traces=_trace_ids(tree),
        uses_rig="rig" in asked,
    )


def _trace_ids(tree: ast.Module) -> frozenset[str]:
    """The texts in calls `trace("id")`; all texts of the file where a call does not write its id out."""
    nodes = list(ast.walk(tree))
    asked = [n.args[0] for n in nodes if isinstance(n, ast.Call) and ast.unparse(n.func) == "trace" and n.args]
    written_out = all(isinstance(argument, ast.Constant) for argument in asked)
    constants = asked if written_out else [n for n in nodes if isinstance(n, ast.Constant)]
    return frozenset(c.value for c in constants if isinstance(c, ast.Constant) and isinstance(c.value, str))


def _points(check: ast.FunctionDef, file: str) -> Fraction:
    for argument in check.args.args:
        if argument.arg not in FIXTURES:
            known = ", ".join(FIXTURES)
            raise AuthoringError.at(
                file, check.lineno, f"a public check cannot use `{argument.arg}`; students have {known}"
            )
    marker = check.decorator_list[0] if check.decorator_list else None
    if not isinstance(marker, ast.Call) or ast.unparse(marker.func) != "pytest.mark.points":
        raise AuthoringError.at(file, check.lineno, "the first mark of a check is @pytest.mark.points(points, title)")
    marks = [ast.unparse(m.func if isinstance(m, ast.Call) else m) for m in check.decorator_list[1:]]
    if not set(marks) <= {"pytest.mark.attested", "pytest.mark.narrow"}:
        raise AuthoringError.at(
            file, check.lineno, "the only other marks of a check are @pytest.mark.attested and @pytest.mark.narrow(why)"
        )
    try:
        points, title = (ast.literal_eval(argument) for argument in marker.args)
        if not isinstance(title, str):
            raise ValueError("and title must be written out")
        return exact_points(points)
    except ValueError as error:
        raise AuthoringError.at(file, marker.lineno, f"points {error}") from None
