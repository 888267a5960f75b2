"""Grade on the nodes of a dask cluster: chunks go to workers that are fit for it, receipts come back.

Which worker gets which chunk is decided here, not by dask: each chunk is pinned to one worker. So a node that is not
fit gets nothing, no node has more than it is about to grade, and work of a node that is lost is dealt again at once.
"""

from __future__ import annotations

import math
import operator
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from queue import Empty, Queue
from typing import TYPE_CHECKING, Any

from autograder.cluster.chunks import Chunk, Order, packed, unpacked
from autograder.cluster.dealing import Dealer, Futility, patience
from autograder.cluster.keys import Keys
from autograder.cluster.nodes import grade_chunk, prepare
from autograder.grading.batch import Batch
from autograder.grading.errors import GradingError
from autograder.grading.receipt import Receipt
from autograder.intake import Submission

if TYPE_CHECKING:
    from distributed import Client, Future

LEAST_IN_A_CHUNK, MOST_IN_A_CHUNK = 4, 16
"""Chunks get smaller towards the end, so that no node is the last by much."""

AHEAD = 2
"""So many chunks does a node have at most: one it grades, and one that is there when that is done."""

TIMEOUT = 20
"""Seconds to wait for the scheduler to answer."""

PATIENCE = 60
"""Seconds to wait for a node that takes work, when there is none."""


