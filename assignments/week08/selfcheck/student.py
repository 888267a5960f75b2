"""The student's module as a check sees it: calls read like local code and travel to wherever the module lives.

Under the grader that is a confined worker; in a student's self-check it is the same process. Both answer the same
operations, so a check behaves alike in both places.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, Protocol

import torch

from selfcheck.values import Foreign, Ref
from selfcheck.vouching import is_line_of, vouched
from selfcheck.checking import EXPECTING_AN_ERROR, Gradients, kind, parts, show, tensor
from selfcheck.faults import Fault, Mismatch, NotAttempted, Raised, Stopped


class Transport(Protocol):
    """Carries an operation to the student's module and brings the plain answer, or raises a Fault."""

    def request(self, operation: str, payload: Mapping[str, Any]) -> Any:
        """The answer to an operation, after those that were put off."""

    def later(self, operation: str, payload: Mapping[str, Any]) -> None:
        """Put off an operation that has no answer; its fault comes with the next answer."""


@dataclass(frozen=True)
class Call:
    """One call a check made."""

    name: str
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]

    def __str__(self) -> str:
        shown = [_show_argument(a) for a in self.arguments]
        shown += [f"{k}={_show_argument(v)}" for k, v in self.keywords.items()]
        return f"{self.name}({', '.join(shown)})"


@dataclass(repr=False)
class Student:
    """A module (`owner` is its name) whose functions and classes can be called. `calls` are those made so far."""

    transport: Transport
    owner: str
    calls: list[Call] = field(default_factory=list)

    def __getattr__(self, name: str) -> Function:
        if name.startswith("__"):
            raise AttributeError(name)
        return Function(self, Ref(self.owner, name), name)

    def make(self, payload: Mapping[str, Any], name: str) -> Handle:
        """Have an object made, together with the next operation unless an error is expected here; its handle."""
        number = len(self.calls)
        send = self.transport.request if EXPECTING_AN_ERROR.get() else self.transport.later
        send("make", {**_outgoing(payload), "number": number})
        return Handle(self, Ref(number), name)

    def ask(self, operation: str, **payload: Any) -> Any:
        """Send an operation; objects in the answer come back as handles."""
        return _incoming(self, self.transport.request(operation, _outgoing(payload)))


