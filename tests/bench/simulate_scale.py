"""How long 100,000 to 1,000,000 submissions take on 10 to 1,000 nodes, from the costs of one, some of
them measured, others assumed.

    python tests/bench/simulate_scale.py [--picture docs/img/scale.png]

A simulation of `cluster.on_dask`, event by event. Every node has two cores and a worker for each; a worker has at most
two chunks, one that it grades and one that waits. The command that a person started deals chunks and takes receipts,
one after the other, and writes them to the store: it is the one part of which there is only one.
"""

from __future__ import annotations

import argparse
import heapq
import random
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from autograder.cluster.on_dask import AHEAD, MOST_IN_A_CHUNK, chunk_size

SUBMISSIONS = (100_000, 1_000_000)
NODES = (10, 30, 100, 300, 1000)


@dataclass(frozen=True)
class Costs:
    """Seconds. `take` and `write` were measured, `submission` follows from a measured rate, the others are assumed (see
    docs/scale.md)."""

    start: float = 14.0
    """From the first word to a worker until it is ready: grader and zygote start, beside those of the other worker."""
    submission: float = 0.39
    """A submission, in a grader that shares the node's two cores with another one: 300 a minute and node."""
    spread: float = 0.35
    """Standard deviation of that, as a part of it."""
    slow: float = 60.0
    """A submission with an endless loop, which uses up its time."""
    slow_share: float = 0.002
    chunk: float = 0.15
    """On the worker, for a chunk: what is under way at its end does not overlap with the next."""
    trip: float = 0.02
    """On the way to a node and back."""
    deal: float = 0.010
    """In the command, for a chunk: claim, pack, send, fetch."""
    take: float = 0.0015
    """In the command, for a receipt of 36 kB: unpack, check."""
    write: float = 0.0023
    """In the store (SQLite), for a receipt that is written with the others of its chunk."""


@dataclass(frozen=True)
class Outcome:
    """Seconds until the last receipt is written; the part of them in which the command, and a worker, had work."""

    seconds: float
    command_busy: float
    workers_busy: float
    tail: float
    """Seconds from the moment when there was nothing more to deal."""


def simulate(submissions: int, nodes: int, costs: Costs, seed: int = 1) -> Outcome:
    """Grade so many submissions on so many nodes."""
    draw = random.Random(seed)
    workers, left = 2 * nodes, submissions
    free_at = [costs.start * draw.uniform(0.9, 1.3) for _ in range(workers)]  # when a worker has graded what it has
    # An event: a worker has done a chunk (at first: is ready, with no receipts) and gets the next one.
    events = [(ready, worker, 0) for worker, ready in enumerate(free_at) for _ in range(AHEAD)]
    heapq.heapify(events)
    command = command_busy = workers_busy = all_dealt = 0.0  # the first is when the command has time again
    last = 0.0
    while events:
        moment, worker, receipts = heapq.heappop(events)
        command = max(command, moment)
        work = receipts * (costs.take + costs.write)
        if left:
            size = min(left, chunk_size(left, workers))
            left -= size
            work += costs.deal
            begin = max(free_at[worker], command + work + costs.trip)
            took = costs.chunk + sum(_seconds(draw, costs) for _ in range(size))
            free_at[worker] = begin + took
            workers_busy += took
            heapq.heappush(events, (free_at[worker] + costs.trip, worker, size))
            all_dealt = command
        command += work
        command_busy += work
        last = max(last, command if receipts else 0.0)
    return Outcome(last, command_busy / last, workers_busy / (workers * last), last - all_dealt)


def _seconds(draw: random.Random, costs: Costs) -> float:
    if draw.random() < costs.slow_share:
        return costs.slow
    return max(0.1 * costs.submission, draw.gauss(costs.submission, costs.spread * costs.submission))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    costs = Costs()
    found = {(count, nodes): simulate(count, nodes, costs) for count in SUBMISSIONS for nodes in NODES}
    table = Table(title="simulated, from costs of which some are assumed")
    for heading in ("submissions", "nodes", "minutes", "a minute", "workers busy", "command busy", "tail s"):
        table.add_column(heading, justify="right")
    for (count, nodes), outcome in found.items():
        table.add_row(
            f"{count:,}",
            f"{nodes:,}",
            f"{outcome.seconds / 60:.1f}",
            f"{count / outcome.seconds * 60:,.0f}",
            f"{outcome.workers_busy:.0%}",
            f"{outcome.command_busy:.0%}",
            f"{outcome.tail:.0f}",
        )
    Console().print(table)
    if options.picture:
        _draw(found, costs, options.picture)


def _draw(found: dict[tuple[int, int], Outcome], costs: Costs, picture: Path) -> None:
    from matplotlib import pyplot as plt

    ceiling = 60 / (costs.take + costs.write + costs.deal / MOST_IN_A_CHUNK)
    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    mean = costs.submission + costs.slow_share * costs.slow + costs.chunk / MOST_IN_A_CHUNK
    alone = 60 * 2 / mean
    axes.plot(NODES, [alone * nodes for nodes in NODES], color="0.7", linestyle=":", label="all nodes always busy")
    axes.axhline(ceiling, color="0.4", linestyle="--", label=f"one command and one store: {ceiling:,.0f} a minute")
    for count, marker, color in zip(SUBMISSIONS, "os", ("#0072b2", "#d55e00"), strict=True):
        rates = [count / found[count, nodes].seconds * 60 for nodes in NODES]
        axes.plot(NODES, rates, marker=marker, color=color, label=f"{count:,} submissions")
        for nodes, rate in zip(NODES, rates, strict=True):
            minutes = found[count, nodes].seconds / 60
            told = f"{minutes / 60:.1f} h" if minutes > 120 else f"{minutes:.0f} min"
            below = count == min(SUBMISSIONS)
            place = {"xytext": (6, -14) if below else (-6, 7), "ha": "left" if below else "right"}
            axes.annotate(told, (nodes, rate), textcoords="offset points", fontsize=8, **place)
    axes.set(xscale="log", yscale="log", xlabel="nodes of two cores", ylabel="submissions a minute, start-up included")
    axes.set(xlim=(6, 2000), ylim=(1000, 600_000))
    axes.set_xticks(NODES, [f"{nodes:,}" for nodes in NODES])
    axes.set_yticks([1000, 10_000, 100_000], ["1,000", "10,000", "100,000"])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, loc="upper left")
    figure.savefig(picture, dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    main()
