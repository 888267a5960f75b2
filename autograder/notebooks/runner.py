"""Run a notebook cell by cell in a confined worker, next to the student's own modules, and bring back what it shows.

No kernel is started: a warm fork runs the cells with IPython in it, without sockets, threads, files or programs, so a
notebook costs what its cells compute. What comes back is data; only text and PNG pictures are taken.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.sandbox import wire
from autograder.sandbox.host.deadline import WALL_FACTOR
from autograder.sandbox.host.errors import CallTimedOut, SandboxError, WorkerGone
from autograder.sandbox.host.worker import Worker, WorkerLimits
from autograder.sandbox.host.zygote import Zygote
from autograder.sandbox.values import Ref

WARM = (
    "IPython.core.interactiveshell",
    "IPython.core.completer",
    "matplotlib.pyplot",
    "matplotlib_inline.backend_inline",
)
"""What the zygote imports beforehand, besides what every submission may use."""
ENVIRONMENT = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}

RAN, FAILED, TIMED_OUT, STOPPED, NOT_RUN = "ran", "failed", "timed out", "stopped", "not run"
MAX_OUTPUTS, MAX_CHARACTERS, MAX_PICTURE = 40, 9_000, 2 << 20
"""Of one cell. `cells` keeps to the same, but what has run students' code may have forgotten it."""
MAX_SHOWN = 16 << 20
"""Characters and bytes that all cells of a notebook may show together."""
_CELLS = Path(__file__).with_name("cells.py")
_RIG = "rig_cells"


@dataclass(frozen=True)
class CellLimits:
    """CPU seconds for one cell and for all of them; memory of the worker."""

    seconds_per_cell: float
    seconds: float
    memory_mb: int


@dataclass(frozen=True)
class CellRun:
    """How one cell ended, and what it showed: pairs of a kind (stdout, stderr, display, result, error, picture) and a
    text, or the bytes of a PNG."""

    outcome: str
    shown: tuple[tuple[str, str | bytes], ...] = ()
    sentence: str = ""


def run_cells(
    zygote: Zygote, cells: Sequence[str], modules: Mapping[str, bytes], limits: CellLimits
) -> Iterator[CellRun]:
    """How each cell ended, in order, as soon as it did. `modules` are what imports find beside the notebook.

    After a cell that was stopped or ended the process, the others are not run.

    Raises:
        SandboxError: the sandbox itself failed.
    """
    worker = zygote.fork(WorkerLimits(limits.memory_mb, int(limits.seconds) + 5, output_bytes=1 << 14))
    trouble, room, end = "", MAX_SHOWN, time.monotonic() + limits.seconds * WALL_FACTOR
    try:
        _prepare(worker, modules)
        for source in cells:
            if trouble:
                yield CellRun(NOT_RUN, sentence=trouble)
                continue
            run = _run(worker, source, limits, end - time.monotonic())
            if run.outcome in (TIMED_OUT, STOPPED):
                trouble = f"not run, because an earlier cell {run.sentence}"
            room -= sum(len(content) for _, content in run.shown)
            yield run if room >= 0 else replace(run, shown=(("stdout", "[what the cells show is too much together]"),))
    finally:
        worker.end()


def _prepare(worker: Worker, modules: Mapping[str, bytes]) -> None:
    load = {"module": "notebook_", "source": b"", "filename": "notebook", "siblings": dict(modules)}
    rig = {"module": _RIG, "source": _CELLS.read_bytes(), "filename": "cells"}
    asked = wire.request(("fresh", {"seed": 0}), ("load", load), ("load_rig", rig), ("call", _call("start")))
    try:
        reply = worker.ask(asked, cpu_limit=30, wall_limit=30 * WALL_FACTOR)
    except (CallTimedOut, WorkerGone) as error:
        raise SandboxError(f"a worker for cells did not start: {error}") from None
    if "fault" in reply:
        raise SandboxError(f"cells cannot be run: {reply['fault']}")


def _call(name: str, *arguments: Any) -> dict[str, Any]:
    return {"ref": Ref(_RIG, name), "arguments": list(arguments), "keywords": {}}


def _run(worker: Worker, source: str, limits: CellLimits, wall_left: float) -> CellRun:
    left = limits.seconds - worker.cpu_seconds()
    if left <= 0 or wall_left <= 0:
        return CellRun(TIMED_OUT, sentence=f"used up the notebook's {limits.seconds:g} seconds")
    allowed = min(left, limits.seconds_per_cell)
    try:
        frame = wire.request(("call", _call("run", source)))
        reply = worker.ask(frame, allowed, min(allowed * WALL_FACTOR, wall_left))
    except CallTimedOut:
        return CellRun(TIMED_OUT, sentence=f"did not end within {allowed:.3g} seconds")
    except WorkerGone:
        return CellRun(STOPPED, sentence="ended the notebook's process")
    found = reply.get("value")
    if not isinstance(found, dict) or not isinstance(found.get("outputs"), list):
        return CellRun(FAILED, sentence="gave no answer that can be read")
    shown = tuple(kept for output in found["outputs"][:MAX_OUTPUTS] if (kept := _kept(output)) is not None)
    return CellRun(RAN if found.get("ok") is True else FAILED, shown)


def _kept(output: Any) -> tuple[str, str | bytes] | None:
    """An output that may enter the notebook: text of a known kind, or what begins as a PNG."""
    if not isinstance(output, (tuple, list)) or len(output) != 2 or not isinstance(output[0], str):
        return None
    kind, content = output
    if kind == "picture" and hasattr(content, "numpy") and str(content.dtype) == "torch.uint8":
        data = content.flatten()[: MAX_PICTURE + 1].numpy().tobytes()
        return ("picture", data) if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) <= MAX_PICTURE else None
    if kind in ("stdout", "stderr", "display", "result", "error") and isinstance(content, str):
        return kind, _text(content)
    return None


INSTALLED = sorted({sys.prefix, sys.base_prefix} - {"/", "/usr"}, key=len, reverse=True)
"""Folders that Python lies in here: nothing that a student or a page should be told."""


def _text(content: str) -> str:
    """Text that every file can hold and every page can show, of bounded length, without where Python lies here."""
    if len(content) > MAX_CHARACTERS:
        content = content[:MAX_CHARACTERS] + "\n[output truncated]"
    content = content.encode("utf-8", "backslashreplace").decode()
    for folder in INSTALLED:
        content = content.replace(folder, "…")
    return "".join(c if c >= " " or c in "\n\t\r\x1b" else f"\\x{ord(c):02x}" for c in content)
