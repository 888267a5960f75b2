"""What a suite says of its checks besides what they are worth, read from its text."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from autograder.authoring.contents import read_source, shown
from autograder.authoring.errors import AuthoringError
from autograder.authoring.regions import parse
from autograder.course import Assignment, CourseFiles


@dataclass(frozen=True)
class Facts:
    """Checks by their ids: those that run on the student's `own` earlier parts, and why some are `narrow`."""

    own: frozenset[str]
    narrow: Mapping[str, str]


def facts(files: CourseFiles, assignment: Assignment, exercise: str) -> Facts:
    """The facts of one suite. Raises AuthoringError."""
    path = files.suite_file(assignment.id, exercise)
    own, narrow = set(), {}
    for node in parse(read_source(files, path), shown(files, path)).body:
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
            continue
        name = f"{exercise}::{node.name}"
        if any(argument.arg == "own" for argument in node.args.args):
            own.add(name)
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.narrow":
                reason = decorator.args[0] if decorator.args else None
                if not isinstance(reason, ast.Constant) or not isinstance(reason.value, str):
                    raise AuthoringError.at(shown(files, path), node.lineno, "narrow takes one argument, the reason")
                narrow[name] = reason.value
    return Facts(frozenset(own), narrow)
