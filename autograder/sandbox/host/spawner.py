"""In the place of a zygote where a process with torch in it cannot be forked, as on macOS."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from autograder.sandbox.host.worker import Worker, WorkerLimits
from autograder.sandbox.host.zygote import Zygote


class Spawner(Zygote):
    """Each worker is a process of its own, started beforehand while another one is in use. The same outcomes as with a
    zygote, at seconds for each worker.
    """

    def __init__(self, without: Sequence[str] = ()) -> None:
        self._without = without
        self._spare = Zygote(without, forks=False)
        self._in_use: dict[int, Zygote] = {}

    @cached_property
    def report(self) -> dict[str, Any]:
        """As of a zygote."""
        return self._spare.report

    def fork(self, limits: WorkerLimits) -> Worker:
        """A fresh worker, and a start on the one after it."""
        assert self.report
        starting, self._spare = self._spare, Zygote(self._without, forks=False)
        worker = starting.fork(limits)
        worker.have_it_ended_by(self.end)
        self._in_use[worker.pid] = starting
        return worker

    @property
    def alive(self) -> bool:
        """There is always another one to be started."""
        return True

    def end(self, pid: int) -> None:
        """End the process of a worker."""
        if pid in self._in_use:
            self._in_use.pop(pid).end(pid)

    @property
    def was_killed(self) -> bool:
        """As of a zygote."""
        return self._spare.was_killed

    def close(self) -> None:
        """End all processes."""
        for pid in list(self._in_use):
            self.end(pid)
        self._spare.end(0)
