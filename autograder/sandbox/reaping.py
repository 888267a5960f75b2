"""Ending a worker and everything it started, from the zygote."""

from __future__ import annotations

import os
import signal
import time

from autograder.sandbox import kernel


def end(pid: int, live: set[int]) -> None:
    """Kill a worker and everything it started, and wait until it is gone."""
    live.discard(pid)
    _kill(-pid)
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        # A process cannot be reaped while another one traces it; that one is among the children too by then.
        ended = [child for child in _children() if child not in live]
        if not ended:
            return
        for child in ended:
            _kill(child)
        for child in ended:
            try:
                os.waitpid(child, os.WNOHANG)
            except ChildProcessError:
                pass
        time.sleep(0.001)


def _kill(pid: int) -> None:
    """SIGKILL to a process, or to a whole group when `pid` is negative."""
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _children() -> list[int]:
    """Processes whose parent is the zygote: its workers, and what dead workers left (a subreaper inherits them)."""
    own = os.getpid()
    try:
        with kernel.open_proc(f"self/task/{own}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return [pid for pid in _all_pids() if _parent(pid) == own]


def _all_pids() -> list[int]:
    try:
        return [int(name) for name in kernel.list_proc() if name.isdigit()]
    except OSError:
        return []


def _parent(pid: int) -> int:
    try:
        with kernel.open_proc(f"{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0
