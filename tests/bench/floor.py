"""The floor: bare checks called directly in one forked child per submission. No isolation, no limits, no reports.

A student's functions are called as they are, in the same process as suites and reference. This is what the grader's
cost is compared with; nobody should grade like this.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from autograder.course import Assignment, CourseFiles
from autograder.intake import Submission
from autograder.suite.checking import Gradients
from autograder.suite.checks import Check
from autograder.suite.desk import Desk, Seat
from autograder.suite.faults import Raised


class Bare:
    """A function, module or object of the student's, called in this process, with what checks ask of a proxy."""

    def __init__(self, thing: Any) -> None:
        self.__dict__["thing"] = thing

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.thing, name)
        return Bare(found) if callable(found) else found

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        given = [_bare(a) for a in arguments]
        try:
            return _wrapped(self.thing(*given, **{k: _bare(v) for k, v in keywords.items()}))
        except ValueError as error:
            raise Raised("raised", "", ("ValueError",), str(error)) from None

    def each(self, argument_lists: list[Any]) -> list[Any]:
        return [self(*arguments) for arguments in argument_lists]

    def value(self, name: str) -> Any:
        return _wrapped(getattr(self.thing, name))

    def trainable(self) -> dict[str, torch.Tensor]:
        return {n: p.detach() for n, p in self.thing.named_parameters() if p.requires_grad}

    def operators(self, *arguments: Any) -> set[str]:
        self(*arguments)
        return set()

    def arguments_after(self, *arguments: Any, **keywords: Any) -> tuple[Any, list[Any]]:
        copies = [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments]
        return self(*copies, **keywords), copies

    def gradients(self, *arguments: Any, along: Any) -> Gradients:
        floats = [isinstance(a, torch.Tensor) and a.is_floating_point() for a in arguments]
        copies = [a.clone().requires_grad_() if f else _bare(a) for a, f in zip(arguments, floats, strict=True)]
        outputs, directions = self.thing(*copies), along
        if not isinstance(outputs, tuple):
            outputs, directions = (outputs,), (along,)
        pairs = [(o, d) for o, d in zip(outputs, directions, strict=True) if d is not None and o.requires_grad]
        if pairs:
            torch.autograd.backward([o for o, _ in pairs], [d for _, d in pairs])
        named = self.thing.named_parameters() if isinstance(self.thing, torch.nn.Module) else ()
        return Gradients(
            [c.grad if f else None for c, f in zip(copies, floats, strict=True)], {n: p.grad for n, p in named}
        )


def _bare(value: Any) -> Any:
    return value.thing if isinstance(value, Bare) else value


def _wrapped(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, tuple):
        return tuple(_wrapped(v) for v in value)
    plain = value is None or isinstance(value, (bool, int, float, str, list, dict))
    return value if plain else Bare(value)


class Floor:
    """Suites and references loaded once; a forked child per submission."""

    def __init__(self, files: CourseFiles, assignment: Assignment, seed: int) -> None:
        import torch._dynamo  # constructing an optimizer imports it; once here, not in every child

        torch.set_num_threads(1)  # as in the grader and its workers
        self.assignment = assignment
        self.files = files
        self.desk = Desk(files, assignment, seed)
        self.checks = [(e.name, list(_checks(files.suite_file(assignment.id, e.name)))) for e in assignment.exercises]
        for exercise in assignment.exercises:
            self.desk.reference(exercise.name)

    def grade(self, submission: Submission) -> int:
        """Number of checks passed, counted in a forked child."""
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(writing, str(self.count(submission)).encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as file:
            passed = int(file.read() or 0)
        os.waitpid(pid, 0)
        return passed

    def count(self, submission: Submission) -> int:
        """Run all checks on a submission in this process."""
        sources = {name: file.content for name, file in submission.files.items()}
        self.desk.take(Seat(None, sources))  # type: ignore[arg-type]  # only its sources and stand-ins are used
        passed = 0
        for exercise, functions in self.checks:
            modules = {own: self._modules(exercise, sources, own) for own in (False, True)}
            for name, function in functions:
                passed += self._passes(exercise, name, function, modules)
        return passed

    def _passes(self, exercise: str, name: str, function: Callable[..., Any], modules: Mapping[bool, Any]) -> bool:
        check = Check(f"{exercise}::{name}", exercise, "", None, True)  # type: ignore[arg-type]  # nobody asks for its points
        offer = {
            "student": lambda: Bare(modules[False][exercise]),
            "own": lambda: Bare(modules[True][exercise]),
            "reference": lambda: self.desk.reference(exercise),
            "rng": lambda: self.desk.inputs(check),
            "trace": lambda: lambda entry: self.desk.trace(exercise, entry),
            "rig": lambda: Bare(modules[False][f"rig_{exercise}"]),
        }
        try:
            function(**{name: offer[name]() for name in inspect.signature(function).parameters})
        except Exception:
            return False
        return True

    def _modules(self, exercise: str, sources: Mapping[str, bytes], own: bool) -> dict[str, types.ModuleType]:
        unit = self.desk.unit(exercise, own)
        loaded = {name: _module(name, source) for name, source in _in_order(unit.siblings, self.assignment)}
        loaded[exercise] = _module(exercise, sources[exercise])
        if unit.rig is not None:
            loaded[f"rig_{exercise}"] = _module(f"rig_{exercise}", unit.rig)
        return loaded


def _in_order(siblings: Mapping[str, bytes], assignment: Assignment) -> Iterator[tuple[str, bytes]]:
    return ((e.name, siblings[e.name]) for e in assignment.exercises if e.name in siblings)


def _module(name: str, source: bytes) -> types.ModuleType:
    module = types.ModuleType(name)
    sys.modules[name] = module
    try:
        exec(compile(source, f"{name}.py", "exec"), module.__dict__)
    except Exception:
        pass
    return module


def _checks(path: Path) -> Iterator[tuple[str, Callable[..., Any]]]:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, function in vars(module).items():
        if name.startswith("test_"):
            marks = {mark.name: mark for mark in getattr(function, "pytestmark", ())}
            if "parametrize" in marks:
                raise SystemExit(f"{path.name}::{name}: the floor does not know parametrized checks")
            yield name, function
