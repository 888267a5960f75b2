"""`make bench`: this grader against its floor and against a pytest subprocess per submission, in one run; and what
diagnoses cost.

    python tests/bench/bench_grading.py [--submissions 100] [--subprocesses 4]

CPU seconds are user plus system time of the process and all it started. The ways are run in turn in rounds, so that
a change of the machine's speed touches all of them; ratios are what to quote.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from floor import Floor
from rich.console import Console
from rich.table import Table
from submissions import make_class, make_mistaken_class

from autograder.course import Assignment, CourseFiles, find_course, load_course
from autograder.grading.batch import Batch
from autograder.grading.receipt import Receipt
from autograder.grading.run import grade
from autograder.intake import Submission

ROOT = find_course(Path(__file__)).parent
Work = Callable[[CourseFiles, Assignment, Sequence[Submission]], dict[str, float]]
Measured = tuple[float, float, dict[str, float]]
"""CPU seconds, wall seconds, and further figures by name."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=100)
    parser.add_argument("--subprocesses", type=int, default=4, help="how many submissions the subprocess way grades")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    files, assignment = CourseFiles(ROOT), load_course(ROOT).assignment("week08")
    submissions = make_class(files, assignment, options.submissions)
    some = submissions[: options.subprocesses]
    mistaken = make_mistaken_class(files, assignment, options.submissions)
    console = Console()
    ways: dict[str, tuple[Work, Sequence[Submission]]] = {
        "floor": (_floor, submissions),
        "grader": (_grader, submissions),
        "grader, every answer judged": (_judging_grader, submissions),
        "pytest subprocess each": (_subprocess, some),
        "half wrong, no diagnoses": (_not_diagnosing, mistaken),
        "half wrong, diagnoses": (_diagnosing, mistaken),
    }
    results: dict[str, list[Measured]] = {way: [] for way in ways}
    for round_number in range(options.rounds):
        console.print(f"round {round_number + 1} of {options.rounds}: {len(submissions)} submissions")
        for way, (work, work_on) in ways.items():
            results[way].append(_apart(work, files, assignment, work_on))
    _report(console, results, {way: len(work_on) for way, (_, work_on) in ways.items()})


def _apart(work: Work, files: CourseFiles, assignment: Assignment, submissions: Sequence[Submission]) -> Measured:
    """Run in a process of its own, so that its CPU time and that of its children can be read; start-up is included."""
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    process = context.Process(target=_measured, args=(work, files, assignment, submissions, queue))
    process.start()
    measured: Measured = queue.get()
    process.join()
    return measured


def _measured(
    work: Work, files: CourseFiles, assignment: Assignment, submissions: Sequence[Submission], queue: SimpleQueue[Any]
) -> None:
    begun = time.perf_counter()
    figures = work(files, assignment, submissions)
    wall = time.perf_counter() - begun
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    queue.put((sum(u.ru_utime + u.ru_stime for u in usage), wall, figures))


def _diagnosing(files: CourseFiles, assignment: Assignment, submissions: Sequence[Submission]) -> dict[str, float]:
    named: list[int] = []
    batch = Batch(files, "bench", assignment, submissions, seed=1)
    grade(batch, lambda receipt: named.append(sum(map(len, receipt.diagnoses.values()))), lambda submission: None)
    return {"mistakes named": sum(named)}


def _not_diagnosing(files: CourseFiles, assignment: Assignment, submissions: Sequence[Submission]) -> dict[str, float]:
    batch = Batch(files, "bench", assignment, submissions, seed=1, diagnoses=False)
    grade(batch, lambda receipt: None, lambda submission: None)
    return {}


def _floor(files: CourseFiles, assignment: Assignment, submissions: Sequence[Submission]) -> dict[str, float]:
    floor = Floor(files, assignment, seed=1)
    ready = _cpu_now()
    passed = sum(floor.grade(submission) for submission in submissions)
    return {"checks passed": passed, "cpu of the work": _cpu_now() - ready}


