"""`make chaos`: kill -9 at random of whatever belongs to a run; the table must come out as if nothing had happened.

    python tests/bench/chaos.py [--submissions 200] [--rounds 20] [--every 3] [--dask] [--seed N]

Each round grades a class from scratch while something is killed every few seconds: a grader, a zygote, a worker, the
command itself (then the same command is run again), with --dask also the workers of dask. What the last run prints, and
all that the receipts say apart from times, is compared with an undisturbed run. Nothing of a round may be left behind.
"""

from __future__ import annotations

import argparse
import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[1] / "kit"))

from grading import comparable
from killing import Killer, below, by_kind, processes
from submissions import COMMAND, ENVIRONMENT, ROOT, write_mixed_class

from autograder.grading.store import Store


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--every", type=float, default=3.0, help="seconds between two kills, on average")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--dask", action="store_true", help="grade on a local dask cluster")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1000))
    options = parser.parse_args()
    print(f"seed {options.seed}: the same kinds are killed after the same pauses with --seed {options.seed}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_mixed_class(folder / "class", options.submissions)
        undisturbed = _Run(folder / "undisturbed.sqlite", folder / "class", ["--jobs", "1"]).to_its_end()
        where = ["--jobs", str(options.jobs)]
        failures = 0
        for number in range(options.rounds):
            draw = random.Random(f"{options.seed} {number}")
            begun = time.monotonic()
            with _Cluster(options.jobs) if options.dask else _NoCluster() as cluster:
                run = _Run(folder / f"{number}.sqlite", folder / "class", cluster.where or where)
                found, killed, starts = _disturbed(run, cluster, draw, options.every)
            same = found == undisturbed
            left = _left_behind(run.seen | cluster.seen)
            failures += not same or bool(left)
            told = ", ".join(f"{count} {kind}{'s' * (count > 1)}" for kind, count in sorted(killed.items()))
            print(
                f"round {number + 1}: {'the same' if same else 'NOT the same'}, {time.monotonic() - begun:.0f} s,"
                f" killed {told}; the command was started {starts} times; {len(left)} processes left behind",
                flush=True,
            )
            if not same:
                _tell_difference(undisturbed, found)
    print(f"{options.rounds - failures} of {options.rounds} rounds came out as if nothing had happened")
    sys.exit(failures > 0)


Outcome = tuple[str, dict[str, dict[str, object]]]
"""The printed table, and what each receipt says apart from times."""


class _Run:
    """One `autograder grade`, as often as it takes."""

    def __init__(self, store: Path, submissions: Path, where: list[str]) -> None:
        self._store = f"sqlite:///{store}"
        self._arguments = ["grade", "week08", str(submissions), "--store", self._store, "--seed", "1"]
        self._where = where
        self.process: subprocess.Popen[bytes] | None = None
        self.starts = 0
        self.seen: set[int] = set()

    def to_its_end(self) -> Outcome:
        """Run it until it is not killed; then look into the store."""
        while True:
            self.starts += 1
            output = os.memfd_create("table")
            self.process = subprocess.Popen(
                [*COMMAND, *self._arguments, *self._where],
                cwd=ROOT,
                stdout=output,
                stderr=sys.stderr,
                env=ENVIRONMENT,
            )
            code = self.process.wait()
            if code != -signal.SIGKILL:
                break
        assert code in (0, 1), code
        os.lseek(output, 0, os.SEEK_SET)
        table = os.fdopen(output, encoding="utf-8").read()
        with Store(self._store) as store:
            receipts = store.standing_receipts("week08").values()
        return table, {receipt.student: comparable(receipt) for receipt in receipts}

    def family(self) -> dict[int, tuple[int, str]]:
        found = below(self.process.pid) if self.process else {}
        self.seen |= found.keys()
        return found


class _NoCluster:
    where: list[str] | None = None

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def __enter__(self) -> _NoCluster:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def family(self) -> dict[int, tuple[int, str]]:
        return {}


class _Cluster(_NoCluster):
    """`autograder cluster`, whose workers may be killed too."""

    def __init__(self, workers: int) -> None:
        super().__init__()
        self._process = subprocess.Popen(
            [*COMMAND, "cluster", "--workers", str(workers), "--port", "0"],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            text=True,
        )
        assert self._process.stderr is not None
        line = next(line for line in self._process.stderr if "--scheduler" in line)
        self.where = ["--scheduler", line.split()[-1]]

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(60)

    def family(self) -> dict[int, tuple[int, str]]:
        found = below(self._process.pid)
        self.seen |= found.keys()
        return found


def _disturbed(run: _Run, cluster: _NoCluster, draw: random.Random, every: float) -> tuple[Outcome, Counter[str], int]:
    def victims() -> dict[str, list[int]]:
        family = run.family()
        kinds = by_kind({**family, **cluster.family()}, lambda _, command: "cluster.worker" in command)
        if draw.random() < 0.2 and run.process is not None and run.process.pid in family:
            kinds["command"] = [run.process.pid]
        return kinds

    with Killer(victims, draw, every) as killer:
        found = run.to_its_end()
    return found, Counter(killer.killed), run.starts


def _left_behind(seen: set[int]) -> list[int]:
    """Processes of a round that are still there a little after it."""
    deadline = time.monotonic() + 10
    while True:
        there = processes()
        left = [
            pid for pid in seen & there.keys() if any(name in there[pid][1] for name in ("zygote.py", "cluster.worker"))
        ]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.2)


def _tell_difference(undisturbed: Outcome, found: Outcome) -> None:
    for student, receipt in undisturbed[1].items():
        other = found[1].get(student, {})
        for key in receipt.keys() | other.keys():
            if receipt.get(key) != other.get(key):
                print(f"  {student}: {key}: {str(receipt.get(key))[:300]} -> {str(other.get(key))[:300]}")


if __name__ == "__main__":
    main()
