"""What the fixtures of a suite hand out: the student's module, the reference, traces, inputs and rigs."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from autograder.course import Assignment, CourseFiles, load_traces
from autograder.sandbox.session import Session
from autograder.sandbox.units import Refusal, Unit
from autograder.suite.answer import Oracle, holds_answer, marked
from autograder.suite.checks import Check
from autograder.suite.faults import Fault, NotAttempted, NotRun, Refused, Stopped, TimedOut
from autograder.suite.inputs import Inputs, stream_seed
from autograder.suite.student import Call, Student, raise_fault
from autograder.suite.trace import Trace, make_trace

_FAULTS: dict[str, type[Fault]] = {f.outcome: f for f in (NotAttempted, TimedOut, Stopped, NotRun, Refused)}


def fault_of(refusal: Refusal) -> Fault:
    """The fault that a check ends with when no answer could be had."""
    return _FAULTS[refusal.outcome](refusal.sentence)


@dataclass
class WorkerTransport:
    """Carries the operations of one exercise's checks to the session's worker. `calls` are the check's calls so far."""

    session: Session
    unit: Unit
    calls: list[Call]

    def request(self, operation: str, payload: Mapping[str, Any]) -> Any:
        """The plain answer, or the Fault that the reply or its absence means."""
        self.session.repeats_an_answer |= holds_answer(payload)
        return marked(self._answer(lambda: self.session.ask(self.unit, operation, payload)))

    def later(self, operation: str, payload: Mapping[str, Any]) -> None:
        """Let the operation travel with the next one; a Fault of it comes with that one's answer."""
        self.session.repeats_an_answer |= holds_answer(payload)
        self.session.later(self.unit, operation, payload)

    def settle(self) -> None:
        """Have everything done that was left for later."""
        self._answer(self.session.settle)

    def _answer(self, ask: Callable[[], dict[str, Any]]) -> Any:
        try:
            reply = ask()
        except Refusal as refusal:
            raise fault_of(refusal) from None
        if "fault" not in reply:
            return reply.get("value")
        behind = reply.get("behind", 0)
        if behind:
            del self.calls[-behind:]
        try:
            raise_fault(reply["fault"], self.unit.exercise, self.unit.files, [call.name for call in self.calls])
        except Fault as fault:
            fault.earlier = behind > 0
            raise


@dataclass
class Seat:
    """One submission at the desk: its sources, its session, and what was prepared of it for the worker."""

    session: Session
    sources: Mapping[str, bytes]
    units: dict[tuple[str, bool], Unit] = field(default_factory=dict)


@dataclass
class Desk:
    """One grading run: its seed, the course's files, and the submission that is graded now."""

    files: CourseFiles
    course: Assignment
    seed: int
    calls: list[Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.assignment = self.course.id
        self.exercises = {exercise.name: exercise for exercise in self.course.exercises}
        self.limits = self.course.limits
        self._seat: Seat | None = None
        self._references: dict[str, Oracle] = {}
        self._traces: dict[str, dict[str, dict[str, Any]]] = {}
        self._stand_ins: dict[str, bytes] = {}

    def take(self, seat: Seat) -> None:
        """Grade this submission from now on, until another one takes its place."""
        self._seat = seat

    @property
    def seat(self) -> Seat:
        """The submission that is graded now."""
        assert self._seat is not None
        return self._seat

    @property
    def with_scratch(self) -> list[str]:
        """The exercises that ask for scratch."""
        return [exercise.name for exercise in self.course.exercises if exercise.scratch_mb]

    def begin(self, check: Check) -> None:
        """A check begins: no calls yet, its own clock and seed."""
        self.calls = []
        self.seat.session.begin_check(stream_seed(self.seed, f"{check.id}/worker") % 2**31)

    def settle(self) -> None:
        """The check's function has returned: have done what it left for later."""
        for unit in self.seat.units.values():
            WorkerTransport(self.seat.session, unit, self.calls).settle()
            break

    def student(self, exercise: str, own: bool = False) -> Student:
        """The student's module; with `own`, on top of the student's own earlier parts instead of stand-ins."""
        return Student(self._transport(exercise, own), exercise, self.calls)

    def rig(self, exercise: str, own: bool = False) -> Student:
        """The exercise's rig, beside the student's module in the same worker."""
        return Student(self._transport(exercise, own), f"rig_{exercise}", self.calls)

    def _transport(self, exercise: str, own: bool) -> WorkerTransport:
        return WorkerTransport(self.seat.session, self.unit(exercise, own), self.calls)

    def reference(self, exercise: str) -> Oracle:
        """The oracle of an exercise."""
        if exercise not in self._references:
            spec = importlib.util.spec_from_file_location(f"reference.{exercise}", self.files.reference(exercise))
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            self._references[exercise] = Oracle(module)
        return self._references[exercise]

    def inputs(self, check: Check) -> Inputs:
        """Fresh random inputs for one check."""
        return Inputs(stream_seed(self.seed, check.id))

    def trace(self, exercise: str, entry: str) -> Trace:
        """A worked example of the course text."""
        if exercise not in self._traces:
            entries = load_traces(self.files.traces(exercise))
            self._traces[exercise] = {name: asdict(found) for name, found in entries.items()}
        return make_trace(self._traces[exercise][entry])

    def unit(self, exercise: str, own: bool) -> Unit:
        """What a worker has to load for an exercise, on stand-ins or on the student's own earlier parts."""
        return self.unit_of(self.seat, exercise, own)

    def unit_of(self, seat: Seat, exercise: str, own: bool) -> Unit:
        """The same for another submission than the one that is graded now."""
        units, sources = seat.units, seat.sources
        if (exercise, own) not in units:
            rig = self.files.rig(self.assignment, exercise)
            own_parts = {name: source for name, source in sources.items() if name != exercise}
            units[exercise, own] = Unit(
                exercise=exercise,
                source=sources.get(exercise),
                siblings=own_parts if own else self._stand_ins_for(exercise),
                rig=rig.read_bytes() if rig.is_file() else None,
                alone=own,
                scratch_mb=self.exercises[exercise].scratch_mb,
            )
        return units[exercise, own]

    def _stand_ins_for(self, exercise: str) -> dict[str, bytes]:
        """Stand-ins for what the exercise builds on, and for what those build on."""
        found: dict[str, bytes] = {}
        waiting = list(self.exercises[exercise].needs)
        while waiting:
            name = waiting.pop()
            if name not in self._stand_ins:
                self._stand_ins[name] = self.files.stand_in(name).read_bytes()
            found[name] = self._stand_ins[name]
            waiting += [n for n in self.exercises[name].needs if n not in found]
        return found
