"""The unit of work: some submissions as bytes, with all that decides how they are graded.

Everything that travels is plain data in msgpack, one message after the other: no object of ours, no code. So nothing of
a submission is ever unpickled, and a message can be cut off anywhere without harm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import msgpack

from autograder import __version__
from autograder.grading.hashes import suite_hash
from autograder.intake import HandedIn, Submission

if TYPE_CHECKING:
    from autograder.grading.batch import Batch

_MOST_BYTES = (1 << 31) - 1
_TEXT = {"unicode_errors": "surrogatepass"}
"""Texts of a submission may hold what is no character."""


def torch_release() -> str:
    """The version of torch here, without what kind of build it is."""
    return version("torch").partition("+")[0]


@dataclass(frozen=True)
class Order:
    """How submissions are graded. Who grades them has the kit, torch and the course's files too: of these versions, and
    with suites of this hash."""

    assignment: str
    seed: int
    suite_hash: str
    shared_workers: bool = True
    required_isolation: str | None = None
    diagnoses: bool = True
    kit_version: str = __version__
    torch_version: str = field(default_factory=torch_release)

    @classmethod
    def of(cls, batch: Batch) -> Order:
        """The order to grade the submissions of a batch as it says."""
        assert batch.only is None and batch.kills is None, "not for graders elsewhere"
        return cls(
            batch.assignment.id,
            batch.seed,
            suite_hash(batch.files, batch.assignment),
            batch.shared_workers,
            batch.required_isolation,
            batch.diagnoses,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Chunk:
    """Submissions to grade under one order. Those whose student is in `given_up` are left to a human; it says why."""

    order: Order
    submissions: Sequence[Submission]
    given_up: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "order": self.order.to_dict(),
            "submissions": [_fields_of(submission) for submission in self.submissions],
            "given_up": dict(self.given_up),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Chunk:
        """The chunk that `to_dict` described."""
        submissions = [_submission(found) for found in data["submissions"]]
        return cls(Order(**data["order"]), submissions, data["given_up"])


def packed(message: Any) -> bytes:
    """A message as bytes."""
    found: bytes = msgpack.packb(message, **_TEXT)
    return found


def unpacked(data: bytes) -> Any:
    """The message in these bytes."""
    return msgpack.unpackb(data, **_TEXT)


class Messages:
    """Puts messages together that arrive in pieces."""

    def __init__(self) -> None:
        self._unpacker = msgpack.Unpacker(max_buffer_size=_MOST_BYTES, **_TEXT)

    def of(self, piece: bytes) -> Iterable[Any]:
        """The messages that this piece completes."""
        self._unpacker.feed(piece)
        yield from self._unpacker


def _fields_of(record: Submission | HandedIn) -> dict[str, Any]:
    data = {entry.name: getattr(record, entry.name) for entry in fields(record)}
    if isinstance(record, Submission):
        data["files"] = {name: _fields_of(file) for name, file in record.files.items()}
    return data


def _submission(data: Mapping[str, Any]) -> Submission:
    found: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
    found["files"] = {name: HandedIn(**file) for name, file in data["files"].items()}
    return Submission(**found)
