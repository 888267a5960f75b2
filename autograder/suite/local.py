"""A student's own module, run in this process: the transport of a self-check."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from autograder.sandbox.operations import Operations
from autograder.suite.faults import NotAttempted, Refused
from autograder.suite.student import Student, raise_fault


class LocalTransport:
    """Runs operations on the modules of `folder` here and now."""

    def __init__(self, folder: Path, module: str, seed: int, forbidden: Sequence[str] = ()) -> None:
        self.folder = folder
        self.module = module
        self.operations = Operations()
        path = folder / f"{module}.py"
        if not path.is_file():
            raise NotAttempted(f"{module}.py is missing from {folder.name}")
        found = self._do("inspect", source=path.read_bytes(), forbidden=list(forbidden))
        for name, line in found["refused"]:
            raise Refused(f"line {line} of {module}.py uses {name}, which this exercise forbids")
        siblings = {
            p.stem: p.read_bytes() for p in folder.glob("*.py") if p.is_file() and p.stem not in (module, "conftest")
        }
        self.notes = self._do(
            "load",
            module=module,
            source=path.read_bytes(),
            filename=str(path),
            siblings=siblings,
            folder=f"{folder}/",
        )["notes"]
        self._do("fresh", seed=seed)

    def request(self, operation: str, payload: Mapping[str, Any]) -> Any:
        """Run the operation; a fault of the student's code is raised with their own exception as its cause."""
        return self._do(operation, **payload)

    def later(self, operation: str, payload: Mapping[str, Any]) -> None:
        """Here nothing is gained by waiting."""
        self._do(operation, **payload)

    def rig(self, path: Path) -> Student:
        """The rig of this exercise, as a proxy beside the student's module."""
        name = f"rig_{path.stem}"
        self._do("load_rig", module=name, source=path.read_bytes(), filename=str(path))
        return Student(self, name)

    def close(self) -> None:
        """Take the modules out of the import system, so that the next check reads them anew."""
        self.operations.forget()

    def _do(self, operation: str, **payload: Any) -> Any:
        with _interrupts() as pressed:
            reply = self.operations.perform(operation, payload)
        if pressed:
            raise KeyboardInterrupt(self._place(pressed[0]))
        if "fault" not in reply:
            return reply["value"]
        cause = self.operations.exception
        try:
            raise_fault(reply["fault"], self.module)
        except Exception as fault:
            fault.__cause__ = cause
            raise

    def _place(self, frame: FrameType | None) -> str:
        """Where the student's code was, as `interrupted in layer_norm.py, line 12`."""
        while frame is not None:
            path = Path(frame.f_code.co_filename)
            if path.parent == self.folder:
                return f"interrupted in {path.name}, line {frame.f_lineno}"
            frame = frame.f_back
        return "interrupted"


@contextmanager
def _interrupts() -> Iterator[list[FrameType | None]]:
    """Notes where each Ctrl-C fell, because student code, or the reading of a module, may catch what it raises."""
    pressed: list[FrameType | None] = []

    def press(number: int, frame: FrameType | None) -> None:
        pressed.append(frame)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return
    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)
