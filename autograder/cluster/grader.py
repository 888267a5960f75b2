"""Grades chunk after chunk in this process: the suites are collected once for an order, the zygote stays warm."""

from __future__ import annotations

import platform
import socket
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from autograder import __version__
from autograder.cluster.chunks import Chunk, Order, torch_release
from autograder.course import Course, CourseError, CourseFiles, load_course
from autograder.grading.batch import Batch
from autograder.grading.errors import GradingError
from autograder.grading.hashes import suite_hash
from autograder.grading.receipt import Receipt
from autograder.grading.run import grade
from autograder.intake import Submission
from autograder.sandbox.host.errors import SandboxError
from autograder.sandbox.host.zygotes import Zygotes

Send = Callable[[Mapping[str, Any]], None]


class _Stream:
    """The submissions of chunks as they come in, as long as they are under one order.

    While some are under way it does not wait for more; once none is, it does.
    """

    def __init__(self, first: Chunk, incoming: Queue[Any], send: Send) -> None:
        self._order, self._incoming, self._send = first.order, incoming, send
        self._waiting: deque[Submission] = deque()
        self._unfinished = 0
        self._is_over = False
        self.given_up: dict[str, str] = {}
        self.other: Any = None
        """What came in that does not belong to this stream, and ended it."""
        self._take(first)

    def __iter__(self) -> _Stream:
        return self

    def __next__(self) -> Submission:
        while not self._waiting and not self._is_over:
            try:
                message = self._incoming.get(block=self._unfinished == 0)
            except Empty:
                raise StopIteration from None
            chunk = Chunk.from_dict(message) if isinstance(message, dict) and "submissions" in message else None
            if chunk is None or chunk.order != self._order:
                self.other, self._is_over = message, True
            else:
                self._take(chunk)
        if not self._waiting:
            raise StopIteration
        self._unfinished += 1
        return self._waiting.popleft()

    def finished(self, receipt: Receipt) -> None:
        self._unfinished -= 1
        self._send({"receipt": receipt.to_dict()})

    def started(self, submission: Submission) -> None:
        self._send({"started": submission.student})

    def _take(self, chunk: Chunk) -> None:
        self.given_up.update(chunk.given_up)
        self._waiting.extend(chunk.submissions)


class ChunkGrader:
    """What a process that grades chunks keeps: the course, and the zygote of the level that was last required."""

    def __init__(self, course: Path, lanes: int) -> None:
        self._files, self._lanes = CourseFiles(course), lanes
        self._course: Course = load_course(course)
        self._zygotes = Zygotes()
        self._required: str | None = None

    def serve(self, incoming: Queue[Any], send: Send) -> None:
        """Do what messages ask for, until one is None. What cannot be done is answered by a `fault`, a sentence."""
        message = incoming.get()
        while message is not None:
            try:
                _refuse_other_versions(message["order"])
                if "submissions" in message:
                    message = self._grade(Chunk.from_dict(message), incoming, send)
                    continue
                send({"ready": self._facts(Order(**message["order"]))})
            except (GradingError, SandboxError, CourseError) as error:
                send({"fault": str(error)})
            message = incoming.get()

    def close(self) -> None:
        """End the zygote."""
        self._zygotes.close()

    def _grade(self, first: Chunk, incoming: Queue[Any], send: Send) -> Any:
        """Grade this chunk and those that follow under the same order; the message that came after them."""
        order = first.order
        self._refuse_other_suites(order)
        stream = _Stream(first, incoming, send)
        batch = Batch(
            files=self._files,
            course=self._course.id,
            assignment=self._course.assignment(order.assignment),
            submissions=stream,
            seed=order.seed,
            shared_workers=order.shared_workers,
            required_isolation=order.required_isolation,
            diagnoses=order.diagnoses,
            given_up=stream.given_up,
        )
        grade(batch, stream.finished, stream.started, self._zygotes_for(order), self._lanes)
        return stream.other

    def _facts(self, order: Order) -> dict[str, str]:
        """What this process runs on; its zygote is warm then.

        Raises:
            SandboxError: there is less isolation than is required.
        """
        self._refuse_other_suites(order)
        report = self._zygotes_for(order).get().report
        return {
            "host": socket.gethostname(),
            "isolation": report["isolation"],
            "torch": report["torch"],
            "python": platform.python_version(),
        }

    def _refuse_other_suites(self, order: Order) -> None:
        if suite_hash(self._files, self._course.assignment(order.assignment)) != order.suite_hash:
            raise GradingError(
                f"its {order.assignment} is not this run's: suites or course.yml differ; copy the course"
            )

    def _zygotes_for(self, order: Order) -> Zygotes:
        if order.required_isolation != self._required:
            self._zygotes.close()
            self._zygotes, self._required = Zygotes(required=order.required_isolation), order.required_isolation
        return self._zygotes


def _refuse_other_versions(order: Mapping[str, Any]) -> None:
    for name, here in (("kit", __version__), ("torch", torch_release())):
        if order[f"{name}_version"] != here:
            raise GradingError(f"its {name} is {here}, this run's is {order[f'{name}_version']}; install the same")
