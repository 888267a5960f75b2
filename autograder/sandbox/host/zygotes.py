"""The zygote of a run: started when it is needed or before, replaced when it failed."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from autograder.sandbox.host.errors import NotConfined, SandboxError
from autograder.sandbox.host.zygote import Zygote

PATIENCE = 4
"""So often the sandbox may fail, before a human has to look at it: something else may end it."""
MOST_KILLS = 12
"""So often a zygote may be killed before it is warm; one that ends by itself is in `PATIENCE`'s hands."""


class Zygotes:
    """The zygote of a run, or of all runs of a process. Use as a context manager.

    `without` and `required` as for a Zygote. Where a process cannot `fork` with torch in it (so it is on macOS), a
    Spawner takes its place.
    """

    def __init__(
        self, without: Sequence[str] = (), required: str | None = None, forks: bool = sys.platform == "linux"
    ) -> None:
        self._forks = forks
        self._without = without
        self._required = required
        self._begun: Zygote | None = None
        self._current: Zygote | None = None

    def __enter__(self) -> Zygotes:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the zygote, if there is one."""
        for zygote in (self._begun, self._current):
            if zygote is not None:
                zygote.close()

    def begin(self) -> None:
        """Let the first one warm up while this process does something else, such as to import torch itself."""
        if self._begun is None and self._current is None:
            self._begun = self._new()

    def get(self) -> Zygote:
        """The running zygote, warm; started when it is first needed.

        Raises:
            NotConfined: this host offers less than is required.
            SandboxError: it does not start.
        """
        if self._current is None:
            self._current = self._warm()
        return self._current

    def replace(self, failed: Zygote) -> None:
        """Close this one, unless another submission has already had it replaced."""
        if failed is self._current:
            failed.close()
            self._current = None

    def _new(self) -> Zygote:
        if self._forks:
            return Zygote(self._without)
        from autograder.sandbox.host.spawner import Spawner

        return Spawner(self._without)

    def _warm(self) -> Zygote:
        faults = kills = 0
        while True:
            zygote, self._begun = self._begun or self._new(), None
            try:
                zygote.must_offer(self._required)
                return zygote
            except BaseException as error:
                zygote.close()
                if isinstance(error, NotConfined) or not isinstance(error, SandboxError):
                    raise
                kills += zygote.was_killed
                faults += not zygote.was_killed
                if faults == PATIENCE or kills == MOST_KILLS:
                    raise
