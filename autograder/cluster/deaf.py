"""A preload of dask: Ctrl-C in the terminal, which all processes get, is for the one that started this worker."""

from __future__ import annotations

import signal


def dask_setup(worker: object) -> None:
    """As dask calls it in a worker that starts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
