"""How long a worker is waited for: by its own CPU time, and by a generous limit on the clock on the wall."""

from __future__ import annotations

import time
from collections.abc import Callable

from autograder.sandbox.host.errors import CallTimedOut

WALL_FACTOR = 5
"""A call may take this many times its limit by the clock on the wall; its limit is in seconds of its own CPU time."""


class Deadline:
    """The limit of one call. `cpu_seconds` reads the clock of the process that computes."""

    def __init__(self, cpu_seconds: Callable[[], float], cpu_limit: float, wall_limit: float) -> None:
        self._cpu_seconds = cpu_seconds
        self._cpu_start = cpu_seconds()
        self._cpu_limit = cpu_limit
        self._wall_limit = wall_limit
        self.restart_wall()

    def restart_wall(self) -> float:
        """Give it the whole wall limit from now on; the CPU time used so far stays used. Returns what time it is."""
        now = time.monotonic()
        self._end = now + self._wall_limit
        return now

    def slice(self) -> float:
        """Seconds to wait before looking again.

        Raises:
            CallTimedOut: nothing is left.
        """
        used = self._cpu_seconds() - self._cpu_start
        left = min(self._cpu_limit - used, self._end - time.monotonic())
        if left <= 0:
            raise CallTimedOut(used)
        return max(left, 0.01)
