"""Grade one submission: exercise by exercise, rehearsed where a script is known, request by request where not."""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

import pytest

from autograder import __version__
from autograder.grading.batch import Batch
from autograder.grading.diagnosis import Answered, Diagnoser
from autograder.grading.hashes import suite_hash
from autograder.grading.inspector import Findings, Inspector
from autograder.grading.receipt import (
    GRADER_TROUBLE,
    PASSED,
    STOPPED,
    TIMED_OUT,
    CheckResult,
    Diagnosis,
    Receipt,
    told_by_intake,
)
from autograder.grading.store import now
from autograder.intake import Submission
from autograder.sandbox.host.errors import SandboxError
from autograder.sandbox.host.worker import Worker
from autograder.sandbox.host.zygote import Zygote
from autograder.sandbox.script import Script
from autograder.sandbox.session import Session
from autograder.sandbox.units import Refusal, SessionLimits
from autograder.suite.checking import SHARES
from autograder.suite.checks import Check
from autograder.suite.desk import Desk, Seat, fault_of
from autograder.suite.explain import Verdict, trouble, verdict
from autograder.suite.plugin import CHECK

Key = tuple[str, bool]
"""An exercise, and whether it runs on the student's own earlier parts: what a worker loads together."""

Units = list[tuple[Key, list[pytest.Item]]]
"""What is loaded together, with its checks."""

MOST_REMEMBERED = 64
"""So many different right answers to a check are remembered."""

_TRIES = 3
"""So often a script is asked for from a solution whose worker was ended; it may have been ended from outside."""

_MOST_LEARNED = 16
_learned: dict[tuple[str, str, int], dict[Key, Script]] = {}
"""Scripts of the latest runs of this process, by suite, solutions and seed: all that they depend on."""


@dataclass(frozen=True)
class Judged:
    """Results of the checks that run together, and for each of them the requests and replies it was judged on."""

    results: list[CheckResult]
    answered: list[Answered]


