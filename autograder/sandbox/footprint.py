"""What a submission changed in the process around it: replaced library functions, new modules, hooks, threads.

Taken once when the zygote is warm, compared between two exercises of one worker. An honest module leaves no footprint,
so the next exercise may use the same worker and cannot tell; any footprint sends the next exercise to a fresh worker.
"""

from __future__ import annotations

import builtins
import os
import signal
import sys
import threading
from collections.abc import Collection
from importlib.machinery import ModuleSpec
from operator import is_
from typing import Any

from autograder.sandbox.versions import names_of, version_in

_WATCHED = """
builtins math random os time functools itertools operator warnings copy contextlib typing dataclasses collections
inspect numpy numpy.random torch torch.nn torch.nn.functional torch.nn.init torch.nn.modules.module torch.autograd
torch.linalg torch.optim torch.optim.optimizer torch.optim.adamw torch.special torch.fft torch.random torch.utils.data
torch.testing torch.overrides
""".split()


class Footprint:
    """The state of the process when it was made, to be compared with its state later."""

    def __init__(self) -> None:
        self._watched = [(name, sys.modules[name], type(sys.modules[name])) for name in _watched()]
        self._classes = [(name, cls, cls.__bases__) for name, cls in _classes()]
        spaces = [(name, vars(module)) for name, module, _ in self._watched]
        spaces += [(name, names_of(cls)) for name, cls, _ in self._classes]
        self._spaces = [(name, space, dict(space)) for name, space in spaces]
        self._versions = [version_in(space) for _, space in spaces]
        self._numbers = [None if version is None else version.value for version in self._versions]
        self._modules = set(sys.modules)
        self._last_module = next(reversed(sys.modules))
        self._settings = _settings()

    def renew_settings(self) -> None:
        """Settings as they are now are no change: whoever prepared this process made them."""
        self._settings = _settings()

    def changes(self, ignore: Collection[str] = ()) -> list[str]:
        """What is different now, as names (`torch.softmax`, `module tkinter`); `ignore` are the exercises' modules."""
        found = [name for name, cls, bases in self._classes if not _are_the_same(cls.__bases__, bases)]
        for name, module, kind in self._watched:
            if sys.modules.get(name) is not module or type(module) is not kind:
                found.append(name)
        for name, space, before in self._written():
            changed = {k for k, v in space.items() if before.get(k, self) is not v} | (before.keys() - space.keys())
            found += [f"{name}.{key}" for key in sorted(map(str, changed)) if key not in _NOTED_BY_COPY]
        strangers = {name for name in self._new_modules().difference(ignore) if not _is_a_librarys(name)}
        found += [f"module {name}" for name in sorted(map(str, strangers))]
        now = _settings()
        found += [key for key, value in self._settings.items() if now[key] != value]
        return [entry for entry in found if entry not in _HARMLESS][:20]

    def _written(self) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
        """Name, content and earlier content of each dict that was perhaps written to; the others are not touched."""
        places = enumerate(zip(self._versions, self._numbers, strict=True))
        return [self._spaces[i] for i, (now, then) in places if now is None or now.value != then]

    def _new_modules(self) -> set[str]:
        """Those imported since. They stand last, so that a fork need not touch (and so copy) what is old."""
        new: set[str] = set()
        for name in reversed(sys.modules):
            if name == self._last_module and len(sys.modules) == len(self._modules) + len(new):
                return new
            new.add(name)
        return sys.modules.keys() - self._modules


def _are_the_same(some: tuple[type, ...], others: tuple[type, ...]) -> bool:
    """Are they? What they say about being equal does not count."""
    return some is others or (len(some) == len(others) and all(map(is_, some, others)))


_HARMLESS = {"builtins._"}
_NOTED_BY_COPY = {"__slotnames__"}


def _is_a_librarys(name: str) -> bool:
    """Is it a module that was imported from an installed library, as any module may do?"""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return type(spec) is ModuleSpec and spec.name == name and (spec.has_location or spec.origin == "built-in")


def _watched() -> list[str]:
    """The modules that course code builds on, as far as they are there."""
    names = [*_WATCHED, *(name for name in sys.modules if name.startswith("torch.nn.modules."))]
    return [name for name in dict.fromkeys(names) if name in sys.modules]


def _classes() -> list[tuple[str, type]]:
    """The classes that course code builds on: tensors, layers, optimizers."""
    import torch

    found: dict[type, str] = {torch.Tensor: "torch.Tensor", torch.Generator: "torch.Generator"}
    for module in (torch.nn, torch.optim):
        found |= {v: f"{module.__name__}.{v.__name__}" for v in vars(module).values() if isinstance(v, type)}
    return [(name, cls) for cls, name in found.items() if cls.__module__.startswith("torch")]


def _settings() -> dict[str, Any]:
    import numpy
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
        "output streams": (type(sys.stdout), type(sys.stderr), sys.excepthook),
        "alarm": signal.getitimer(signal.ITIMER_REAL) if hasattr(signal, "getitimer") else None,
        "numpy errors": numpy.geterr(),
        "inference mode": torch.is_inference_mode_enabled(),
        "autocast": torch.is_autocast_enabled("cpu"),
        "function modes": (torch._C._len_torch_function_stack(), torch._C._len_torch_dispatch_stack()),
        "anomaly detection": torch.is_anomaly_enabled(),
        "torch threads": torch.get_num_threads(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "build class": builtins.__build_class__ is _BUILD_CLASS,
    }


_BUILD_CLASS = builtins.__build_class__
