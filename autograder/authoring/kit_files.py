"""The kit's own modules that a self-check needs, as one package `selfcheck` without the rest of the kit."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from autograder.authoring.errors import AuthoringError

KIT = Path(__file__).parents[1]
BUNDLE = KIT / "authoring" / "bundle"

_MODULE = re.compile(r"autograder\.(suite|sandbox|quiz|authoring\.bundle)\.(\w+)")
_START = (
    "autograder.suite.checking",
    "autograder.authoring.bundle.conftest",
    "autograder.authoring.bundle.__main__",
    "autograder.authoring.bundle.notebook",
)


def self_check() -> dict[str, str]:
    """Path in a bundle -> text: `conftest.py`, `pytest.ini`, and all of `selfcheck/` that their imports lead to.

    Raises:
        AuthoringError: one of the modules imports a part of the kit that cannot go into a bundle.
    """
    found = {
        "pytest.ini": (BUNDLE / "pytest.ini").read_text("utf-8"),
        "selfcheck/__init__.py": (BUNDLE / "__init__.py").read_text("utf-8"),
    }
    seen: set[str] = set()
    waiting = list(_START)
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        seen.add(module)
        text = source_of(module).read_text("utf-8")
        waiting += _kit_imports(text, module)
        name = module.rpartition(".")[2]
        path = "conftest.py" if name == "conftest" else f"selfcheck/{name}.py"
        if path in found:
            raise AuthoringError(f"two modules of the kit would both become {path}; rename one")
        found[path] = _MODULE.sub(r"selfcheck.\2", text)
    return found


def source_of(module: str) -> Path:
    """The file of a module of the kit."""
    return KIT.joinpath(*module.split(".")[1:]).with_suffix(".py")


def _kit_imports(text: str, module: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(text)):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            if name.partition(".")[0] != "autograder":
                continue
            if not _MODULE.fullmatch(name) or isinstance(node, ast.Import):
                raise AuthoringError(
                    f"{module} belongs to the self-check and imports {name}, which students do not get; "
                    "self-check modules use `from autograder.suite.x import y` (or sandbox or quiz) only"
                )
            found.append(name)
    return found