@dataclass(frozen=True, repr=False)
class Function:
    """A function, class or method of the student's."""

    student: Student
    ref: Ref
    name: str

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        self.student.calls.append(Call(self.name, arguments, keywords))
        payload = {"ref": self.ref, "arguments": list(arguments), "keywords": keywords}
        if self.name[:1].isupper() and not isinstance(self, Handle):
            return self.student.make(payload, f"{self.name}(...)")
        is_method = isinstance(self.ref.owner, int)
        if is_method and self.name in _ANSWER_DOES_NOT_MATTER and not EXPECTING_AN_ERROR.get():
            return self.student.transport.later("call", _outgoing(payload))
        answer = self.student.ask("call", **payload)
        return replace(answer, name=f"{self.name}(...)") if isinstance(answer, Handle) else answer

    def each(self, argument_lists: Sequence[Sequence[Any]]) -> list[Any]:
        """The answers to one call for each list of arguments, asked for all at once."""
        self.student.calls += [Call(self.name, tuple(arguments), {}) for arguments in argument_lists]
        answers = self.student.ask("each", ref=self.ref, argument_lists=[list(a) for a in argument_lists])
        return list(parts(answers, len(argument_lists)))

    def gradients(self, *arguments: Any, along: Any) -> Gradients:
        """See `checking.gradients`."""
        self.student.calls.append(Call(self.name, arguments, {}))
        found = self.student.ask("gradients", ref=self.ref, arguments=list(arguments), along=along)
        output, by_argument, by_parameter = parts(found, 3)
        _check_output(output, along)
        return Gradients(list(parts(by_argument, len(arguments))), _by_name(by_parameter))

    def operators(self, *arguments: Any) -> set[str]:
        """Names of torch's operators that run during a call. Only the student's process can tell."""
        self.student.calls.append(Call(self.name, arguments, {}))
        names = self.student.ask("operators", ref=self.ref, arguments=list(arguments))
        return {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()

    def arguments_after(self, *arguments: Any, **keywords: Any) -> tuple[Any, list[Any]]:
        """The answer, and the argument tensors as they are after the call (None for other arguments)."""
        self.student.calls.append(Call(self.name, arguments, keywords))
        found = self.student.ask("call", ref=self.ref, arguments=list(arguments), keywords=keywords, echo=True)
        answer, after = parts(found, 2)
        return answer, list(parts(after, len(arguments)))


class Handle(Function):
    """An object in the student's process, most often a module. Calling it runs it; attributes are its methods."""

    def __getattr__(self, name: str) -> Function:
        if name.startswith("__"):
            raise AttributeError(name)
        return Function(self.student, Ref(self.ref.owner, name), name)

    @property
    def training(self) -> Any:
        """The module's mode."""
        return self.value("training")

    def value(self, attribute: str) -> Any:
        """The value of an attribute; modules come back as handles."""
        return self.student.ask("value", ref=Ref(self.ref.owner, attribute))

    def trainable(self) -> dict[str, torch.Tensor]:
        """Name and value of every parameter that requires a gradient."""
        return _by_name(self.student.ask("trainable", ref=self.ref))


_ANSWER_DOES_NOT_MATTER = {"load_state_dict", "train", "eval"}
"""Methods of modules that are sent together with the next operation, because only their effect counts."""


def raise_fault(
    fault: Mapping[str, Any], module: str, sources: Mapping[str, bytes] | None = None, asked: Sequence[str] = ()
) -> NoReturn:
    """Raise what a worker reported. Only names of built-in exceptions and bounded, printable text get through.

    With the `sources` that it has, by module, sentences are believed as far as the sources bear them out (see
    `vouching`): hidden checks show them too. `asked` are the names that the check called.
    """
    said = fault.get("names")
    names = tuple(n for n in said if _is_builtin_exception(n)) if isinstance(said, list) else ()
    text = clean(fault.get("text"), 400)
    file = clean(fault.get("file") or f"{module}.py", 80)
    line = fault.get("line")
    sentence = text
    if sources is not None:
        file = file if file.removesuffix(".py") in sources else f"{module}.py"
        source = sources.get(file.removesuffix(".py"), b"")
        line = line if is_line_of(line, source) else None
        sentence = vouched(text, source, {*sources, *asked})
    where = f" at line {line} of {file}" if type(line) is int else ""
    match fault.get("kind"):
        case "not attempted":
            raise NotAttempted(f"not attempted: open {file}")
        case "absent":
            raise NotAttempted(sentence)
        case "broken":
            raise Raised(f"{file}: {sentence}")
        case "not a module":
            raise Mismatch(f"it should make a torch.nn.Module, it made {Foreign(text).type_name}")
        case "stopped":
            raise Stopped(f"your code stopped the program{f' ({names[0]})' if names else ''}{where}")
        case _:
            name = names[0] if names else "an exception of its own"
            refused = "PermissionError" in names or "can't start new thread" in text
            hint = f"; {_OUT_OF_REACH}" if refused else ""
            raise Raised(f"your code raised {name}{where}{hint}", f"{name}: {text}", names, text)


_OUT_OF_REACH = "files, network, processes and threads are out of reach while work is graded"
_FOLDERS = re.compile(r"(?<![\w.])/(?:[^\s/'\"(),:]+/)+")


def clean(text: Any, limit: int) -> str:
    """Text from the student's side: one line, printable, bounded, without the folders of this machine."""
    text = _FOLDERS.sub("", text) if isinstance(text, str) else ""
    return "".join(c if c.isprintable() else " " for c in text[:limit])


def _is_builtin_exception(name: Any) -> bool:
    found = getattr(builtins, name, None) if isinstance(name, str) else None
    return isinstance(found, type) and issubclass(found, BaseException)


def _check_output(output: Any, along: Any) -> None:
    outputs = output if isinstance(output, tuple) else (output,)
    directions = along if isinstance(along, tuple) else (along,)
    if len(outputs) != len(directions) or isinstance(output, tuple) != isinstance(along, tuple):
        raise Mismatch(f"expected {len(directions)} outputs, got {kind(output)}")
    for value, direction in zip(outputs, directions, strict=True):
        if direction is not None:
            tensor(value, direction.shape, direction.dtype)


def _by_name(found: Any) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise Mismatch(f"expected tensors by name, got {kind(found)}")
    return found


def _outgoing(value: Any) -> Any:
    if isinstance(value, Function):
        return value.ref
    if isinstance(value, dict):
        return {k: _outgoing(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_outgoing(v) for v in value)
    return value


def _incoming(student: Student, value: Any) -> Any:
    if isinstance(value, Ref):
        return Handle(student, value, "module")
    if isinstance(value, dict):
        return {k: _incoming(student, v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_incoming(student, v) for v in value)
    return value


def _show_argument(value: Any) -> str:
    if isinstance(value, torch.Tensor) and value.numel() > 12:
        return f"tensor {list(value.shape)}"
    return value.name if isinstance(value, Function) else show(value)


__all__ = ["Call", "Fault", "Foreign", "Function", "Handle", "Student", "Transport", "clean", "raise_fault"]
