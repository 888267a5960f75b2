"""Has sources looked through, in a worker in which nothing of any submission runs: what it says can be believed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from autograder.sandbox import wire
from autograder.sandbox.host.errors import CallTimedOut, WorkerGone
from autograder.sandbox.host.worker import Worker, WorkerLimits
from autograder.sandbox.host.zygote import Zygote

_LIMITS = WorkerLimits(memory_mb=1024, cpu_seconds=24 * 3600, output_bytes=1024)
_SECONDS = 0.5
_MOST_BYTES = 200_000

_TELLING = frozenset(
    "ctypes cffi getattr setattr delattr exec compile globals vars breakpoint _C ops _getframe".split()
)
_MODULES = frozenset(
    "gc inspect sys os subprocess socket importlib builtins multiprocessing threading _thread signal pickle marshal"
    " mmap pty code codeop atexit faulthandler linecache traceback autograder pytest _pytest".split()
)
_PARTS = ("_disable", "_python_dispatch", "coding:", "coding=")
_WORD = re.compile(r"\w+")
_IMPORT = re.compile(r"\b(?:import|from)\b(?:\\\n|[^\n])*")
_EVAL = re.compile(r"(?<![.\w])eval\b")  # a module has an eval() of its own


def _is_telling(text: str) -> bool:
    """Is there a word without which, and without forbidden operations, there is nothing to find?"""
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # as Python reads it
    words = set(_WORD.findall(text))
    return (
        not words.isdisjoint(_TELLING)
        or any(word.startswith("f_") for word in words)
        or "__" in text.replace("__init__", "")
        or any(part in text for part in _PARTS)
        or ("eval" in words and _EVAL.search(text) is not None)
        or (not words.isdisjoint(_MODULES) and any(_names_one(line) for line in _IMPORT.findall(text)))
    )


def _names_one(line: str) -> bool:
    """Does a line that imports name one of the modules?"""
    return not _MODULES.isdisjoint(_WORD.findall(line))


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
        if not forbidden and not _is_telling(unicodedata.normalize("NFKC", source.decode("utf-8", "replace"))):
            return Findings()
        if len(source) > _MOST_BYTES:
            return _unknown(exercise, forbidden)
        frame = wire.request(("inspect", {"source": source, "forbidden": list(forbidden)}))
        found = self._asked(zygote, frame)
        if found is None:  # its worker may have been ended from outside
            found = self._asked(zygote, frame)
        if type(found) is not dict:
            return _unknown(exercise, forbidden)
        refusal = ""
        if found["refused"]:
            name, line = found["refused"][0]
            refusal = f"line {line} of {exercise}.py uses {name}, which this exercise forbids"
        return Findings(refusal, tuple(f"line {line} {what}" for what, line in found["curious"]))

    def _asked(self, zygote: Zygote, frame: bytes) -> Any:
        """What the worker says; None when it gave no answer."""
        try:
            return self._ready(zygote).ask(frame, _SECONDS, 10 * _SECONDS).get("value")
        except (CallTimedOut, WorkerGone):
            return None

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.end()

    def _ready(self, zygote: Zygote) -> Worker:
        if self._worker is None or not self._worker.alive or self._zygote is not zygote:
            self._worker, self._zygote = zygote.fork(_LIMITS), zygote
        return self._worker


def _unknown(exercise: str, forbidden: Collection[str]) -> Findings:
    """A source that is too long, or breaks what looks through it. Where something is forbidden, that is refused."""
    refusal = f"{exercise}.py is too long or too deep to be looked through for what this exercise forbids"
    return Findings(refusal if forbidden else "", ("could not be looked through",))
