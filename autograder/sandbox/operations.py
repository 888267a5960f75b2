"""What can be asked of a student's module: load, call, gradients, value, trainable, arguments after a call.

The same code serves a confined worker (requests come over the wire) and a student's own self-check (requests come from
the same process). It runs beside student code, so the grader believes nothing here but the form of the data.
"""

from __future__ import annotations

import dis
import random
import sys
import types
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.sandbox.inspection import inspect
from autograder.sandbox.loading import Loaded, Siblings, line_in, load_module, safe_text
from autograder.sandbox.values import Foreign, Ref

MAX_DEPTH = 20
MAX_TEXT = 10_000
DTYPES = (
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
)
"""Tensor types that cross the wire; any other answer arrives as `Foreign`."""

# Taken before any student code runs, so that replacing them in torch changes nothing here.
_generator, _set_dtype, _set_grad = torch.default_generator, torch.set_default_dtype, torch.set_grad_enabled
_set_device, _Module, _Tensor = torch.set_default_device, torch.nn.Module, torch.Tensor
_is_wrapped = torch._is_functional_tensor


class Absent(Exception):
    """The module has no such name."""


class Broken(Exception):
    """The part is in the file, but could not be read; the text says where and why."""


class NotAModule(Exception):
    """A class made something else than a torch.nn.Module; the text is what."""


