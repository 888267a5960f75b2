"""`make bench`: what closing a worker in costs over a plain fork, in one run.

    python tests/bench/bench_confinement.py [--workers 200] [--rounds 3]

A worker is forked, asked for nothing much, and ended. CPU seconds are user plus system time of the zygote and all its
workers; those of a zygote that forks none are taken off. The two are run in turn.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from autograder.sandbox import wire
from autograder.sandbox.host.worker import WorkerLimits
from autograder.sandbox.host.zygote import Zygote
from autograder.sandbox.levels import MECHANISMS

LIMITS = WorkerLimits(memory_mb=2048, cpu_seconds=60, output_bytes=16384)
REQUEST = wire.request(("fresh", {"seed": 1}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    ways: dict[str, Sequence[str]] = {"plain fork": MECHANISMS, "closed in": ()}
    rows: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    level = ""
    for _ in range(options.rounds):
        for way, without in ways.items():
            idle, _, _ = _spent(without, 0)
            cpu, wall, level = _spent(without, options.workers)
            rows[way].append(((cpu - idle) / options.workers * 1000, wall / options.workers * 1000))
    _report(rows, level)


def _spent(without: Sequence[str], workers: int) -> tuple[float, float, str]:
    """CPU seconds of a zygote and these workers, seconds on the wall of the workers, and the isolation."""
    before = _cpu_of_children()
    with Zygote(without) as zygote:
        level = zygote.isolation
        begun = time.perf_counter()
        for _ in range(workers):
            worker = zygote.fork(LIMITS)
            worker.ask(REQUEST, cpu_limit=10, wall_limit=60)
            worker.end()
        wall = time.perf_counter() - begun
    return _cpu_of_children() - before, wall, level


def _cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _report(rows: dict[str, list[tuple[float, float]]], level: str) -> None:
    console = Console()
    table = Table(title=f"one worker, median of {len(rows['closed in'])} rounds; closed in means: {level}")
    for heading in ("way", "CPU ms", "wall ms"):
        table.add_column(heading, justify="left" if heading == "way" else "right")
    medians = {way: [statistics.median(column) for column in zip(*row, strict=True)] for way, row in rows.items()}
    for way, (cpu, wall) in medians.items():
        table.add_row(way, f"{cpu:.1f}", f"{wall:.1f}")
    console.print(table)
    more = medians["closed in"][0] - medians["plain fork"][0]
    console.print(f"closing a worker in costs {more:.1f} ms of CPU time over a plain fork (at most 10)")


if __name__ == "__main__":
    main()