class Grader:
    """The collected checks of an assignment, and what earlier submissions of this run taught about them."""

    def __init__(self, batch: Batch, desk: Desk, items: Sequence[pytest.Item]) -> None:
        order = {exercise.name: place for place, exercise in enumerate(batch.assignment.exercises)}
        in_order = sorted(items, key=lambda item: (order[_key_of(item)[0]], _key_of(item)[1]))
        self._place = {item.stash[CHECK].id: place for place, item in enumerate(in_order)}
        # First what runs on the student's own parts: no stand-in has been in the worker then, for them to find.
        in_order.sort(key=lambda item: not _key_of(item)[1])
        self.units = [(key, list(group)) for key, group in groupby(in_order, _key_of)]
        self.items = dict(self.units)
        self.batch = batch
        self.desk = desk
        self.limits = SessionLimits(**batch.assignment.limits.model_dump())
        self.suite_hash = suite_hash(batch.files, batch.assignment)
        self._inspector = Inspector()
        self._diagnoser = Diagnoser(self)
        self._scripts: dict[Key, Script] = {}
        self._found: defaultdict[tuple[Key, int], dict[bytes, CheckResult]] = defaultdict(dict)

    def grade(self, zygote: Zygote, submission: Submission) -> Generator[Worker, None, Receipt]:
        """Grade one submission; returns its receipt. Yields while a worker computes: others can be looked after."""
        sources = {name: file.content for name, file in submission.files.items()}
        units = self._units_of(submission)
        graded = {exercise for (exercise, _), _ in units}
        findings = self.findings(zygote, {name: source for name, source in sources.items() if name in graded})
        refusals = {name: found.refusal for name, found in findings.items() if found.refusal}
        judged: dict[Key, Judged] = {}
        with Session(zygote, self.limits, shared=self.batch.shared_workers, refusals=refusals) as session:
            seat = Seat(session, sources)
            for key, items in units:
                if refusal := session.refusal(self.desk.unit_of(seat, *key)):
                    judged[key] = self._refused(items, refusal)
                    continue
                rehearsed = yield from self.rehearse(seat, key)
                self.desk.take(seat)
                judged[key] = rehearsed or self._request_by_request(session, key, items)
        diagnoses = (yield from self._diagnoser.diagnose(zygote, judged)) if self.batch.diagnoses else {}
        results = [result for unit in judged.values() for result in unit.results]
        results.sort(key=lambda result: self._place[result.id])
        curious = {name: found.curious for name, found in findings.items() if found.curious}
        return self._receipt(submission, session, results, curious, diagnoses)

    def _units_of(self, submission: Submission) -> Units:
        only = self.batch.only
        return [unit for unit in self.units if only is None or unit[0][0] in only[submission.student]]

    def rehearse(self, seat: Seat, key: Key) -> Generator[Worker, None, Judged | None]:
        """Judge a unit on the replies to its script; None where there is none, or it has to be graded without.

        Yields once, while the worker computes.
        """
        self.desk.take(seat)
        script = self.script(key)
        if script is None or not seat.session.begin_rehearsal(self.desk.unit(*key), script):
            return None
        yield seat.session.rehearsing
        self.desk.take(seat)
        judged = self._rehearsed(seat.session, key, script)
        if judged is None:
            seat.session.forget_rehearsal(key[0])
        return judged

    def script(self, key: Key) -> Script | None:
        """What the checks of a unit ask, where it is known."""
        return self._scripts.get(key) if self.batch.shared_workers else None

    def findings(self, zygote: Zygote, sources: Mapping[str, bytes]) -> dict[str, Findings]:
        """What is to be said of the sources before any is run, by exercise."""
        known = self.desk.exercises
        return {n: self._inspector.inspect(zygote, n, sources[n], known[n].forbidden) for n in known if n in sources}

    def learn(self, zygote: Zygote) -> None:
        """Grade the solutions, where the course has them: what checks ask of them is the script for everybody.

        Raises:
            SandboxError: as it may happen with any submission.
        """
        if not (self.batch.shared_workers and self.batch.submissions):
            return
        folder = self.batch.files.solutions(self.batch.assignment.id)
        files = {e.name: folder / f"{e.name}.py" for e in self.batch.assignment.exercises}
        sources = {name: path.read_bytes() for name, path in files.items() if path.is_file()}
        digest = hashlib.sha256(repr(sorted(sources.items())).encode()).hexdigest()
        known = (self.suite_hash, digest, self.batch.seed)
        if known not in _learned:
            left = self.units
            for _ in range(_TRIES):
                left = self._learn_from(zygote, sources, left)
            if len(_learned) == _MOST_LEARNED:
                del _learned[next(iter(_learned))]
            _learned[known] = dict(self._scripts)
        self._scripts = dict(_learned[known])

    def _learn_from(self, zygote: Zygote, sources: Mapping[str, bytes], units: Units) -> Units:
        """Learn the scripts of these units. Returns those that may do better another time: their worker was ended."""
        disturbed: Units = []
        if units:
            with Session(zygote, self.limits) as session:
                self.desk.take(Seat(session, sources))
                for key, items in units:
                    judged = self._request_by_request(session, key, items)
                    if any(result.outcome in (TIMED_OUT, STOPPED) for result in judged.results):
                        disturbed.append((key, items))
        return disturbed

    def close(self) -> None:
        """End what the run no longer needs."""
        self._inspector.close()
        self._diagnoser.close()

    def left_to_a_human(self, submission: Submission, zygote: Zygote, failure: Exception) -> Receipt:
        """The receipt of a submission under which the grader failed: grader trouble, and no points either way."""
        checks = [item.stash[CHECK] for _, items in self.units for item in items]
        results = [_result(check, verdict(failure, (), public=False), failure) for check in checks]
        return self._receipt(submission, Session(zygote, self.limits), results)

    def _request_by_request(self, session: Session, key: Key, items: Sequence[pytest.Item]) -> Judged:
        """Results of an exercise's checks. Where all pass, what they asked is the script for other submissions.

        Not where a check asks with something that was answered before: then the script would hold right answers.
        """
        answered: list[Answered] = []
        results, is_secret = [], False
        for item in items:
            result, _ = self._run(item, session)
            if result.outcome in (TIMED_OUT, STOPPED) and session.try_again():
                result, _ = self._run(item, session)
            results.append(result)
            answered.append((session.frames, session.replies))
            is_secret |= session.repeats_an_answer
        if not is_secret and all(result.outcome == PASSED for result in results):
            self._scripts.setdefault(key, Script.of([frames for frames, _ in answered]))
        return Judged(results, answered)

    def _rehearsed(self, session: Session, key: Key, script: Script) -> Judged | None:
        """Results of checks on the replies to a script; None where a check went off it, and nothing is known.

        A check is a function of the replies: those that it passed on before, bit by bit, are not judged again.
        """
        answers = session.end_rehearsal()
        if answers is None:
            return None
        results = []
        for place, (item, frames, answer) in enumerate(zip(self.items[key], script.checks, answers, strict=True)):
            digest, found = hashlib.sha256(answer).digest(), self._found[key, place]
            result = found.get(digest)
            if result is None:
                session.prompt(frames, answer)
                result, raised = self._run(item, session)
                if not session.kept_to_the_script(to_its_end=raised is None) or result.outcome == GRADER_TROUBLE:
                    return None
                if result.outcome == PASSED and len(found) < MOST_REMEMBERED:  # other sentences speak of this source
                    found[digest] = result
            results.append(result)
        return Judged(results, list(zip(script.checks, answers, strict=True)))

    def _refused(self, items: Sequence[pytest.Item], refusal: Refusal) -> Judged:
        """Results of checks of which none would get an answer: there is no need to run them."""
        fault = fault_of(refusal)
        checks = [item.stash[CHECK] for item in items]
        results = [_result(check, verdict(fault, (), public=check.public), fault) for check in checks]
        return Judged(results, [((), ()) for _ in results])

    def _run(self, item: pytest.Item, session: Session) -> tuple[CheckResult, BaseException | None]:
        """Run a check: its result, and what it raised. Its seconds are of CPU time, here and in the worker."""
        check = item.stash[CHECK]
        shares: list[float] = []
        token, begun = SHARES.set(shares), time.process_time() + session.used
        try:
            raised = _run_item(item)
        finally:
            SHARES.reset(token)
        seconds = max(0.0, time.process_time() + session.used - begun)
        if isinstance(raised, (KeyboardInterrupt, SandboxError)):
            raise raised
        found = verdict(raised, self.desk.calls, public=check.public)
        return _result(check, found, raised, seconds, max(shares, default=None)), raised

    def _receipt(
        self,
        submission: Submission,
        session: Session,
        results: Sequence[CheckResult],
        curious: Mapping[str, tuple[str, ...]] | None = None,
        diagnoses: Mapping[str, tuple[Diagnosis, ...]] | None = None,
    ) -> Receipt:
        reading = [f"{exercise}.py: {note}" for exercise, notes in session.notes.items() for note in notes]
        outputs = {e.name: session.output(e.name) for e in self.batch.assignment.exercises}
        return Receipt(
            course=self.batch.course,
            assignment=self.batch.assignment.id,
            student=submission.student,
            **told_by_intake(submission),
            submission_hash=submission.digest,
            suite_hash=self.suite_hash,
            kit_version=__version__,
            seed=self.batch.seed,
            torch_version=session.zygote.report["torch"],
            isolation=session.zygote.isolation,
            graded_at=now(),
            seconds=round(session.cpu_seconds, 4),
            checks=tuple(results),
            reading=tuple(reading),
            output={exercise: text for exercise, text in outputs.items() if text},
            flags={exercise: tuple(changed) for exercise, changed in session.changes.items()},
            curious=curious or {},
            diagnoses=diagnoses or {},
        )