class OperatorLog(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch gives its methods no types
    """Notes what reaches torch's dispatcher, by whatever name it was called."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # likewise
        self.names: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.add(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


class Operations:
    """One student module, its rig, and the objects a check made from them."""

    def __init__(self, changes: Callable[[set[str]], list[str]] = lambda names: []) -> None:
        """`changes` says what is different in this process, but for modules of these names."""
        self.modules: dict[str, Loaded] = {}
        self.objects: dict[int, Any] = {}
        self.exception: BaseException | None = None
        self._changes = changes
        self._siblings: Siblings | None = None
        self._files: dict[str, str] = {}
        self._made = 0  # objects kept for answers have negative numbers, those a check asked for positive ones

    def perform(self, operation: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Run one operation. Returns {"value": ...} or {"fault": {...}}; no exception of the student's escapes."""
        self.exception = None
        try:
            return {"value": getattr(self, f"do_{operation}")(**payload)}
        except BaseException as error:
            self.exception = error
            return {"fault": self._fault(error)}

    def perform_all(self, request: list[Any]) -> dict[str, Any]:
        """Run operations up to the first fault. The reply is the last one's; "at" tells which one had a fault."""
        reply: dict[str, Any] = {}
        for place, (operation, payload) in enumerate(request):
            reply = self.perform(operation, payload)
            if "fault" in reply:
                return {**reply, "at": place}
        return reply

    def do_fresh(self, seed: int) -> None:
        """Begin a check: process-wide settings as a new process has them, random streams from `seed`, no objects."""
        self.objects.clear()
        self._made = 0
        _set_dtype(torch.float32)
        _set_device(None)
        _set_grad(True)
        _generator.manual_seed(seed)  # torch.manual_seed formats a stack for absent devices, a hundred times slower
        np.random.seed(seed % 2**32)
        random.seed(seed)
        warnings.resetwarnings()
        warnings.simplefilter("ignore")

    def do_load(
        self, module: str, source: bytes, filename: str, siblings: Mapping[str, bytes], folder: str = ""
    ) -> dict[str, Any]:
        """Read the module of an exercise. `siblings` are the modules its imports may find.

        Nothing is read when an earlier module changed the process: the answer then holds those `changes` only.
        """
        changes = self.do_changes()
        if changes:
            return {"changes": changes}
        self.forget()
        self._siblings = Siblings(siblings, lambda name: f"{folder}{name}.py")
        sys.meta_path.insert(0, self._siblings)
        self._files = {f"{folder}{name}.py": f"{name}.py" for name in siblings}
        return self._load(module, source, filename)

    def do_inspect(self, source: bytes, forbidden: list[str]) -> dict[str, Any]:
        """What a source says without being run (see `inspection`)."""
        return inspect(source, forbidden)

    def do_changes(self) -> list[str]:
        """What the modules read so far changed in the process around them."""
        names = set(self.modules) | (set(self._siblings.sources) if self._siblings else set())
        return self._changes(names) if self.modules else []

    def forget(self) -> None:
        """Take the earlier module and its siblings out of the import system."""
        if self._siblings is not None and self._siblings in sys.meta_path:
            sys.meta_path.remove(self._siblings)
        for name in (*self.modules, *(self._siblings.sources if self._siblings else ())):
            sys.modules.pop(name, None)
        self.modules.clear()
        self.objects.clear()

    def do_load_rig(self, module: str, source: bytes, filename: str) -> dict[str, Any]:
        """Read a rig beside the student's module."""
        return self._load(module, source, filename)

    def _load(self, module: str, source: bytes, filename: str) -> dict[str, Any]:
        loaded = load_module(module, source, filename)
        self.modules[module] = loaded
        self._files[filename] = f"{module}.py"
        return {"notes": [note[:300] for note in loaded.notes[:20]]}

    def do_call(self, ref: Ref, arguments: list[Any], keywords: dict[str, Any], echo: bool = False) -> Any:
        """Call something with copies of the arguments; with `echo`, return the answer and those copies."""
        function = self._resolve(ref)
        copies = [self._incoming(a) for a in arguments]
        answer = function(*copies, **{k: self._incoming(v) for k, v in keywords.items()})
        if answer is None and _has_empty_body(function):
            raise NotImplementedError(f"{ref.name or type(function).__name__} has no body yet")
        if echo:
            after = [self._outgoing(a, ref.owner) if isinstance(a, _Tensor) else None for a in copies]
            return [self._outgoing(answer, ref.owner), after]
        return self._outgoing(answer, ref.owner)

    def do_each(self, ref: Ref, argument_lists: list[list[Any]]) -> list[Any]:
        """One call for each list of arguments."""
        return [self.do_call(ref, arguments, {}) for arguments in argument_lists]

    def do_make(self, ref: Ref, arguments: list[Any], keywords: dict[str, Any], number: int) -> None:
        """Make an object (a module, or anything of a rig's) and keep it under a number that the asker chose."""
        made = self._resolve(ref)(
            *map(self._incoming, arguments), **{k: self._incoming(v) for k, v in keywords.items()}
        )
        if not isinstance(made, _Module) and not str(ref.owner).startswith("rig_"):
            answer = self._outgoing(made, ref.owner)
            raise NotAModule(answer.type_name if isinstance(answer, Foreign) else type(made).__name__)
        self.objects[number] = made

    def do_gradients(self, ref: Ref, arguments: list[Any], along: Any) -> tuple[Any, list[Any], dict[str, Any]]:
        """Output, and the gradients of sum(output * along) by argument and by parameter name."""
        function = self._resolve(ref)
        if isinstance(function, _Module):
            function.zero_grad(set_to_none=True)
        copies = [self._incoming(a) for a in arguments]
        for copy in copies:
            if isinstance(copy, _Tensor) and copy.is_floating_point():
                copy.requires_grad_(True)
        answer = function(*copies)
        if answer is None and _has_empty_body(function):
            raise NotImplementedError(f"{ref.name or type(function).__name__} has no body yet")
        outputs = answer if isinstance(answer, tuple) else (answer,)
        directions = along if isinstance(along, tuple) else (along,)
        pairs = [(o, d) for o, d in zip(outputs, directions, strict=False) if isinstance(o, _Tensor) and d is not None]
        pairs = [(o, d) for o, d in pairs if o.requires_grad and o.shape == d.shape and o.dtype == d.dtype]
        if pairs:
            torch.autograd.backward([o for o, _ in pairs], [d for _, d in pairs])
        parameters = dict(function.named_parameters()) if isinstance(function, _Module) else {}
        return (
            self._outgoing(answer, ref.owner),
            [self._outgoing(c.grad, 0) if isinstance(c, _Tensor) else None for c in copies],
            {name: self._outgoing(p.grad, 0) for name, p in parameters.items()},
        )

    def do_operators(self, ref: Ref, arguments: list[Any]) -> list[str]:
        """Names of torch's operators that run during a call, such as `native_layer_norm`."""
        with OperatorLog() as log:
            self.do_call(ref, arguments, {})
        return sorted(log.names)

    def do_value(self, ref: Ref) -> Any:
        """The value of an attribute."""
        return self._outgoing(self._resolve(ref), ref.owner)

    def do_trainable(self, ref: Ref) -> dict[str, Any]:
        """Name and value of every parameter that requires a gradient."""
        module = self._resolve(ref)
        return {name: self._outgoing(p, 0) for name, p in module.named_parameters() if p.requires_grad}

    def _resolve(self, ref: Ref) -> Any:
        if isinstance(ref.owner, int):
            owner = self.objects[ref.owner]
            return getattr(owner, ref.name) if ref.name else owner
        loaded = self.modules[ref.owner]
        if ref.name in loaded.broken and not hasattr(loaded.module, ref.name):
            raise Broken(loaded.broken[ref.name])
        try:
            return getattr(loaded.module, ref.name)
        except AttributeError:
            raise Absent(_absent_sentence(ref, loaded)) from None

    def _incoming(self, value: Any) -> Any:
        """An argument as the student's code gets it: tensors are copies, references are the objects themselves."""
        if isinstance(value, Ref):
            return self._resolve(value)
        if isinstance(value, _Tensor):
            return value.detach().clone() if value.requires_grad else value.clone()
        if isinstance(value, (list, tuple)):
            return type(value)(self._incoming(v) for v in value)
        if isinstance(value, dict):
            return {k: self._incoming(v) for k, v in value.items()}
        return value

    def _outgoing(self, value: Any, owner: str | int, depth: int = 0) -> Any:
        """An answer as plain data. Modules, and whatever a rig makes, stay here and leave as references."""
        if value is None or isinstance(value, (bool, str)) or type(value) is int:
            return _plain_scalar(value)
        if isinstance(value, float):
            return float(value)
        if isinstance(value, _Tensor):
            return _plain_tensor(value)
        if isinstance(value, _Module) or self._is_rig(owner, value):
            return self._keep(value, owner)
        if depth >= MAX_DEPTH:
            return Foreign("a value nested too deeply")
        if isinstance(value, (list, tuple)) and type(value).__name__ != "Size":
            kind = list if isinstance(value, list) else tuple
            return kind(self._outgoing(v, owner, depth + 1) for v in value)
        if isinstance(value, tuple):
            return tuple(int(v) for v in value)
        if isinstance(value, dict) and all(isinstance(k, str) for k in value):
            return {str(k): self._outgoing(v, owner, depth + 1) for k, v in value.items()}
        return Foreign(_type_name(value))

    def _is_rig(self, owner: str | int, value: Any) -> bool:
        """Is this an object that a rig made or holds? Plain containers of data are copied, whoever made them."""
        if isinstance(value, (list, tuple, dict)):
            return False
        name = owner if isinstance(owner, str) else getattr(type(self.objects.get(owner)), "__module__", "")
        return str(name).startswith("rig_")

    def _keep(self, value: Any, owner: str | int) -> Ref:
        self._made -= 1
        self.objects[self._made] = value
        return Ref(self._made)

    def _fault(self, error: BaseException) -> dict[str, Any]:
        files = set(self._files)
        line = line_in(error, files)
        fault: dict[str, Any] = {
            "kind": "raised",
            "names": [c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins"][:8],
            "text": safe_text(error)[:1000],
            "file": self._innermost_file(error),
            "line": line,
        }
        if isinstance(error, NotImplementedError) and self._is_stub(error):
            fault["kind"] = "not attempted"
        elif isinstance(error, Absent):
            fault["kind"] = "absent"
        elif isinstance(error, Broken):
            fault["kind"] = "broken"
        elif isinstance(error, NotAModule):
            fault["kind"] = "not a module"
        elif not isinstance(error, Exception) or type(error).__module__ == "_pytest.outcomes":
            fault["kind"] = "stopped"
        return fault

    def _innermost_file(self, error: BaseException) -> str | None:
        found, trace = None, error.__traceback__
        while trace is not None:
            found = self._files.get(trace.tb_frame.f_code.co_filename, found)
            trace = trace.tb_next
        return found

    def _is_stub(self, error: NotImplementedError) -> bool:
        """Was it raised by a `raise` of the student's file, and not by an operator that lacks a dtype?"""
        import linecache

        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        if trace is None:
            return False
        file = trace.tb_frame.f_code.co_filename
        if file not in self._files:
            return str(error).endswith("has no body yet")
        return "raise" in linecache.getline(file, trace.tb_lineno)


def _absent_sentence(ref: Ref, loaded: Loaded) -> str:
    """What to do about a missing name: the nearest one that is there, or why the file was not read to its end."""
    import difflib

    here = [n for n, v in vars(loaded.module).items() if callable(v) and not n.startswith("_")]
    near = [n for n in here if ref.name.lower() in n.lower() or n.lower() in ref.name.lower()]
    near = near or difflib.get_close_matches(ref.name, here, 1, 0.6)
    sentence = f"{ref.owner}.py has no `{ref.name}`"
    if near:
        return f"{sentence}, but it has `{near[0]}`: rename it"
    return f"{sentence} ({loaded.notes[0]})" if loaded.notes else sentence


_EMPTY = {"RESUME", "RETURN_CONST", "LOAD_CONST", "RETURN_VALUE", "NOP", "MAKE_CELL", "COPY_FREE_VARS"}


def _has_empty_body(function: Any) -> bool:
    """Is it a function (or a module's forward) whose body is only `pass`, `...` or a docstring?"""
    if isinstance(function, _Module):
        function = type(function).forward
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if not isinstance(code, types.CodeType):
        return False
    return all(
        i.opname in _EMPTY and (i.opname != "LOAD_CONST" or i.argval is None) for i in dis.get_instructions(code)
    )


def _plain_scalar(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)[:MAX_TEXT].encode("utf-8", "replace").decode("utf-8")
    return value if -(2**63) <= value < 2**63 else Foreign("an integer of more than 64 bits")


def _plain_tensor(value: torch.Tensor) -> torch.Tensor | Foreign:
    if value.layout != torch.strided or value.dtype not in DTYPES or value.device.type == "meta" or _is_wrapped(value):
        return Foreign(_kind_of_tensor(value))
    plain = value.detach().as_subclass(_Tensor) if type(value) is not _Tensor else value.detach()
    return plain.cpu().resolve_neg().clone(memory_format=torch.contiguous_format)


def _kind_of_tensor(value: torch.Tensor) -> str:
    if value.device.type == "meta":
        return "a meta tensor"
    if value.layout != torch.strided:
        return "a sparse tensor"
    if value.is_complex():
        return f"a {str(value.dtype).removeprefix('torch.')} tensor"
    return "a quantized tensor" if value.is_quantized else "a tensor of another kind"


def _type_name(value: Any) -> str:
    kind = type(value)
    module = "" if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}."
    return f"{module}{kind.__qualname__}"[:80]
