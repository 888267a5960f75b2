"""What is graded to prove an assignment: its stubs and solutions, every mistake, every other right answer."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from autograder.authoring import AuthoringError
from autograder.authoring.contents import read_source
from autograder.authoring.variants import written
from autograder.course import Assignment, CourseFiles, Exercise
from autograder.course.mistakes import Mistakes, Writing, load_mistakes
from autograder.intake import Submission
from autograder.intake.submission import HandedIn

STUB, SOLUTION, MISTAKE, ALSO, EQUIVALENT, PAIR = "stub", "solution", "mistake", "also", "equivalent", "pair"


@dataclass(frozen=True)
class Sample:
    """A submission of which it is known how it has to fare. `mistakes` are those in it."""

    kind: str
    exercise: str
    name: str
    sources: Mapping[str, bytes]
    mistakes: frozenset[str] = frozenset()

    @property
    def id(self) -> str:
        """What it is called while it is graded."""
        return " ".join(part for part in (self.exercise, self.kind, self.name) if part)

    def submission(self) -> Submission:
        """As it is handed in."""
        files = {name: HandedIn(name, f"{name}.py", content) for name, content in self.sources.items()}
        return Submission(student=self.id, status="ready", files=files)


def known_mistakes(files: CourseFiles, exercises: Iterable[Exercise]) -> dict[str, Mistakes]:
    """The mistakes of these exercises. Raises CourseError."""
    return {exercise.name: load_mistakes(files.mistakes(exercise.name)) for exercise in exercises}


def stubs_and_solutions(files: CourseFiles, assignment: Assignment) -> tuple[Sample, Sample]:
    """What students get, and the solutions. Raises AuthoringError."""
    solutions, stubs = {}, {}
    for exercise in assignment.exercises:
        solutions[exercise.name] = read_source(files, files.solution(assignment.id, exercise.name)).encode()
        stubs[exercise.name] = read_source(files, files.stubs(assignment.id) / f"{exercise.name}.py").encode()
    return Sample(STUB, "", "", stubs), Sample(SOLUTION, "", "", solutions)


def variants(solution: Sample, known: Mapping[str, Mistakes]) -> Iterator[Sample]:
    """Every mistake, the same mistakes written otherwise, and every equivalent.

    Raises:
        AuthoringError: one of them does not apply.
    """
    for exercise, entries in known.items():
        for mistake in entries.mistakes:
            for number, writing in enumerate((mistake, *mistake.also)):
                kind, name = (ALSO, f"{mistake.id} {number}") if number else (MISTAKE, mistake.id)
                sources = _with(solution, exercise, [writing], f"{exercise}: {name}")
                yield Sample(kind, exercise, name, sources, frozenset({mistake.id}))
        for equivalent in entries.equivalents:
            sources = _with(solution, exercise, [equivalent], f"{exercise}: {equivalent.id}")
            yield Sample(EQUIVALENT, exercise, equivalent.id, sources)


def pairs(solution: Sample, known: Mapping[str, Mistakes], count: int, seed: int) -> list[Sample]:
    """Random pairs of mistakes of one exercise that can be made together."""
    every = [(name, two) for name, entries in known.items() for two in combinations(entries.mistakes, 2)]
    random.Random(seed).shuffle(every)
    found: list[Sample] = []
    for exercise, (one, other) in every:
        if len(found) == count:
            break
        try:
            sources = _with(solution, exercise, [one, other], "")
        except AuthoringError:
            continue
        if sources[exercise] not in {_with(solution, exercise, [m], "")[exercise] for m in (one, other)}:
            ids = frozenset({one.id, other.id})
            found.append(Sample(PAIR, exercise, f"{one.id} and {other.id}", sources, ids))
    return found


def _with(solution: Sample, exercise: str, writings: Sequence[Writing], where: str) -> dict[str, bytes]:
    text = written(solution.sources[exercise].decode(), writings, where)
    return {**solution.sources, exercise: text.encode()}
