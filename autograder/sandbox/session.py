"""One submission being graded: which worker holds which exercise, with what limits, and what it said."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.sandbox.host import WALL_FACTOR, CallTimedOut, SandboxError, Worker, WorkerGone, WorkerLimits, Zygote


LOAD_FACTOR = 3
"""Reading a file may take this many times the limit of a check: what it does at its top level is not a check."""


class Refusal(Exception):
    """No answer could be had. `outcome` is the check's outcome, `sentence` says why."""

    def __init__(self, outcome: str, sentence: str) -> None:
        super().__init__(sentence)
        self.outcome = outcome
        self.sentence = sentence


@dataclass(frozen=True)
class SessionLimits:
    """Seconds of CPU time for one check and for the whole submission; memory and output of one worker."""

    seconds_per_check: float
    seconds_per_submission: float
    memory_mb: int
    output_kb: int


@dataclass(frozen=True)
class Unit:
    """What is loaded together: an exercise's source, the modules its imports find, and its rig."""

    exercise: str
    source: bytes | None
    siblings: Mapping[str, bytes]
    rig: bytes | None = None


@dataclass
class Session:
    """Carries operations of checks to the workers of one submission.

    A worker serves one unit after the other while each leaves it as it found it (see `footprint`); after a fault that
    ends it, or a unit that changed the process, the next unit gets a fresh one.
    """

    zygote: Zygote
    limits: SessionLimits
    shared: bool = True
    notes: dict[str, list[str]] = field(default_factory=dict)
    changes: dict[str, list[str]] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    workers: int = 0

    def __post_init__(self) -> None:
        self._worker: Worker | None = None
        self._unit: Unit | None = None
        self._waiting: list[tuple[str, Any]] = []
        self._waiting_unit: Unit | None = None
        self._unloadable: dict[int, Refusal] = {}
        self._outputs: dict[str, str] = {}
        self._printing = ""
        self._waited = 0.0
        self._seed = 0
        self._check_started = 0.0
        self._fresh = False

    def begin_check(self, seed: int) -> None:
        """The next operations belong to a new check: its own clock, process-wide settings as in a new process."""
        self._seed = seed
        self._fresh = True
        self._waiting.clear()
        self._check_started = self._worker_cpu()

    def ask(self, unit: Unit, operation: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """The worker's reply to one operation on this unit, or the fault of one that was left for later.

        Raises:
            Refusal: not handed in, time used up, timed out, or the process ended.
        """
        if self._waiting and unit is not self._waiting_unit:
            reply = self.settle()
            if "fault" in reply:
                return reply
        return self._send(unit, [(operation, dict(payload))])

    def later(self, unit: Unit, operation: str, payload: Mapping[str, Any]) -> None:
        """Send this one together with the next operation of the check; only a fault of it matters."""
        if self._waiting and unit is not self._waiting_unit:
            raise RuntimeError("a check builds objects of one unit at a time")
        self._waiting_unit = unit
        self._waiting.append((operation, dict(payload)))

    def settle(self) -> dict[str, Any]:
        """Send what was left for later, if anything was. The reply holds a fault, or nothing of interest."""
        return self._send(self._waiting_unit, []) if self._waiting and self._waiting_unit else {}

    def _send(self, unit: Unit, operations: list[tuple[str, Any]]) -> dict[str, Any]:
        if unit.source is None:
            raise Refusal("not attempted", f"{unit.exercise}.py was not handed in")
        self._provide(unit)
        operations = [*self._waiting, *operations]
        self._waiting.clear()
        if self._fresh:
            operations.insert(0, ("fresh", {"seed": self._seed}))
            self._fresh = False
        reply = self._ask(operations)
        at = reply.pop("at", None)
        reply["behind"] = len(operations) - 1 - at if type(at) is int and 0 <= at < len(operations) else 0
        return reply

    def close(self) -> None:
        """Ask the last worker what it changed, then end it."""
        if self._worker is not None and self._worker.alive and self._unit is not None:
            try:
                changes = self._ask([("changes", {})]).get("value")
            except Refusal:
                changes = None
            if changes:
                self.changes[self._unit.exercise] = _sentences(changes)
        self._end_worker()

    def output(self, exercise: str) -> str:
        """What the student's code of this exercise printed, cut at the limit."""
        self._collect_output()
        text, limit = self._outputs.get(exercise, ""), self.limits.output_kb * 1024
        return text if len(text) <= limit else f"{text[:limit]}\n[output truncated]"

    def _provide(self, unit: Unit) -> None:
        """Have a worker with this unit in it."""
        if unit is self._unit and self._worker is not None and self._worker.alive:
            return
        if id(unit) in self._unloadable:
            raise self._unloadable[id(unit)]
        if self._worker is not None and (not self.shared or self._worker.flooded):
            self._end_worker()
        if self._worker is None or not self._worker.alive:
            self._start_worker()
        found = self._load(unit)
        if "changes" in found:
            if self._unit is not None:
                self.changes[self._unit.exercise] = _sentences(found["changes"])
            self._end_worker()
            self._start_worker()
            found = self._load(unit)
        self._unit = unit
        self.notes[unit.exercise] = _sentences(found.get("notes"))
        self._fresh = True

    def _load(self, unit: Unit) -> dict[str, Any]:
        self._collect_output()
        self._printing = unit.exercise
        load = {
            "module": unit.exercise,
            "source": unit.source,
            "filename": f"{unit.exercise}.py",
            "siblings": dict(unit.siblings),
        }
        operations: list[tuple[str, Any]] = [("fresh", {"seed": self._seed}), ("load", load)]
        try:
            found = _value(self._ask(operations, LOAD_FACTOR))
            if unit.rig is not None and "changes" not in found:
                rig = {"module": f"rig_{unit.exercise}", "source": unit.rig, "filename": f"rigs/{unit.exercise}.py"}
                self._ask([("load_rig", rig)])
        except Refusal as refusal:
            said = f"{unit.exercise}.py: {refusal.sentence} (while the file was read)"
            self._unloadable[id(unit)] = Refusal(refusal.outcome, said)
            raise self._unloadable[id(unit)] from None
        self._check_started = self._worker_cpu()
        return found

    def _ask(self, operations: list[tuple[str, Any]], factor: float = 1.0) -> dict[str, Any]:
        assert self._worker is not None
        limit = self.limits.seconds_per_check * factor
        left = self.limits.seconds_per_submission - self.cpu_seconds - self._worker_cpu()
        left = min(left, self.limits.seconds_per_submission - self._waited / WALL_FACTOR)
        if left <= 0:
            self._end_worker()
            raise Refusal("not run", "the submission's time was used up before this check")
        used = self._worker_cpu() - self._check_started
        cpu_limit = max(0.05, min(limit - used, left))
        begun = time.monotonic()
        try:
            return self._worker.ask(operations, cpu_limit, cpu_limit * WALL_FACTOR)
        except CallTimedOut:
            self._end_worker()
            raise Refusal("timed out", f"no answer within {limit:g} s; is there an endless loop?") from None
        except WorkerGone as gone:
            self._end_worker()
            if not self.zygote.alive:
                raise SandboxError("the process that starts workers ended, and its workers with it") from None
            raise Refusal("stopped", f"your code stopped the program ({gone.why})") from None
        finally:
            self._waited += time.monotonic() - begun

    def _start_worker(self) -> None:
        limits = WorkerLimits(
            memory_mb=self.limits.memory_mb,
            cpu_seconds=int(self.limits.seconds_per_submission) + 1,
            output_bytes=self.limits.output_kb * 1024,
        )
        self._worker = self.zygote.fork(limits)
        self._unit = None
        self._check_started = 0.0
        self.workers += 1

    def _end_worker(self) -> None:
        if self._worker is None:
            return
        self.cpu_seconds += self._worker_cpu()
        self._collect_output()
        self._worker.end()
        self._worker = None
        self._unit = None

    def _worker_cpu(self) -> float:
        return self._worker.cpu_seconds() if self._worker is not None else 0.0

    def _collect_output(self) -> None:
        if self._worker is not None and (text := self._worker.take_output()):
            self._outputs[self._printing] = self._outputs.get(self._printing, "") + text


def _value(reply: dict[str, Any]) -> dict[str, Any]:
    """The record that a load answers with; anything else means that the worker is not itself any more."""
    value = reply.get("value")
    if type(value) is not dict:
        raise Refusal("stopped", "your code broke the program that reads it")
    return value


def _sentences(found: Any) -> list[str]:
    """Notes of a worker: at most 20 short printable lines."""
    lines = [line for line in found if isinstance(line, str)] if isinstance(found, list) else []
    return ["".join(c if c.isprintable() else " " for c in line[:300]) for line in lines[:20]]
