"""Which mistake is it? Named mistakes answer the same requests as the submission, and the answers are compared.

A mistake is the solution with one wrong idea in it. It runs where submissions run, in a confined worker of its own. A
submission has the mistake when it answers like it where it fails, and fails wherever the mistake does. Which checks a
mistake fails was noted when they were proved (see `kills`): only mistakes that can be behind what failed are replayed,
in those checks only, and once for the whole class. An exercise that was changed since it was proved is graded without
diagnoses until it is proved again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

from autograder.authoring.contents import read_source
from autograder.authoring.variants import written
from autograder.course.mistakes import Mistake, load_mistakes
from autograder.grading.evidence import Evidence, distance, evidence_of, tells_much
from autograder.grading.kills import load_kills
from autograder.grading.receipt import PASSED, Diagnosis
from autograder.sandbox.host.worker import Worker
from autograder.sandbox.host.zygote import Zygote
from autograder.sandbox.script import Script
from autograder.sandbox.session import Session
from autograder.sandbox.units import Unit
from autograder.suite.desk import Seat

if TYPE_CHECKING:
    from autograder.grading.batch import Batch
    from autograder.grading.submission import Grader, Judged, Key

MOST_REPLAYED = 24
"""So many mistakes at most are looked at for one exercise of one submission."""

_TRIES = 3
"""So often a mistake is replayed whose worker may have been ended from outside: the class goes by its answers."""

_ENOUGH_TO_STAND_BESIDE = 3
"""A mistake that explains so many checks may be named where others fail for another reason."""

Answered = tuple[Sequence[bytes], bytes | Sequence[Any]]
"""The requests of one check and the replies to them, which may still be packed."""


@dataclass(frozen=True)
class Behaviour:
    """How a module fares in the checks of its exercise, by place: which it failed and passed, which it may fail, and
    what it answered."""

    failed: frozenset[int]
    passed: frozenset[int]
    evidence: Callable[[int], Evidence]
    may_fail: frozenset[int] = frozenset()

    @classmethod
    def of(cls, judged: Judged) -> Behaviour:
        """The behaviour behind results; a check that never came to an answer did neither pass nor fail."""
        outcomes = [result.outcome for result in judged.results]
        failed = frozenset(i for i, outcome in enumerate(outcomes) if outcome in ("failed", "raised"))
        passed = frozenset(i for i, outcome in enumerate(outcomes) if outcome == PASSED)
        return cls(failed, passed, cache(lambda place: evidence_of(*judged.answered[place])))


@dataclass(frozen=True)
class Suspect:
    """A mistake that a submission may have. `explains` are the checks that fail in the same way, `unexplained` those
    that fail, as they would with the mistake, but in another way, `others` those that fail and would not with it."""

    mistake: Mistake
    explains: frozenset[int]
    unexplained: frozenset[int]
    others: frozenset[int]
    tells_much: bool

    @property
    def is_convincing(self) -> bool:
        """Is it the whole story; or else is it told by answers that few others would give, explains it most of where it
        would show, and more than fails besides?"""
        count = len(self.explains)
        if not self.unexplained and not self.others:
            return True
        is_most = not self.others or (count >= _ENOUGH_TO_STAND_BESIDE and len(self.others) <= count)
        return self.tells_much and len(self.unexplained) < count and is_most


def suspects(
    submission: Behaviour, mistakes: Iterable[tuple[Mistake, Behaviour]], right: Callable[[int], Evidence]
) -> list[Suspect]:
    """The mistakes that convincingly explain failed checks, without those under which a check would fail that passed.

    `right` is what the solution answers in a check. That answers agree may be chance: a check that asks little gets the
    same answer from many who are wrong.
    """
    found = []
    for mistake, behaviour in mistakes:
        if behaviour.failed & submission.passed:
            continue
        shows = behaviour.failed | behaviour.may_fail
        answers = {place: behaviour.evidence(place) for place in shows & submission.failed}
        explains = frozenset(p for p, answer in answers.items() if distance(submission.evidence(p), answer) <= 1)
        suspect = Suspect(
            mistake,
            explains,
            unexplained=behaviour.failed & submission.failed - explains,
            others=submission.failed - shows,
            tells_much=any(tells_much(answers[place], right(place)) for place in explains),
        )
        if explains and suspect.is_convincing:
            found.append(suspect)
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
        self._idle: list[Session] = []
        self._known = {e.name: _Exercise(grader.batch, e.name) for e in grader.batch.assignment.exercises}

    def diagnose(
        self, zygote: Zygote, judged: Mapping[Key, Judged]
    ) -> Generator[Worker, None, dict[str, tuple[Diagnosis, ...]]]:
        """Diagnoses by exercise, those that explain most first. Yields each worker that computes.

        Raises:
            SandboxError: as with any submission.
        """
        found = {}
        for key, unit in judged.items():
            submission = Behaviour.of(unit)
            script = self._grader.script(key)
            if key[1] or not submission.failed or script is None:
                continue
            ids = [result.id for result in unit.results]
            exercise = self._known[key[0]]
            suspected: list[Suspect] = []
            short = exercise.shortest(script, submission.failed)
            yield from self._replay(zygote, key, exercise, [None], submission.failed)
            whole_story = not any(tells_much(submission.evidence(p), exercise.right(p)) for p in submission.failed)
            for alike in exercise.candidates(submission, ids):
                yield from self._replay(zygote, key, exercise, alike, [short])
                alike = exercise.still_alike(alike, submission, short, ids, whole_story)
                yield from self._replay(zygote, key, exercise, alike, submission.failed)
                known = [(mistake, exercise.behaviour(mistake, ids)) for mistake in alike]
                suspected += suspects(submission, known, exercise.right)
                if any(suspect.explains == submission.failed for suspect in suspected):
                    break  # others are less alike
            if chosen := named(suspected):
                found[key[0]] = tuple(_diagnosis(suspect, ids) for suspect in chosen)
        return found

    def _replay(
        self, zygote: Zygote, key: Key, exercise: _Exercise, mistakes: Iterable[Mistake | None], places: Iterable[int]
    ) -> Generator[Worker, None, None]:
        """Find out what mistakes, or the solution (None), answer in some checks, once in a run; nothing where no
        rehearsal can tell."""
        whole = self._grader.script(key)
        session = self._session(zygote)
        try:
            for mistake in mistakes:
                name = mistake.id if mistake else ""
                missing = tuple(sorted(place for place in places if (name, place) not in exercise.answers))
                if not missing or whole is None:
                    continue
                seat = Seat(session, {key[0]: exercise.source(mistake)})
                unit, script = self._grader.desk.unit_of(seat, *key), exercise.script(whole, missing)
                answers, tries = None, 0
                while answers is None and tries < _TRIES and (tries == 0 or session.perhaps_by_chance):
                    answers, tries = (yield from _answers(session, unit, script)), tries + 1
                for place, answer in zip(missing, answers or [b""] * len(missing), strict=True):
                    exercise.answers[name, place] = evidence_of(whole.checks[place], answer)
        except BaseException:
            session.drop()
            raise
        self._idle.append(session)

    def _session(self, zygote: Zygote) -> Session:
        """One that no other lane uses; its worker runs mistakes only, so that it serves one after the other."""
        while self._idle:
            session = self._idle.pop()
            if session.zygote is zygote and session.used < self._grader.limits.seconds_per_submission / 2:
                return session
            session.drop()
        return Session(zygote, self._grader.limits)

    def close(self) -> None:
        """End the workers."""
        for session in self._idle:
            session.drop()


class _Exercise:
    """The mistakes of one exercise, and what they answered as far as they were replayed."""

    def __init__(self, batch: Batch, name: str) -> None:
        self._files, self._assignment, self._name = batch.files, batch.assignment, name
        noted = load_kills(batch.files, batch.assignment, name) if batch.kills is None else batch.kills.get(name)
        self._kills = noted or {}
        self._scripts: dict[tuple[int, ...], Script] = {}
        self._sources: dict[str, bytes] = {}
        self.answers: dict[tuple[str, int], Evidence] = {}

    @cached_property
    def _mistakes(self) -> dict[str, Mistake]:
        return {mistake.id: mistake for mistake in load_mistakes(self._files.mistakes(self._name)).mistakes}

    @cached_property
    def _solution(self) -> str:
        return read_source(self._files, self._files.solution(self._assignment.id, self._name))

    def source(self, mistake: Mistake | None) -> bytes:
        """The module with this mistake, or none."""
        if mistake is None:
            return self._solution.encode()
        if mistake.id not in self._sources:
            self._sources[mistake.id] = written(self._solution, [mistake], f"{self._name}: {mistake.id}").encode()
        return self._sources[mistake.id]

    def right(self, place: int) -> Evidence:
        """What the solution answers in a check."""
        return self.answers["", place]

    def script(self, whole: Script, places: tuple[int, ...]) -> Script:
        """The part of the exercise's script that asks what these checks ask."""
        if places not in self._scripts:
            self._scripts[places] = Script.of([whole.checks[place] for place in places])
        return self._scripts[places]

    def shortest(self, whole: Script, places: Iterable[int]) -> int:
        """Of these checks the one that asks least."""
        return min(places, key=lambda place: sum(map(len, whole.checks[place])))

    def still_alike(
        self, mistakes: list[Mistake], submission: Behaviour, place: int, ids: Sequence[str], whole_story: bool
    ) -> list[Mistake]:
        """Those that answer one failed check like the submission, and those that pass it; all of them where none does.

        Only the former where a mistake must be the `whole_story` to be named, because the answers tell little.
        """

        def answers_alike(mistake: Mistake) -> bool:
            return distance(submission.evidence(place), self.answers[mistake.id, place]) <= 1

        if whole_story:
            return [m for m in mistakes if ids[place] in self._kills[m.id].any and answers_alike(m)]
        return [m for m in mistakes if ids[place] not in self._kills[m.id].any or answers_alike(m)] or mistakes

    def behaviour(self, mistake: Mistake, ids: Sequence[str]) -> Behaviour:
        """How a mistake fares, as it was proved, and what it answers where it was replayed."""
        kill = self._kills[mistake.id]
        always, sometimes = (
            frozenset(i for i, c in enumerate(ids) if c in part) for part in (kill.always, kill.sometimes)
        )
        passed = frozenset(range(len(ids))) - always - sometimes
        return Behaviour(always, passed, lambda place: self.answers[mistake.id, place], sometimes)

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


def _answers(session: Session, unit: Unit, script: Script) -> Generator[Worker, None, list[bytes] | None]:
    """The packed replies to each check of a script; None when it could not be answered, and nothing is left of it."""
    answers = None
    if session.begin_rehearsal(unit, script):
        yield session.rehearsing
        answers = session.end_rehearsal()
    if answers is None:
        session.forget_rehearsal(unit.exercise)
    return answers


def _diagnosis(suspect: Suspect, ids: Sequence[str]) -> Diagnosis:
    mistake = suspect.mistake
    checks = tuple(ids[place] for place in sorted(suspect.explains))
    return Diagnosis(mistake.id, mistake.name, mistake.hint, mistake.course, checks)
