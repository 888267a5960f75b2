"""A grader in a process of its own, seen from the process that gives it work.

It is a plain child with two pipes, not one of `multiprocessing`: those are given pickled objects, and a process that is
itself such a child (so is a worker of dask) may have none. It has a session of its own, so that Ctrl-C in the terminal
reaches only who gave the work.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

import autograder
from autograder.cluster.chunks import Messages, packed


class Process(Protocol):
    """What is needed of a child: as of `subprocess.Popen`."""

    def kill(self) -> None: ...

    def wait(self) -> int: ...


@dataclass(frozen=True)
class Program:
    """A started grader: the child, and the ends of its pipes."""

    child: Process
    chunks: IO[bytes]
    answers: IO[bytes]


def program(course: Path, lanes: int) -> Program:
    """A grader of this course, just started: the program of `cluster.worker`.

    Nothing is imported from the current directory (-P): it may hold files of students.
    """
    engine = str(Path(autograder.__file__).parents[1])
    path = os.pathsep.join([engine, *filter(None, [os.environ.get("PYTHONPATH")])])
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "autograder.cluster.worker", str(course), str(lanes)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        bufsize=0,
        start_new_session=True,
    )
    assert child.stdin is not None and child.stdout is not None
    return Program(child, child.stdin, child.stdout)


class GraderProcess:
    """Send it messages, take its answers, until it ends."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._messages = Messages()
        self.has_ended = False

    def fileno(self) -> int:
        """What to wait on for answers."""
        return self._program.answers.fileno()

    def send(self, message: Mapping[str, Any] | None) -> None:
        """Send a message. That it has ended is seen where answers are taken."""
        view = memoryview(packed(message))
        try:
            while view:
                view = view[self._program.chunks.write(view) :]
        except BrokenPipeError:
            pass

    def answers(self) -> list[Any]:
        """What it said; waits until there is something, or it `has_ended`."""
        piece = os.read(self.fileno(), 1 << 20)
        self.has_ended = not piece
        return list(self._messages.of(piece))

    def answers_within(self, seconds: float) -> list[Any] | None:
        """The same; None when it says nothing for so long."""
        return self.answers() if select.select([self], [], [], seconds)[0] else None

    def kill(self) -> None:
        """End it, in whatever state it is."""
        self._program.child.kill()

    def close(self) -> int:
        """Let go of it; how it ended, negative for a signal."""
        self._program.chunks.close()
        self._program.answers.close()
        return self._program.child.wait()


def was_killed(code: int) -> bool:
    """Was it ended from outside: by a person, or by a host that is short of memory?"""
    return code == -signal.SIGKILL
