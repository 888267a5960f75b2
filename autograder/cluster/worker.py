"""The program of a grader: `python -m autograder.cluster.worker COURSE LANES`, with chunks on its standard input and
receipts on its standard output.

The input is its lifeline too: when it ends without a last message, whoever gave the work is gone, and so is this
process in the same moment, and with it its zygote and workers.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from queue import Queue
from typing import Any

from autograder.cluster.chunks import Messages, packed


def main() -> None:
    """Serve until the last message, which is None."""
    answers = os.dup(1)
    os.dup2(2, 1)  # what a suite or a library prints must not get between the receipts
    serve(0, answers, Path(sys.argv[1]), int(sys.argv[2]))


def serve(reading: int, writing: int, course: Path, lanes: int) -> None:
    """Grade what comes in at one descriptor, answer at the other."""
    incoming: Queue[Any] = Queue()
    threading.Thread(target=_read, args=(reading, incoming), daemon=True).start()
    from autograder.cluster.grader import ChunkGrader  # takes seconds

    def send(message: Mapping[str, Any]) -> None:
        view = memoryview(packed(message))
        while view:
            view = view[os.write(writing, view) :]

    grader = ChunkGrader(course, lanes)
    send({"up": os.getpid()})
    try:
        grader.serve(incoming, send)
    finally:
        grader.close()


def _read(descriptor: int, incoming: Queue[Any]) -> None:
    messages = Messages()
    while piece := os.read(descriptor, 1 << 20):
        for message in messages.of(piece):
            incoming.put(message)
            if message is None:
                return
    os._exit(1)


if __name__ == "__main__":
    main()
