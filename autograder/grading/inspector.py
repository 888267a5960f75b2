"""Has sources looked through, in a worker in which nothing of any submission runs: what it says can be believed."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from autograder.sandbox import wire
from autograder.sandbox.host import CallTimedOut, Worker, WorkerGone, WorkerLimits, Zygote

_LIMITS = WorkerLimits(memory_mb=1024, cpu_seconds=24 * 3600, output_bytes=1024)
_SECONDS = 1.0
_MOST_BYTES = 200_000

_TELLING = re.compile(
    rb"ctypes|cffi|getattr|setattr|delattr|eval|exec|compile|__|globals|vars|breakpoint|_C\b|\bops\b|_getframe|\bf_"
    rb"|import[^\n]*\b(?:gc|inspect|sys|os|subprocess|socket|importlib|builtins|multiprocessing|threading|_thread|signal"
    rb"|pickle|marshal|mmap|pty|code|codeop|atexit|faulthandler|linecache|traceback|autograder|pytest|_pytest)\b"
)
"""Without any of these, and without forbidden operations, there is nothing to find."""


@dataclass(frozen=True)
class Findings:
    """What was found in a source: the sentence that refuses it, or "", and lines that an instructor should see."""

    refusal: str = ""
    curious: tuple[str, ...] = ()


class Inspector:
    """Looks through one source after the other."""

    def __init__(self) -> None:
        self._worker: Worker | None = None
        self._zygote: Zygote | None = None

    def inspect(self, zygote: Zygote, exercise: str, source: bytes, forbidden: Collection[str]) -> Findings:
        """What is to be said of this source. It may be anything; what breaks the worker is only worth a look."""
        if not forbidden and source.isascii() and not _TELLING.search(source.replace(b"__init__", b"")):
            return Findings()
        if len(source) > _MOST_BYTES:
            return Findings(curious=("too long to be looked through",))
        payload = {"source": source, "forbidden": list(forbidden)}
        try:
            reply = self._ready(zygote).ask(wire.encode([("inspect", payload)]), _SECONDS, 10 * _SECONDS)
        except (CallTimedOut, WorkerGone):
            reply = {}
        found: Any = reply.get("value")
        if type(found) is not dict:
            return Findings(curious=("could not be looked through",))
        refusal = ""
        if found["refused"]:
            name, line = found["refused"][0]
            refusal = f"line {line} of {exercise}.py uses {name}, which this exercise forbids"
        return Findings(refusal, tuple(f"line {line} {what}" for what, line in found["curious"]))

    def _ready(self, zygote: Zygote) -> Worker:
        if self._worker is None or not self._worker.alive or self._zygote is not zygote:
            self._worker, self._zygote = zygote.fork(_LIMITS), zygote
        return self._worker
