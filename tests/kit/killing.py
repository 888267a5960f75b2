"""Kill -9 at random: which processes belong to a grading run, by kind, and a thread that ends one every now and then."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Callable, Sequence
from pathlib import Path


def processes() -> dict[int, tuple[int, str]]:
    """All processes there are: the parent and the command line of each."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except (OSError, ValueError, IndexError):
                continue
            if command:  # one that has ended has none
                found[int(folder.name)] = parent, command
    return found


def below(root: int) -> dict[int, tuple[int, str]]:
    """A process and all that it started."""
    everybody = processes()
    family = {root: everybody[root]} if root in everybody else {}
    generation = set(family)
    while generation:
        generation = {pid for pid, (parent, _) in everybody.items() if parent in generation and pid not in family}
        family |= {pid: everybody[pid] for pid in generation}
    return family


def by_kind(family: dict[int, tuple[int, str]], is_grader: Callable[[int, str], bool]) -> dict[str, list[int]]:
    """Graders, zygotes, workers, and the workers of dask among these processes."""
    kinds: dict[str, list[int]] = {"grader": [], "zygote": [], "worker": []}
    for pid, (parent, command) in family.items():
        is_of_a_zygote = "zygote.py" in family.get(parent, (0, ""))[1]
        if "zygote.py" in command:
            kinds["worker" if is_of_a_zygote and _leads_its_session(pid) else "zygote"].append(pid)
        elif is_grader(pid, command):
            kinds["grader"].append(pid)
        elif "spawn_main" in command:
            kinds.setdefault("dask worker", []).append(pid)
    return kinds


def _leads_its_session(pid: int) -> bool:
    try:
        return os.getsid(pid) == pid
    except OSError:
        return False


class Killer:
    """Kills one process of a random kind, again and again. Use as a context manager.

    `find` gives the processes by kind; where there is none of the kind that was drawn, nothing is killed this time, so
    that what is starting has a chance. Between two tries it waits `pause` seconds on average, and it stops after `most`
    kills. `killed` counts.
    """

    def __init__(
        self, find: Callable[[], dict[str, list[int]]], draw: random.Random, pause: float, most: int = 1 << 30
    ) -> None:
        self._find, self._draw, self._pause, self._most = find, draw, pause, most
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.killed: dict[str, int] = {}

    def __enter__(self) -> Killer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        while sum(self.killed.values()) < self._most and not self._is_over.wait(
            self._draw.uniform(0.2, 1.8) * self._pause
        ):
            kinds = self._find()
            kind = self._draw.choice(sorted(kinds)) if kinds else ""
            if kinds.get(kind):
                self._kill(kind, sorted(kinds[kind]))

    def _kill(self, kind: str, pids: Sequence[int]) -> None:
        try:
            os.kill(self._draw.choice(pids), signal.SIGKILL)
            self.killed[kind] = self.killed.get(kind, 0) + 1
        except ProcessLookupError:
            pass