def _run_item(item: pytest.Item) -> BaseException | None:
    """Set up, call and tear down one item as pytest would, and return what it raised. No report is made of it."""
    item._initrequest()  # type: ignore[attr-defined]  # fresh fixtures, as a rerun of a test needs them
    raised: BaseException | None = None
    try:
        item.ihook.pytest_runtest_setup(item=item)
        item.ihook.pytest_runtest_call(item=item)
    except BaseException as error:
        raised = error
    try:
        item.ihook.pytest_runtest_teardown(item=item, nextitem=None)  # no fixture outlives its check
    except BaseException as error:
        raised = raised or error
    return raised


_NOTHING = Fraction(0)


def _earned(check: Check, found: Verdict) -> Fraction:
    """Exact points; all or nothing is not computed, so that a class shares a few fractions."""
    if found.share in (0, 1):
        return check.points if found.share else _NOTHING
    return check.points * Fraction(str(found.share))


def _result(
    check: Check, found: Verdict, raised: BaseException | None, seconds: float = 0.0, share: float | None = None
) -> CheckResult:
    return CheckResult(
        id=check.id,
        exercise=check.exercise,
        title=check.title,
        public=check.public,
        points=check.points,
        outcome=found.outcome,
        earned=_earned(check, found),
        message=found.message,
        trouble=trouble(raised) if found.outcome == GRADER_TROUBLE and raised is not None else "",
        seconds=round(seconds, 5),
        attested=check.attested,
        share=share,
    )


def _key_of(item: pytest.Item) -> Key:
    """The exercise of a check, and whether it runs on the student's own earlier parts: what is loaded together."""
    return item.stash[CHECK].exercise, "own" in getattr(item, "fixturenames", ())
