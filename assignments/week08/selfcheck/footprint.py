"""What a submission changed in the process around it: replaced library functions, new modules, hooks, threads.

Taken once when the zygote is warm, compared between two exercises of one worker. An honest module leaves no footprint,
so the next exercise may use the same worker and cannot tell; any footprint sends the next exercise to a fresh worker.
"""

from __future__ import annotations

import builtins
import importlib
import os
import sys
import threading
from operator import is_
from typing import Any

_WATCHED = """
builtins math random os time functools itertools operator warnings copy contextlib typing dataclasses collections inspect
numpy numpy.random torch torch.nn torch.nn.functional torch.nn.init torch.nn.modules.module torch.autograd torch.linalg torch.optim
torch.optim.optimizer torch.optim.adamw torch.special torch.fft torch.random torch.utils.data torch.testing
torch.overrides
""".split()
_WATCHED_CLASSES = ("torch.Tensor", "torch.nn.Module", "torch.nn.Linear", "torch.nn.LayerNorm", "torch.Generator")


class Footprint:
    """The state of the process when it was made, to be compared with its state later."""

    def __init__(self) -> None:
        self._spaces = {name: dict(space) for name, space in _spaces()}
        self._modules = set(sys.modules)
        self._settings = _settings()

    def changes(self, ignore: set[str] = frozenset()) -> list[str]:  # type: ignore[assignment]
        """What is different now, as names (`torch.softmax`, `module tkinter`); `ignore` are the exercises' modules."""
        found = []
        for name, space in _spaces():
            before = self._spaces[name]
            if len(space) != len(before) or not all(map(is_, space.values(), before.values())):
                changed = {k for k, v in space.items() if before.get(k, self) is not v} | (before.keys() - space.keys())
                found += [f"{name}.{key}" for key in sorted(map(str, changed))]
        found += [f"module {name}" for name in sorted(map(str, sys.modules.keys() - self._modules - ignore))]
        now = _settings()
        found += [key for key, value in self._settings.items() if now[key] != value]
        return [entry for entry in found if entry not in _HARMLESS][:20]


_HARMLESS = {"builtins._"}


def _spaces() -> list[tuple[str, dict[str, Any]]]:
    spaces = [(name, vars(importlib.import_module(name))) for name in _WATCHED if name in sys.modules]
    import torch

    classes = (torch.Tensor, torch.nn.Module, torch.nn.Linear, torch.nn.LayerNorm, torch.Generator)
    return spaces + [(name, vars(cls)) for name, cls in zip(_WATCHED_CLASSES, classes)]  # type: ignore[misc]


def _settings() -> dict[str, Any]:
    import torch

    hooks = torch.nn.modules.module
    names = [n for n in vars(hooks) if n.startswith("_global_") and isinstance(getattr(hooks, n), dict)]
    return {
        "sys.path": tuple(sys.path),
        "sys.meta_path": tuple(id(f) for f in sys.meta_path if type(f).__name__ != "Siblings"),
        "recursion limit": sys.getrecursionlimit(),
        "threads": threading.active_count(),
        "working directory": os.getcwd(),
        "environment": tuple(sorted(os.environ.items())),
        "module hooks": tuple(len(getattr(hooks, n)) for n in names),
        "trace function": (sys.gettrace(), sys.getprofile()),
        "torch threads": torch.get_num_threads(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "build class": builtins.__build_class__ is _BUILD_CLASS,
    }


_BUILD_CLASS = builtins.__build_class__
