"""Generated classes for benchmarks, always the same: right answers in two styles, some parts wrong or not attempted;
and the command that grades one that is written to a folder.
"""

from __future__ import annotations

import os
import random
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from autograder.authoring.variants import written
from autograder.course import Assignment, CourseFiles, find_course, load_course
from autograder.course.mistakes import load_mistakes
from autograder.intake import HandedIn, Submission

ROOT = find_course(Path(__file__)).parent
COMMAND = [sys.executable, "-P", "-c", "from autograder.cli import main; main(prog_name='autograder')"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "COLUMNS": "200"}

_REGION = re.compile(r"^( *)### BEGIN SOLUTION\n(.*?)^ *### END SOLUTION\n", re.S | re.M)
_WRONG = ("raise NotImplementedError('todo')", "return None", "raise ValueError('lost')")


def make_class(files: CourseFiles, assignment: Assignment, count: int) -> list[Submission]:
    """`count` submissions: half of them right, the others with one to four broken exercises; two styles of right."""
    draw = random.Random(8)
    names = [exercise.name for exercise in assignment.exercises]
    complete = {name: (files.solutions(assignment.id) / f"{name}.py").read_text("utf-8") for name in names}
    allowed = [e.name for e in assignment.exercises if not e.forbidden and files.stand_in(e.name).is_file()]
    on_torch = {name: files.stand_in(name).read_text("utf-8") for name in allowed}
    submissions = []
    for number in range(count):
        broken = draw.sample(names, draw.choice((0, 0, 0, 1, 1, 4)))
        right = {n: draw.choice((s, on_torch.get(n, s))) for n, s in complete.items()}
        sources = {n: _broken(complete[n], draw) if n in broken else s for n, s in right.items()}
        handed_in = {n: HandedIn(n, f"{n}.py", f"# {number}\n{s}".encode()) for n, s in sources.items()}
        submissions.append(Submission(f"s{number:04}", None, handed_in, "ready"))
    return submissions


def make_mistaken_class(files: CourseFiles, assignment: Assignment, count: int) -> list[Submission]:
    """`count` submissions in which half of the answers are wrong by a named mistake: few mistakes are common, many rare
    (the n-th has the weight 1/n)."""
    draw = random.Random(8)
    answers: dict[str, tuple[list[str], list[float]]] = {}
    for exercise in assignment.exercises:
        solution = files.solution(assignment.id, exercise.name).read_text("utf-8")
        mistakes = [m for m in load_mistakes(files.mistakes(exercise.name)).mistakes if not m.survives]
        draw.shuffle(mistakes)
        wrong = [written(solution, [mistake], mistake.id) for mistake in mistakes]
        weights = [1 / place for place in range(1, len(wrong) + 1)]
        answers[exercise.name] = [solution, *wrong], [sum(weights), *weights]
    submissions = []
    for number in range(count):
        sources = {name: draw.choices(texts, weights)[0] for name, (texts, weights) in answers.items()}
        handed_in = {n: HandedIn(n, f"{n}.py", f"# {number}\n{s}".encode()) for n, s in sources.items()}
        submissions.append(Submission(f"s{number:04}", None, handed_in, "ready"))
    return submissions


def write_mixed_class(folder: Path, count: int) -> None:
    """A class of week08 as folders: half of them of one kind, half of the other."""
    files, assignment = CourseFiles(ROOT), load_course(ROOT).assignment("week08")
    _write(folder, "a", make_class(files, assignment, count // 2))
    _write(folder, "b", make_mistaken_class(files, assignment, count - count // 2))


def _write(folder: Path, prefix: str, submissions: Iterable[Submission]) -> None:
    for submission in submissions:
        home = folder / f"{prefix}{submission.student}"
        home.mkdir(parents=True)
        for name, file in submission.files.items():
            (home / f"{name}.py").write_bytes(file.content)


def _broken(source: str, draw: random.Random) -> str:
    """The module with one solution region replaced."""
    regions = list(_REGION.finditer(source))
    region = draw.choice(regions)
    return source[: region.start()] + f"{region[1]}{draw.choice(_WRONG)}\n" + source[region.end() :]
