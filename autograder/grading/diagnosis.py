"""Which mistake is it? Named mistakes answer the same requests as the submission, and the answers are compared.

A mistake is the solution with one wrong idea in it. It runs where submissions run, in a confined worker of its own, and
its answers are judged by the same checks. A submission has the mistake when it answers like it where it fails, and
fails wherever the mistake would. What a run found out about its mistakes serves the whole class. Looked at are only
mistakes that can be behind the checks that failed; which that are was noted when the checks were proved (see `kills`),
and an exercise that was changed since is graded without diagnoses until it is proved again.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

from autograder.authoring.contents import read_source
from autograder.authoring.variants import written
from autograder.course.mistakes import Mistake, load_mistakes
from autograder.grading.evidence import Evidence, distance, evidence_of
from autograder.grading.kills import load_kills
from autograder.grading.receipt import PASSED, Diagnosis
from autograder.sandbox.host import Zygote
from autograder.sandbox.session import Session
from autograder.suite.desk import Seat

if TYPE_CHECKING:
    from autograder.grading.submission import Batch, Grader, Judged, Key

MOST_REPLAYED = 24
"""So many mistakes at most are looked at for one exercise of one submission."""

Answered = tuple[Sequence[bytes], bytes | Sequence[Any]]
"""The requests of one check and the replies to them, which may still be packed."""


@dataclass(frozen=True)
class Behaviour:
    """How a module fares in the checks of its exercise: which failed, and what it answered in each."""

    failed: frozenset[int]
    passed: frozenset[int]
    answered: Sequence[Answered]
    _known: dict[int, Evidence] = field(default_factory=dict)

    @classmethod
    def of(cls, judged: Judged) -> Behaviour:
        """The behaviour behind results; a check that never came to an answer did neither pass nor fail."""
        outcomes = [result.outcome for result in judged.results]
        failed = frozenset(i for i, outcome in enumerate(outcomes) if outcome in ("failed", "raised"))
        return cls(failed, frozenset(i for i, o in enumerate(outcomes) if o == PASSED), judged.answered)

    def evidence(self, place: int) -> Evidence:
        """What was answered in one check."""
        if place not in self._known:
            self._known[place] = evidence_of(*self.answered[place])
        return self._known[place]


@dataclass(frozen=True)
class Suspect:
    """A mistake that a submission may have. `explains` are the checks that fail in the same way, `unexplained` those
    that fail, as they would with the mistake, but in another way."""

    mistake: Mistake
    explains: frozenset[int]
    unexplained: frozenset[int]


def suspects(submission: Behaviour, mistakes: Iterable[tuple[Mistake, Behaviour]]) -> list[Suspect]:
    """The mistakes that explain a failed check, without those under which a check would fail that passed."""
    found = []
    for mistake, behaviour in mistakes:
        if behaviour.failed & submission.passed:
            continue
        common = behaviour.failed & submission.failed
        explains = frozenset(
            place for place in common if distance(submission.evidence(place), behaviour.evidence(place)) <= 1
        )
        if explains:
            found.append(Suspect(mistake, explains, common - explains))
    return found


def named(found: Sequence[Suspect]) -> list[Suspect]:
    """The suspects that can be told to a student: for each failed check the one that explains most, if one does.

    Where several explain the same, the one that leaves the least unexplained counts; a tie names none of them.
    """
    chosen: list[Suspect] = []
    left = frozenset[int]().union(*(suspect.explains for suspect in found))
    while left:
        ranks = [(len(suspect.explains & left), -len(suspect.unexplained)) for suspect in found]
        first = [suspect for suspect, rank in zip(found, ranks, strict=True) if rank == max(ranks)]
        for suspect in first:
            rivals = [other for other in first if other is not suspect and other.explains & suspect.explains & left]
            chosen += [] if rivals else [suspect]
        left -= frozenset[int]().union(*(suspect.explains for suspect in first))
    return chosen


class Diagnoser:
    """Names mistakes for one grading run."""

    def __init__(self, grader: Grader) -> None:
        self._grader = grader
        self._known = {e.name: _Exercise(grader.batch, e.name) for e in grader.batch.assignment.exercises}

    def diagnose(
        self, zygote: Zygote, judged: Mapping[Key, Judged]
    ) -> Generator[None, None, dict[str, tuple[Diagnosis, ...]]]:
        """Diagnoses by exercise, those that explain most first. Yields while a worker computes.

        Raises:
            SandboxError: as with any submission.
        """
        found = {}
        for key, unit in judged.items():
            submission = Behaviour.of(unit)
            if key[1] or not submission.failed or self._grader.script(key) is None:
                continue
            ids = [result.id for result in unit.results]
            exercise = self._known[key[0]]
            suspected: list[Suspect] = []
            for alike in exercise.candidates(submission, ids):
                yield from self._replay(zygote, key, exercise, alike)
                known = [(mistake, b) for mistake in alike if (b := exercise.behaviours[mistake.id]) is not None]
                suspected += suspects(submission, known)
                if any(suspect.explains == submission.failed for suspect in suspected):
                    break  # others are less alike
            if chosen := named(suspected):
                found[key[0]] = tuple(_diagnosis(suspect, ids) for suspect in chosen)
        return found

    def _replay(
        self, zygote: Zygote, key: Key, exercise: _Exercise, candidates: Iterable[Mistake]
    ) -> Generator[None, None, None]:
        """Find out how mistakes fare, once in a run; nothing is known of those that no rehearsal can judge."""
        session = Session(zygote, self._grader.limits)
        try:
            for mistake in candidates:
                if mistake.id not in exercise.behaviours:
                    seat = Seat(session, {key[0]: exercise.source(mistake)})
                    judged = yield from self._grader.rehearse(seat, key)
                    exercise.behaviours[mistake.id] = None if judged is None else Behaviour.of(judged)
        finally:
            session.close()


class _Exercise:
    """The mistakes of one exercise, and how those that were replayed fared."""

    def __init__(self, batch: Batch, name: str) -> None:
        self._files, self._assignment, self._name = batch.files, batch.assignment, name
        noted = load_kills(batch.files, batch.assignment, name) if batch.kills is None else batch.kills.get(name)
        self._kills = noted or {}
        self.behaviours: dict[str, Behaviour | None] = {}

    @cached_property
    def _mistakes(self) -> dict[str, Mistake]:
        return {mistake.id: mistake for mistake in load_mistakes(self._files.mistakes(self._name)).mistakes}

    @cached_property
    def _solution(self) -> str:
        return read_source(self._files, self._files.solution(self._assignment.id, self._name))

    def source(self, mistake: Mistake) -> bytes:
        """The module with this mistake."""
        return written(self._solution, [mistake], f"{self._name}: {mistake.id}").encode()

    def candidates(self, submission: Behaviour, ids: Sequence[str]) -> Iterator[list[Mistake]]:
        """The mistakes that can be behind what failed, those that fare alike together, the likeliest first."""
        failed, passed = (frozenset(ids[i] for i in part) for part in (submission.failed, submission.passed))
        far = {n: kill.distance(failed) for n, kill in self._kills.items() if kill.may_be_behind(failed, passed)}
        count = 0
        for _, names in groupby(sorted(far, key=lambda name: far[name]), key=lambda name: far[name]):
            alike = [self._mistakes[name] for name in names]
            count += len(alike)
            if count > MOST_REPLAYED:
                break
            yield alike


def _diagnosis(suspect: Suspect, ids: Sequence[str]) -> Diagnosis:
    mistake = suspect.mistake
    checks = tuple(ids[place] for place in sorted(suspect.explains))
    return Diagnosis(mistake.id, mistake.name, mistake.hint, mistake.course, checks)
