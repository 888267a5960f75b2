"""On a node: the grader that belongs to a worker of dask, and the two functions that are sent there.

The worker itself only carries bytes. The grader is a process of its own (`cluster.process`), so that neither dask's
threads nor a crash come into it; it ends with the worker, and stays warm from chunk to chunk. The course is the one in
whose folder the worker was started.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from autograder.cluster.chunks import packed, unpacked
from autograder.cluster.jobs import LANES
from autograder.cluster.process import GraderProcess, program, was_killed
from autograder.course import CourseError, find_course


def prepare(order: bytes) -> bytes:
    """Have a grader ready for this order: what it runs on, or why it must not be given work."""
    return packed(courier().carry({"order": unpacked(order)}))


def grade_chunk(chunk: bytes, patience: float) -> bytes:
    """Receipts of a chunk. Where the grader ended, what it was at, and whether it was killed; a silent one ends too."""
    return packed(courier().carry(unpacked(chunk), patience))


@cache
def courier() -> Courier:
    """The one of this worker."""
    made = Courier()
    atexit.register(made.close)
    return made


class Courier:
    """Takes messages to the grader of this worker, one after the other, and brings back all that is said to them."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()
        self._grader: GraderProcess | None = None

    def carry(self, message: Mapping[str, Any], patience: float = 600) -> dict[str, Any]:
        """What the grader answers: `ready`, `fault`, or `receipts`, with `ended` where it did not finish."""
        with self._one_at_a_time:
            try:
                if self._grader is None or self._grader.has_ended:
                    self.close()
                    self._grader = GraderProcess(program(find_course(Path.cwd()).parent, LANES))
            except CourseError as error:
                return {"fault": f"{error} (start `dask worker` in the course's folder)"}
            answer = _conversation(self._grader, message, patience)
            if "fault" in answer or "ended" in answer:
                self._grader = None
            return answer

    def close(self) -> None:
        """End the grader."""
        if self._grader is not None:
            self._grader.kill()
            self._grader.close()
            self._grader = None


def _conversation(grader: GraderProcess, message: Mapping[str, Any], patience: float) -> dict[str, Any]:
    receipts: list[dict[str, Any]] = []
    begun: set[str] = set()
    missing = len(message.get("submissions", ()))
    grader.send(message)
    while True:
        answers = grader.answers_within(patience)
        answer: dict[str, Any]
        for answer in answers or ():
            if "ready" in answer:
                return answer
            if "fault" in answer:
                grader.kill()
                grader.close()
                return answer
            if "started" in answer:
                begun.add(answer["started"])
            if "receipt" in answer:
                receipts.append(answer["receipt"])
        if receipts and len(receipts) == missing:
            return {"receipts": receipts}
        if answers is None:
            grader.kill()
        if answers is None or grader.has_ended:
            killed = was_killed(grader.close()) and answers is not None
            under_way = begun - {receipt["student"] for receipt in receipts}
            return {"receipts": receipts, "ended": {"under_way": sorted(under_way), "killed": killed}}
