"""One submission being graded: which worker holds which exercise, with what limits, and what it said."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from autograder.sandbox import wire
from autograder.sandbox.host.deadline import WALL_FACTOR
from autograder.sandbox.host.errors import CallTimedOut, SandboxError, WorkerGone
from autograder.sandbox.host.worker import Worker, WorkerLimits
from autograder.sandbox.host.zygote import Zygote
from autograder.sandbox.replies import sentences
from autograder.sandbox.script import Prompt, Script, answers_of
from autograder.sandbox.units import Refusal, SessionLimits, Unit
from autograder.sandbox.vouching import vouched

LOAD_FACTOR = 3
"""Reading a file may take this many times the limit of a check: what it does at its top level is not a check."""


@dataclass
class Session:
    """Carries operations of checks to the workers of one submission.

    A worker serves one unit after the other while each leaves it as it found it (see `footprint`); after a fault that
    ends it, or a unit that changed the process, the next unit gets a fresh one. One with scratch serves one unit only.
    """

    zygote: Zygote
    limits: SessionLimits
    shared: bool = True
    refusals: Mapping[str, str] = field(default_factory=dict)
    """Exercises of which no code is run, and why."""
    notes: dict[str, list[str]] = field(default_factory=dict)
    changes: dict[str, list[str]] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    workers: int = 0

    def __post_init__(self) -> None:
        self._worker: Worker | None = None
        self._unit: Unit | None = None
        self.frames: list[bytes] = []
        self.replies: list[dict[str, Any]] = []
        self.repeats_an_answer = False
        self._prompt: Prompt | None = None
        self._next_prompt: Prompt | None = None
        self._rehearsed: tuple[Unit, Script] | None = None
        self._spent = 0.0, 0.0
        self._waiting: list[tuple[str, Any]] = []
        self._waiting_unit: Unit | None = None
        self._unloadable: dict[int, Refusal] = {}
        self._outputs: dict[str, str] = {}
        self._printing = ""
        self._waited = 0.0
        self._limit = 0.0
        self._seed = 0
        self._check_started = 0.0
        self._fresh = False
        self._untouched = True
        self._perhaps_by_chance = False
        self._had_another_try = False

    @property
    def perhaps_by_chance(self) -> bool:
        """Was there no answer for a reason that need not lie in what was asked? The worker may have been ended from
        outside, as by a host that runs out of memory; or it hardly computed, and the host was busy with something else.
        """
        return self._perhaps_by_chance

    def begin_check(self, seed: int) -> None:
        """The next operations belong to a new check: its own clock, process-wide settings as in a new process."""
        self.frames = []
        self.replies = []
        self.repeats_an_answer = False
        self._perhaps_by_chance = False
        self._prompt, self._next_prompt = self._next_prompt, None
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

    def refusal(self, unit: Unit) -> Refusal | None:
        """Why nothing will be answered for this unit whatever is asked; None where something may."""
        if unit.source is None:
            return Refusal("not attempted", f"{unit.exercise}.py was not handed in")
        if unit.exercise in self.refusals:
            return Refusal("refused", self.refusals[unit.exercise])
        return None

    def _send(self, unit: Unit, operations: list[tuple[str, Any]]) -> dict[str, Any]:
        if refusal := self.refusal(unit):
            raise refusal
        if self._prompt is None:
            self._provide(unit)
        operations = [*self._waiting, *operations]
        self._waiting.clear()
        if self._fresh:
            operations.insert(0, ("fresh", {"seed": self._seed}))
            self._fresh = False
        frame = wire.request(*operations)
        reply = self._ask(frame) if self._prompt is None else self._prompt.reply_to(frame)
        self.frames.append(frame)
        self.replies.append(reply)
        at = reply.pop("at", None)
        reply["behind"] = len(operations) - 1 - at if type(at) is int and 0 <= at < len(operations) else 0
        return reply

    def begin_rehearsal(self, unit: Unit, script: Script) -> bool:
        """Send a worker the whole script of an exercise. False when that cannot be; then grade without."""
        self._perhaps_by_chance = False
        if self.refusal(unit) or id(unit) in self._unloadable:
            return False
        self._make_way_for(unit)
        self._spent = self.used, self._waited
        self._have_a_worker(unit)
        self._untouched = False
        self._collect_output()
        self._printing = unit.exercise
        self._rehearsed = unit, script
        self._check_started = self._worker_cpu()
        payload = {"load": unit.load, "rig": unit.load_rig, "checks": script.body}
        try:
            self._post(wire.request(("fresh", {"seed": 0}), ("script", payload)))
        except Refusal:
            return False
        return True

    @property
    def rehearsing(self) -> Worker:
        """The worker that has a script to answer."""
        assert self._worker is not None
        return self._worker

    def end_rehearsal(self) -> list[bytes] | None:
        """The packed replies to each check of the script; None when the worker could not answer all of it.

        All of it in the time of one check: then no check of it can have had more.
        """
        assert self._rehearsed is not None
        unit, script = self._rehearsed
        try:
            found = _value(self._collect())
        except Refusal:
            return None
        if self._worker_cpu() - self._check_started > self.limits.seconds_per_check:
            return None
        if "changes" in found and self._unit is not None:
            self.changes[self._unit.exercise] = sentences(found["changes"])
        self._unit = unit
        self.notes[unit.exercise] = _notes(found.get("notes"), unit)
        return answers_of(found.get("answers"), script)

    def prompt(self, frames: Sequence[bytes], packed_replies: bytes) -> None:
        """Let the next check run on these replies, as long as it keeps to the script."""
        self._next_prompt = Prompt(frames, packed_replies)

    def kept_to_the_script(self, to_its_end: bool) -> bool:
        """Has the check that just ran asked for what the script foresaw, and nothing else? For all of it?"""
        assert self._prompt is not None
        return not self._prompt.was_left and (self._prompt.is_used_up or not to_its_end)

    def forget_rehearsal(self, exercise: str) -> None:
        """Throw replies away; the exercise goes on in a fresh worker as if nothing had been asked, or spent."""
        self._end_worker()
        self.cpu_seconds, self._waited = self._spent
        self._prompt = self._next_prompt = None
        self._outputs.pop(exercise, None)
        self.changes.pop(exercise, None)

    @property
    def used(self) -> float:
        """CPU seconds that its workers have used."""
        return self.cpu_seconds + self._worker_cpu()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.drop()

    def close(self) -> None:
        """End the last worker; first it is asked what its exercise changed in it."""
        self._retire()

    def drop(self) -> None:
        """End the last worker, whose last words are of no interest. Its zygote may have ended before."""
        self._end_worker()

    def _retire(self) -> None:
        """Ask the worker what its exercise changed in it, then end it."""
        if self._worker is not None and self._worker.alive and self._unit is not None:
            try:
                changes = sentences(self._ask(wire.request(("changes", {}))).get("value"))
            except Refusal:
                changes = []
            if changes:
                self.changes[self._unit.exercise] = changes
        self._end_worker()

    def try_again(self) -> bool:
        """After a check without an answer, perhaps by chance: may it run once more? Once a submission."""
        if self._had_another_try or not self._perhaps_by_chance:
            return False
        self._had_another_try = True
        self._unloadable.clear()
        return True

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
        self._make_way_for(unit)
        self._have_a_worker(unit)
        found = self._load(unit)
        if "changes" in found:
            if self._unit is not None:
                self.changes[self._unit.exercise] = sentences(found["changes"])
            self._end_worker()
            self._have_a_worker(unit)
            found = self._load(unit)
        self._unit = unit
        self.notes[unit.exercise] = _notes(found.get("notes"), unit)
        self._fresh = True

    def _load(self, unit: Unit) -> dict[str, Any]:
        self._untouched = False
        self._collect_output()
        self._printing = unit.exercise
        frame = wire.request(("fresh", {"seed": self._seed}), ("load", unit.load))
        try:
            found = _value(self._ask(frame, LOAD_FACTOR))
            if (rig := unit.load_rig) and "changes" not in found:
                self._ask(wire.request(("load_rig", rig)))
        except Refusal as refusal:
            said = f"{unit.exercise}.py: {refusal.sentence} (while the file was read)"
            self._unloadable[id(unit)] = Refusal(refusal.outcome, said)
            raise self._unloadable[id(unit)] from None
        self._check_started = self._worker_cpu()
        return found

    def _ask(self, frame: bytes, factor: float = 1.0) -> dict[str, Any]:
        self._post(frame, factor)
        return self._collect()

    def _post(self, frame: bytes, factor: float = 1.0) -> None:
        assert self._worker is not None
        self._limit = self.limits.seconds_per_check * factor
        left = self.limits.seconds_per_submission - self.used
        left = min(left, self.limits.seconds_per_submission - self._waited / WALL_FACTOR)
        if left <= 0:
            self._end_worker()
            raise Refusal("not run", "the submission's time was used up before this check")
        used = self._worker_cpu() - self._check_started
        cpu_limit = max(0.05, min(self._limit - used, left))
        with self._refusing():
            self._worker.post(frame, cpu_limit, cpu_limit * WALL_FACTOR)

    def _collect(self) -> dict[str, Any]:
        assert self._worker is not None
        with self._refusing(since=self._worker.waited_for_since):
            return self._worker.collect()

    @contextmanager
    def _refusing(self, since: float | None = None) -> Iterator[None]:
        """Time spent waiting counts; an answer that does not come becomes a Refusal."""
        begun = since or time.monotonic()
        try:
            yield
        except CallTimedOut as late:
            self._perhaps_by_chance = late.cpu < self._limit / 2
            self._end_worker()
            raise Refusal("timed out", f"no answer within {self._limit:g} s; is there an endless loop?") from None
        except WorkerGone as gone:
            self._perhaps_by_chance = True
            self._end_worker()
            if not self.zygote.alive:
                raise SandboxError("the process that starts workers ended, and its workers with it") from None
            raise Refusal("stopped", f"your code stopped the program ({gone.why})") from None
        finally:
            self._waited += time.monotonic() - begun

    def _make_way_for(self, unit: Unit) -> None:
        """Retire a worker that is not fit for this unit, or has printed all that it may."""
        if self._worker is None:
            return
        is_too_old = not self._untouched and (unit.alone or unit.scratch_mb > 0 or not self.shared)
        if is_too_old or self._worker.scratch_mb != unit.scratch_mb or self._worker.flooded:
            self._retire()

    def _have_a_worker(self, unit: Unit) -> None:
        if self._worker is not None and self._worker.alive:
            return
        limits = WorkerLimits(
            memory_mb=self.limits.memory_mb,
            cpu_seconds=int(self.limits.seconds_per_submission) + 1,
            output_bytes=self.limits.output_kb * 1024,
            scratch_mb=unit.scratch_mb,
        )
        self._worker = self.zygote.fork(limits)
        self._unit = None
        self._untouched = True
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


def _notes(found: Any, unit: Unit) -> list[str]:
    """Notes on how a file was read, as far as they can be believed."""
    return [vouched(note, unit.source or b"") for note in sentences(found)]