def chunk_size(left: int, workers: int) -> int:
    """So many submissions go into the next chunk."""
    return max(LEAST_IN_A_CHUNK, min(MOST_IN_A_CHUNK, left // (2 * AHEAD * workers)))


Finished = Callable[[Sequence[Receipt]], None]


def grade(
    batch: Batch,
    finished: Finished,
    started: Callable[[Submission], None],
    address: str,
    told: Callable[[str], None],
    keys: Keys | None = None,
) -> None:
    """Grade every submission of the batch on the nodes behind this scheduler; `finished` gets the receipts of each
    chunk. `told` gets sentences about nodes: what they run on, or why they get no work.

    Raises:
        GradingError: there is no scheduler, or no node that is fit.
        Exception: what `finished` or `started` raised.
        KeyboardInterrupt: the user stopped; receipts so far were handed over.
    """
    with _client(address, keys) as client:
        _Cluster(client, batch, address, told).run(finished, started)


@dataclass
class _Node:
    """A worker of dask. `refused` says why it gets no work; `chunks` are those it has, the oldest first."""

    address: str
    preparing: Future | None = None
    refused: str = ""
    chunks: dict[Future, Sequence[Submission]] = field(default_factory=dict)
    is_alone: bool = False
    futility: Futility = field(default_factory=Futility)

    @property
    def is_fit(self) -> bool:
        return self.preparing is None and not self.refused

    @property
    def has_room(self) -> bool:
        return not self.chunks or (len(self.chunks) < AHEAD and not self.is_alone)


class _Cluster:
    """The nodes of one run."""

    def __init__(self, client: Client, batch: Batch, address: str, told: Callable[[str], None]) -> None:
        self._client, self._address, self._told = client, address, told
        self._order, self._dealer = Order.of(batch), Dealer(batch.submissions)
        self._left = operator.length_hint(batch.submissions, MOST_IN_A_CHUNK)
        self._nodes: dict[str, _Node] = {}
        self._done: Queue[tuple[_Node, Future]] = Queue()
        self._looked = -math.inf
        self._patience = patience(batch.assignment.limits)

    def run(self, finished: Finished, started: Callable[[Submission], None]) -> None:
        """Until there is nothing left to deal."""
        waiting_since = time.monotonic()
        while True:
            self._look_around()
            fit = [node for node in self._nodes.values() if node.is_fit]
            for node in fit:
                self._deal_to(node, started)
            is_at_work = any(node.chunks for node in self._nodes.values())
            if fit and not is_at_work:
                return
            if is_at_work or any(node.preparing for node in self._nodes.values()):
                waiting_since = time.monotonic()
            if time.monotonic() - waiting_since > PATIENCE:
                raise GradingError(self._why_nobody_works())
            try:
                self._take(*self._done.get(timeout=1.0), finished)
                while True:
                    self._take(*self._done.get_nowait(), finished)
            except Empty:
                pass

    def _look_around(self) -> None:
        """Which workers are there now? New ones are asked whether they are fit, work of lost ones is dealt again."""
        if time.monotonic() - self._looked < 1:
            return
        self._looked = time.monotonic()
        try:
            there = set(self._client.nthreads())
        except (OSError, TimeoutError) as error:
            lost = f"the scheduler at {self._address} was lost ({error}); the same command goes on when it is back"
            raise GradingError(lost) from None
        for address in there - self._nodes.keys():
            self._nodes[address] = _Node(address)
            self._prepare(self._nodes[address])
        for address in self._nodes.keys() - there:
            node = self._nodes.pop(address)
            self._client.cancel([future for future in (node.preparing, *node.chunks) if future])
            self._lose(node)

    def _deal_to(self, node: _Node, started: Callable[[Submission], None]) -> None:
        """Give a node as much as it can have."""
        while node.has_room:
            dealt = self._dealer.deal(chunk_size(self._left, len(self._nodes)), is_idle=not node.chunks)
            if not dealt:
                break
            node.is_alone = self._dealer.is_suspect(dealt[0])
            given_up = {s.student: why for s in dealt if (why := self._dealer.given_up.get(s.student))}
            chunk = packed(Chunk(self._order, dealt, given_up).to_dict())
            node.chunks[self._sent(node, grade_chunk, chunk, self._patience * len(dealt))] = dealt
            for submission in dealt:
                started(submission)

    def _sent(self, node: _Node, function: Callable[..., bytes], *arguments: Any) -> Future:
        """Our function, by its name, and bytes: that is all that travels."""
        future = self._client.submit(function, *arguments, workers=[node.address], pure=False)
        future.add_done_callback(lambda done: self._done.put((node, done)))
        return future

    def _take(self, node: _Node, future: Future, finished: Finished) -> None:
        """What has come of a future."""
        if future is not node.preparing and future not in node.chunks:
            return  # of a node that was lost
        try:
            answer = unpacked(future.result())
        except Exception as error:
            answer = {"lost": error}
        if future is node.preparing:
            node.preparing = None
            self._introduce(node, answer)
        else:
            self._take_chunk(node, node.chunks.pop(future), answer, finished)
        if node.futility.is_certain:
            self._refuse(node, "graders end there as soon as they are started")

    def _take_chunk(
        self,
        node: _Node,
        chunk: Sequence[Submission],
        answer: dict[str, Any],
        finished: Finished,
    ) -> None:
        submissions = {submission.student: submission for submission in chunk}
        receipts = [Receipt.from_dict(data) for data in answer.get("receipts", ())]
        for receipt in receipts:
            del submissions[receipt.student]
        self._left -= len(receipts)
        finished(receipts)
        if "fault" in answer:
            self._refuse(node, answer["fault"])
        ended = answer.get("ended", {"under_way": list(submissions) if "lost" in answer else [], "killed": True})
        under_way = [submissions.pop(student) for student in ended["under_way"]]
        self._dealer.lost(under_way, submissions.values(), ended["killed"])
        if receipts or ("ended" in answer and under_way):
            node.futility.is_disproved()
        else:
            node.futility.ended(was_killed="ended" in answer and ended["killed"])

    def _prepare(self, node: _Node) -> None:
        node.preparing = self._sent(node, prepare, packed(self._order.to_dict()))

    def _introduce(self, node: _Node, answer: dict[str, Any]) -> None:
        if "ended" in answer:
            node.futility.ended(answer["ended"]["killed"])
            if not node.futility.is_certain:
                self._prepare(node)
        elif "ready" in answer:
            facts = answer["ready"]
            what = f"isolation {facts['isolation']}, torch {facts['torch']}, Python {facts['python']}"
            self._told(f"node {node.address} ({facts['host']}): {what}")
        else:
            self._refuse(node, answer.get("fault") or _why_lost(answer["lost"]))

    def _refuse(self, node: _Node, why: str) -> None:
        if not node.refused:
            node.refused = why
            self._told(f"node {node.address} gets no work: {why}")

    def _lose(self, node: _Node) -> None:
        """Work of a node that is gone: what it was at may be the reason, what it had beside that not."""
        chunks = list(node.chunks.values())
        under_way, untouched = chunks[:1], chunks[1:]
        self._dealer.lost(chain(*under_way), chain(*untouched), was_killed=True)
        node.chunks.clear()

    def _why_nobody_works(self) -> str:
        if not self._nodes:
            return f"the scheduler at {self._address} has no workers; start `dask worker` in the course's folder"
        told = "; ".join(sorted({node.refused for node in self._nodes.values()}))
        return f"no node behind {self._address} may grade: {told}"


def _why_lost(error: Exception) -> str:
    """Why a node did not even say what it runs on."""
    if isinstance(error, CancelledError):
        return "it was lost before it was ready"
    first = next(iter(str(error).splitlines()), "no message")
    return f"{type(error).__name__}: {first[:200]}"


@contextmanager
def _client(address: str, keys: Keys | None) -> Iterator[Client]:
    try:
        from distributed import Client
    except ImportError:
        raise GradingError("--scheduler needs dask.distributed: pip install 'autograder[cluster]'") from None
    try:
        security = keys.security() if keys else None
        client = Client(address, security=security, timeout=TIMEOUT, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise GradingError(f"no dask scheduler answers at {address}: {str(error).splitlines()[0]}") from None
    with client:
        yield client
