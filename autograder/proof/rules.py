"""What must hold for an assignment, each rule as the sentences that say where it does not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.authoring import stale
from autograder.authoring.contents import contents, read_source, shown
from autograder.authoring.leaks import leaks_in
from autograder.course import Assignment, Course, CourseFiles
from autograder.course.mistakes import Mistake, Mistakes
from autograder.course.model import wrong_reference
from autograder.proof.experiment import Experiment, Graded
from autograder.proof.facts import Facts
from autograder.proof.margins import margin_problems
from autograder.proof.samples import ALSO, EQUIVALENT, MISTAKE, PAIR, SOLUTION, STUB

CAUGHT, NAMED, MISNAMED, MISNAMED_IN_PAIRS = 0.97, 0.80, 0.02, 0.05
"""Shares: mistakes caught at least; of those, named at least and wrongly named at most; pairs wrongly named at most."""

BUDGET = 0.25
"""A check of the solution may take this share of the time that a check may take."""

_REFERENCE = re.compile(r"\b[Ww]eek ?\d+,? (?:§ ?\d+|[Ss]ec(?:tion|\.) ?\d+)")


@dataclass(frozen=True)
class Figures:
    """How many of the mistakes are caught, and how they are named."""

    mistakes: int
    caught: int
    named: int
    misnamed: int
    written_otherwise: int
    otherwise_named: int
    otherwise_misnamed: int
    equivalents: int
    accepted: int
    pairs: int
    pairs_misnamed: int


def figures(experiment: Experiment) -> Figures:
    """Count."""
    mistakes = experiment.of(MISTAKE)
    caught = [one for one in mistakes if one.is_caught]
    diagnosed = [one for one in experiment.diagnosed(MISTAKE) if one.is_caught]
    also, pairs, equivalents = (experiment.diagnosed(kind) for kind in (ALSO, PAIR, EQUIVALENT))
    rejected = {one.sample.id for one in [*experiment.of(EQUIVALENT), *equivalents] if one.kill.any or one.names}
    return Figures(
        mistakes=len(mistakes),
        caught=len(caught),
        named=sum(one.is_named for one in diagnosed),
        misnamed=sum(one.is_misnamed for one in diagnosed),
        written_otherwise=len(also),
        otherwise_named=sum(one.is_named for one in also),
        otherwise_misnamed=sum(one.is_misnamed for one in also),
        equivalents=len(equivalents),
        accepted=len(equivalents) - len(rejected),
        pairs=len(pairs),
        pairs_misnamed=sum(one.is_misnamed for one in pairs),
    )


def problems_of_checks(
    experiment: Experiment, known: Mapping[str, Mistakes], suites: Mapping[str, Facts]
) -> Iterator[str]:
    """What the experiment shows to be wrong: with checks, mistakes, equivalents."""
    yield from _stub_problems(experiment.of(STUB))
    yield from _honest_problems([*experiment.of(SOLUTION, EQUIVALENT), *experiment.diagnosed(EQUIVALENT)])
    yield from _honest_problems(experiment.two_threads, " on two threads")
    listed = {(exercise, m.id): m for exercise, entries in known.items() for m in entries.mistakes}
    own = frozenset().union(*(facts.own for facts in suites.values()))
    for graded in experiment.of(MISTAKE):
        yield from _mistake_problems(graded, listed[graded.sample.exercise, graded.sample.name])
    for graded in experiment.elsewhere:
        yield from _problems_elsewhere(graded, own)
    surviving = {m for (_, m), mistake in listed.items() if mistake.survives}
    for graded in experiment.diagnosed(ALSO, PAIR):
        if not graded.is_caught and not graded.sample.mistakes <= surviving:
            yield f"{graded.sample.id}: survives with seed {_seeds_without_loss(graded)}"
    yield from _figure_problems(figures(experiment))
    narrow = {check: why for facts in suites.values() for check, why in facts.narrow.items()}
    yield from margin_problems(experiment, narrow)
    budget = BUDGET * experiment.assignment.limits.seconds_per_check
    for check in experiment.alone.checks:
        if check.seconds > budget:
            yield f"{check.id}: takes the solution {check.seconds:.2f} s, more than {budget:g}; make its inputs smaller"


def problems_of_texts(files: CourseFiles, course: Course, assignment: Assignment) -> Iterator[str]:
    """What can be seen without grading: leaks, a stale release, references to sections that do not exist."""
    yield from leaks_in(contents(files, assignment), files, assignment)
    yield from stale(files, assignment)
    for path in _texts(files, assignment):
        for number, line in enumerate(read_source(files, path).splitlines(), start=1):
            for reference in _REFERENCE.findall(line):
                if sentence := _reference_problem(reference, course):
                    yield f"{shown(files, path)}:{number}: {sentence}"


def _stub_problems(stubs: Iterable[Graded]) -> Iterator[str]:
    for graded in stubs:
        for receipt in graded.receipts.values():
            for check in receipt.checks:
                if check.outcome != "not attempted":
                    yield f"{check.id}: the stub should be not attempted, it is {check.outcome}: {check.message}"


def _honest_problems(honest: Iterable[Graded], where: str = "") -> Iterator[str]:
    for graded in honest:
        for seed in graded.receipts:
            for check in graded.checks(seed):
                if check.outcome != "passed":
                    yield f"{graded.sample.id}: {check.outcome} in {check.id} with seed {seed}{where}: {check.message}"
        if graded.names:
            yield f"{graded.sample.id}: a right answer is called {', '.join(sorted(graded.names))}"


def _mistake_problems(graded: Graded, mistake: Mistake) -> Iterator[str]:
    if mistake.survives is None and not graded.is_caught:
        yield f"{graded.sample.id}: survives with seed {_seeds_without_loss(graded)}; give a check inputs that show it"
    if mistake.survives is not None and graded.kill.any:
        yield f"{graded.sample.id}: is caught, so that `survives` is wrong"


def _problems_elsewhere(graded: Graded, own: frozenset[str]) -> Iterator[str]:
    for receipt in graded.receipts.values():
        for check in receipt.checks:
            if check.id not in own and check.outcome != "passed":
                yield f"{graded.sample.id}: costs points in {check.id} too ({check.outcome}: {check.message})"


def _figure_problems(found: Figures) -> Iterator[str]:
    if found.caught < CAUGHT * found.mistakes:
        yield f"{found.caught} of {found.mistakes} mistakes are caught, fewer than {CAUGHT:.0%}"
    for what, count, named, misnamed in (
        ("mistakes that are caught", found.caught, found.named, found.misnamed),
        ("mistakes written otherwise", found.written_otherwise, found.otherwise_named, found.otherwise_misnamed),
    ):
        if named < NAMED * count:
            yield f"{named} of {count} {what} are named, fewer than {NAMED:.0%}"
        if misnamed > MISNAMED * count:
            yield f"{misnamed} of {count} {what} are called something else, more than {MISNAMED:.0%}"
    if found.pairs_misnamed > MISNAMED_IN_PAIRS * found.pairs:
        most = f"{MISNAMED_IN_PAIRS:.0%}"
        yield f"{found.pairs_misnamed} of {found.pairs} pairs are called something else, more than {most}"


def _seeds_without_loss(graded: Graded) -> str:
    return ", ".join(str(seed) for seed in graded.receipts if not graded.lost(seed))


def _reference_problem(reference: str, course: Course) -> str | None:
    if not re.fullmatch(r"Week \d+ §\d+", reference):
        return f'write "{reference}" as in "Week 8 §9"'
    return wrong_reference(reference, course.weeks)


def _texts(files: CourseFiles, assignment: Assignment) -> list[Path]:
    """Everything an author writes about the exercises of an assignment."""
    found = []
    for exercise in assignment.exercises:
        found += [
            files.solution(assignment.id, exercise.name),
            files.suite_file(assignment.id, exercise.name),
            files.rig(assignment.id, exercise.name),
            files.reference(exercise.name),
            files.stand_in(exercise.name),
            files.traces(exercise.name),
            files.mistakes(exercise.name),
        ]
    return [path for path in found if path.is_file()]
