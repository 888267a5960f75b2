"""The same submissions graded by nbgrader, otter-grader, a pytest process for each, and by us, in one run.

Run it with the folder of the peers' benchmark, which is no part of this project:

    PEERS_BENCH=FOLDER python tests/bench/bench_peers.py [--path BIN_OF_ANOTHER_VENV] [--submissions 4] [--ours 200]

Peers are measured on a few submissions; what nbgrader pays once a run (it grades a folder) is taken off for it by a
run of one submission, while ours is a class with its start counted in. CPU time is that of the whole tree of
processes, and every system's verdicts are compared: faster and wrong would be no result.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2]))

import peers_course

ROOT = Path(__file__).parents[2]
REQUIRED = {("nbgrader", "wall"): 20, ("otter", "cpu"): 40, ("pytest", "cpu"): 15}
"""How many times more than ours a peer has to take, by wall clock or CPU."""
FORMS = {"nbgrader": "build_nbgrader", "otter": "build_otter", "pytest": "build_plain"}
INSTALL = {
    "nbgrader": "pip install -e '.[instructor]'",
    "otter": "a venv of its own, with torch: pip install otter-grader; then --path VENV/bin",
    "pytest": "pip install pytest",
}
_BUILD = "import pathlib, sys; sys.path.insert(0, sys.argv[1]); import build; build.{form}(pathlib.Path(sys.argv[2]))"


@dataclass(frozen=True)
class Measured:
    """Seconds of a number of submissions, and the questions that each of them got right."""

    count: int
    wall: float
    cpu: float
    right: dict[str, set[str]]

    def per_submission(self) -> tuple[float, float]:
        """Wall and CPU seconds."""
        return self.wall / self.count, self.cpu / self.count


def main() -> int:
    options = _options()
    if options.grade is not None:
        _grade(options.grade, options.ours, options.judge_every_answer)
        return 0
    peers = options.peers and Path(options.peers).resolve()
    if not peers or not (peers / "run.py").is_file():
        print("give the folder of the peers' benchmark: PEERS_BENCH=FOLDER, or --peers FOLDER", file=sys.stderr)
        return 2
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), *options.path, os.environ["PATH"]])
    with tempfile.TemporaryDirectory() as work:
        found = _measure(peers, Path(work), options)
    return _report(found)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default=os.environ.get("PEERS_BENCH"), help="folder of the peers' benchmark")
    parser.add_argument("--path", action="append", default=[], help="a folder with programs, looked into before PATH")
    parser.add_argument("--submissions", type=int, default=4, help="so many for each peer")
    parser.add_argument("--ours", type=int, default=200, help="so many for us, start included")
    parser.add_argument("--only", nargs="*", choices=FORMS, help="only these peers")
    parser.add_argument("--grade", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--judge-every-answer", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _measure(peers: Path, work: Path, options: argparse.Namespace) -> dict[str, Measured]:
    """Peers by name; "ours", and "ours, every answer judged"."""
    names = list(peers_course.modules(peers))
    some = _mixed(names, options.submissions)
    found: dict[str, Measured] = {}
    for system in options.only or FORMS:
        if shutil.which(system) is None:
            print(f"{system} is not installed and left out: {INSTALL[system]}")
            continue
        print(f"{system}: {len(some)} submissions ...", flush=True)
        done = subprocess.run(
            [sys.executable, "-c", _BUILD.format(form=FORMS[system]), peers, work], capture_output=True, text=True
        )
        if done.returncode:
            print(f"{system} is left out: its assignment cannot be built: {_last_line(done.stderr)}")
            continue
        found[system] = _peer(peers, work, system, some)
    checks = peers_course.build(peers, work / "ours")
    print(f"ours: {options.ours} submissions, {checks} checks each ...", flush=True)
    sources = {f"{names[i % len(names)]}_{i:04}": i for i in range(options.ours)}
    found["ours"] = _ours(peers, work, sources, ())
    found["ours, every answer judged"] = _ours(peers, work, sources, ("--judge-every-answer",))
    return found


def _mixed(names: Sequence[str], count: int) -> list[str]:
    """So many of the names, from everywhere in the list: right answers and every kind of wrong one."""
    count = min(count, len(names))
    return [names[round(i * (len(names) - 1) / max(1, count - 1))] for i in range(count)]


def _peer(peers: Path, work: Path, system: str, names: Sequence[str]) -> Measured:
    whole = _run_peer(peers, work, system, names)
    if system != "nbgrader" or len(names) < 2:
        return whole
    first = _run_peer(peers, work, system, names[:1])
    return Measured(whole.count - 1, whole.wall - first.wall, whole.cpu - first.cpu, whole.right)


def _run_peer(peers: Path, work: Path, system: str, names: Sequence[str]) -> Measured:
    out = work / f"{system}.json"
    wall, cpu = _timed([sys.executable, str(peers / "run.py"), system, str(work), str(out), *names])
    rows: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return Measured(len(names), wall, cpu, {name: set(rows[name]["questions"]) for name in names})


def _ours(peers: Path, work: Path, sources: dict[str, int], how: Sequence[str]) -> Measured:
    """A class in which every submission is there several times, each a file of its own."""
    texts = peers_course.modules(peers)
    folder = work / "ours" / "class"
    for student, number in sources.items():
        (folder / student).mkdir(parents=True, exist_ok=True)
        text = f"# {number}\n{texts[student.rpartition('_')[0]]}"
        (folder / student / f"{peers_course.EXERCISE}.py").write_text(text, "utf-8")
    command = [sys.executable, __file__, "--grade", str(work / "ours"), "--ours", str(len(sources)), *how]
    wall, cpu = _timed(command)
    outcomes = json.loads((work / "ours" / "outcomes.json").read_text("utf-8"))
    right = {student: peers_course.questions_right(checks) for student, checks in outcomes.items()}
    return Measured(len(sources), wall, cpu, {name.rpartition("_")[0]: found for name, found in right.items()})


def _grade(root: Path, count: int, judge_every_answer: bool) -> None:
    """In a process of its own: the class in `root`, and the outcome of every check beside it."""
    from autograder.course import CourseFiles, load_course
    from autograder.grading import submission
    from autograder.grading.receipt import Receipt
    from autograder.grading.run import grade
    from autograder.intake import collect

    if judge_every_answer:
        submission.MOST_REMEMBERED = 0
    assignment = load_course(root).assignment(peers_course.ASSIGNMENT)
    collected = collect([root / "class"], [peers_course.EXERCISE], assignment.id)
    if len(collected) != count:
        raise SystemExit(f"{len(collected)} of {count} submissions were collected")
    receipts: list[Receipt] = []
    batch = submission.Batch(CourseFiles(root), "peers", assignment, collected, seed=1)
    grade(batch, receipts.append, lambda _: None)
    outcomes = {receipt.student: {check.id: check.outcome for check in receipt.checks} for receipt in receipts}
    (root / "outcomes.json").write_text(json.dumps(outcomes), "utf-8")


def _timed(command: Sequence[str]) -> tuple[float, float]:
    """Wall and CPU seconds of a command and of all that it waited for."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{command[1]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _report(found: dict[str, Measured]) -> int:
    """Print what was measured; 1 when a verdict or a required ratio is missing."""
    ours = found["ours"]
    base = dict(zip(("wall", "cpu"), ours.per_submission(), strict=True))
    print(f"\n{'seconds a submission':28} {'n':>5} {'wall':>8} {'CPU':>8} {'wall/ours':>10} {'CPU/ours':>9}  verdicts")
    missing = 0
    for name, measured in found.items():
        wall, cpu = measured.per_submission()
        differ = [sid for sid, right in measured.right.items() if _comparable(name, sid) and right != ours.right[sid]]
        verdicts = "yes" if not differ else f"NO: {', '.join(differ)}"
        missing += bool(differ)
        print(
            f"{name:28} {measured.count:5} {wall:8.3f} {cpu:8.3f} {wall / base['wall']:10.1f} {cpu / base['cpu']:9.1f}"
            f"  {verdicts}"
        )
    for (system, kind), least in REQUIRED.items():
        if system in found:
            figure = found[system].per_submission()[kind == "cpu"] / base[kind]
            missing += figure < least
            print(f"{system}'s {kind}: {figure:.1f} times ours, at least {least}: {'yes' if figure >= least else 'NO'}")
    return 1 if missing else 0


def _comparable(system: str, name: str) -> bool:
    """A line that does not parse (s19) costs its cell or its function, and with pytest the module; one that raises
    between functions (s20) costs its cell, nothing, and the module."""
    return system.startswith("ours") or name not in (("s19", "s20") if system == "pytest" else ("s20",))


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]


if __name__ == "__main__":
    sys.exit(main())
