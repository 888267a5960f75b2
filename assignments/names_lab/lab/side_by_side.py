"""Runs that do not need each other, trained at the same time: a process for each core, one thread in each."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed, wait
from pathlib import Path
from typing import Any

import torch

from lab import modules
from lab.faults import LabError, StoppedError
from lab.lists import NamesList
from lab.runs import Runs
from lab.settings import Settings

Wanted = tuple[Settings, str]
"""Settings of a run, and its title."""


def train_all(runs: Runs, wanted: Sequence[Wanted], jobs: int | None = None) -> None:
    """Train what is not finished yet, if that is faster than one after the other; `runs.get` then only loads it.

    Args:
        runs: where runs are kept. Its progress is told of finished runs, as if they were steps.
        wanted: what to train, the longest runs first.
        jobs: so many at a time; by default as many as there are cores.

    Raises:
        LabError, StoppedError: as `train` does.
    """
    missing = [one for one in wanted if not runs.is_finished(one[0])]
    jobs = min(jobs or os.cpu_count() or 1, len(missing))
    if jobs < 2 or runs.device not in ("auto", "cpu") or (runs.device == "auto" and torch.cuda.is_available()):
        return  # one after the other is as fast
    progress = runs.progress(f"{len(missing)} models, {jobs} at a time")
    progress.begin(len(missing), 0)
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    begin = (str(modules.week08()), runs.data, runs.out, stop)
    pending: dict[Future[float], str] = {}
    with ProcessPoolExecutor(jobs, context, _begin, begin) as pool:
        try:
            with _deaf():
                pending.update((pool.submit(_train, *one), one[1]) for one in missing)
            for number, done in enumerate(as_completed(pending), start=1):
                progress.finished(pending[done], done.result())
                progress.advanced(number, done.result())
        except BaseException:
            stop.set()  # before any signal: a process that has just ended a run must not begin another
            _interrupt([future for future in pending if not future.cancel()])
            raise
        finally:
            progress.end()


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Processes that are started meanwhile do not hear Ctrl-C, from their first moment on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


def _interrupt(under_way: list[Future[float]]) -> None:
    """Have each run save its state and stop; again and again, for one that just begins does not listen yet. Whoever
    presses Ctrl-C again hurries nothing, and saves no time by leaving them alone."""
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            if not wait(under_way, timeout=1.0).not_done:
                return
            for process in multiprocessing.active_children():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGINT)


_stop: Any = None
"""In a process of the pool: is set when no further run is to begin."""
_runs: Any = None
"""In a process of the pool: what its runs train on, and where they are kept."""


def _begin(week08: str, data: NamesList, out: Path, stop: Any) -> None:
    global _runs, _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # but for a run, which notes it (see `train`)
    torch.set_num_threads(1)
    modules.use_week08(week08)
    _runs = Runs(data, out, "cpu")


def _train(settings: Settings, title: str) -> float:
    if _stop.is_set():
        raise StoppedError(f"{title} was not begun; the same call goes on there")
    try:
        return _runs.get(settings, title).losses["validation"]
    except Exception as error:
        if sentence := modules.own_fault(error):
            raise LabError(sentence) from None
        raise