def _grader(files: CourseFiles, assignment: Assignment, submissions: Sequence[Submission]) -> dict[str, float]:
    memory: list[float] = []
    passed: list[int] = []
    begun = [time.perf_counter()]

    def finished(receipt: Receipt) -> None:
        passed.append(sum(check.outcome == "passed" for check in receipt.checks))
        if len(passed) == 1:
            begun.append(time.perf_counter())
        if len(passed) in (10, len(submissions)):
            memory.append(_resident_mb())

    batch = Batch(files, "bench", assignment, submissions, seed=1)
    grade(batch, finished, lambda submission: None)
    steady = (time.perf_counter() - begun[1]) / (len(submissions) - 1)
    return {
        "checks passed": sum(passed),
        "per minute": 60 / steady,
        "MB after 10": memory[0],
        "MB at the end": memory[-1],
    }


def _judging_grader(files: CourseFiles, assignment: Assignment, submissions: Sequence[Submission]) -> dict[str, float]:
    """The grader, not allowed to remember that an answer was right: as if no two students answered alike."""
    from autograder.grading import submission

    submission.MOST_REMEMBERED = 0
    return _grader(files, assignment, submissions)


def _subprocess(files: CourseFiles, assignment: Assignment, submissions: Sequence[Submission]) -> dict[str, float]:
    here = str(Path(__file__).parent)
    environment = {**os.environ, "BENCH_COURSE": str(files.root), "PYTHONPATH": f"{here}:{files.root}"}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    suites = [str(files.suite_file(assignment.id, e.name)) for e in assignment.exercises]
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "--noconftest", "-p", "plain_pytest", *suites]
    for submission in submissions:
        with tempfile.TemporaryDirectory() as folder:
            for file in submission.files.values():
                Path(folder, file.exercise + ".py").write_bytes(file.content)
            subprocess.run(command, env={**environment, "BENCH_SUBMISSION": folder}, stdout=subprocess.DEVNULL)
    return {}


def _cpu_now() -> float:
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in usage)


def _resident_mb() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def _report(console: Console, results: dict[str, list[Measured]], counts: dict[str, int]) -> None:
    count, rounds = counts["floor"], len(results["floor"])
    cpu = {way: [row[0] / counts[way] for row in rows] for way, rows in results.items()}
    ratios = {way: [own / floor for own, floor in zip(cpu[way], cpu["floor"], strict=True)] for way in cpu}
    table = Table(title=f"{count} submissions, median of {rounds} rounds, start-up included")
    for heading in ("way", "CPU s a submission", "wall s a submission", "CPU / floor"):
        table.add_column(heading, justify="left" if heading == "way" else "right")
    for way, rows in results.items():
        wall = statistics.median(row[1] / counts[way] for row in rows)
        table.add_row(way, f"{statistics.median(cpu[way]):.3f}", f"{wall:.3f}", f"{statistics.median(ratios[way]):.2f}")
    console.print(table)
    pairs = zip(cpu["half wrong, diagnoses"], cpu["half wrong, no diagnoses"], strict=True)
    more = statistics.median(with_them / without - 1 for with_them, without in pairs)
    named = results["half wrong, diagnoses"][-1][2]["mistakes named"]
    console.print(
        f"\ndiagnoses add {more:.0%} where half of the answers are wrong (at most 30 %), {named:.0f} are named"
    )
    for way in ("grader", "grader, every answer judged"):
        figures = results[way][-1][2]
        against = [s / g for s, g in zip(cpu["pytest subprocess each"], cpu[way], strict=True)]
        same = figures["checks passed"] == results["floor"][-1][2]["checks passed"]
        console.print(f"\n{way}:")
        console.print(f"  {statistics.median(ratios[way]):.2f} times the floor's CPU (at most 4)")
        console.print(f"  {statistics.median(against):.1f} times less CPU than a pytest subprocess each (at least 15)")
        console.print(
            f"  {figures['per minute']:.0f} submissions a minute once started (at least 300 on 2 quiet cores)"
        )
        console.print(
            f"  {figures['MB after 10']:.0f} MB after 10 submissions, {figures['MB at the end']:.0f} at the end"
        )
        console.print(
            f"  {figures['checks passed']:.0f} checks passed, {'as the floor' if same else 'NOT as the floor'}"
        )


if __name__ == "__main__":
    main()
