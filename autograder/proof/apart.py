"""Run an experiment in several processes, each with some of the exercises: judging is work for one core at a time."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from queue import Empty, Queue
from typing import Any

from autograder.grading.batch import Batch
from autograder.proof.experiment import Begin, Experiment, run
from autograder.proof.samples import SOLUTION, STUB, Sample

_BOTH = (STUB, SOLUTION)


def run_apart(
    batch: Batch, samples: Sequence[Sample], seeds: Sequence[int], begin: Begin, processes: int | None = None
) -> Experiment:
    """The experiment, its exercises shared out among processes (default: one for each core). Parameters as for `run`.

    Raises:
        GradingError: the suites or the sandbox are at fault.
    """
    groups = _groups(samples, processes or os.cpu_count() or 1)
    if len(groups) == 1:
        return run(batch, samples, seeds, begin)
    context = get_context("spawn")
    with context.Manager() as manager, ProcessPoolExecutor(len(groups), mp_context=context) as pool:
        told: Queue[Any] = manager.Queue()
        futures = [pool.submit(_run_one, batch, group, seeds, told, number) for number, group in enumerate(groups)]
        _show(told, futures, begin)
        parts = [future.result() for future in futures]
    first, others = parts[0], parts[1:]
    return replace(
        first,
        graded=[*first.graded, *(g for part in others for g in part.graded if g.sample.kind not in _BOTH)],
        fresh=[g for part in parts for g in part.fresh],
        elsewhere=[g for part in parts for g in part.elsewhere],
        two_threads=[*first.two_threads, *(g for p in others for g in p.two_threads if g.sample.kind not in _BOTH)],
    )


def _groups(samples: Sequence[Sample], count: int) -> list[list[Sample]]:
    """The samples in at most `count` groups of about the same size, by exercise; stubs and solutions in each."""
    sizes = Counter(sample.exercise for sample in samples if sample.kind not in _BOTH)
    of: list[set[str]] = [set() for _ in range(max(1, min(count, len(sizes))))]
    for exercise, _ in sizes.most_common():
        min(of, key=lambda group: sum(sizes[name] for name in group)).add(exercise)
    return [[s for s in samples if s.kind in _BOTH or s.exercise in group] for group in of]


def _run_one(batch: Batch, samples: list[Sample], seeds: Sequence[int], told: Queue[Any], number: int) -> Experiment:
    def begin(step: str, count: int) -> Any:
        told.put((number, step, count))
        return lambda: told.put((number, step, None))

    return run(batch, samples, seeds, begin)


def _show(told: Queue[Any], futures: Sequence[Future[Experiment]], begin: Begin) -> None:
    """Pass on how far the processes are, until all have ended."""
    advance: dict[tuple[int, str], Any] = {}
    while True:
        try:
            number, step, count = told.get(timeout=0.5)
        except Empty:
            if all(future.done() for future in futures):
                return
            continue
        if count is None:
            advance[number, step]()
        else:
            advance[number, step] = begin(f"{number + 1}: {step}", count)
