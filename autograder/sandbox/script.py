"""A rehearsed exercise: all requests of its checks in one frame, so that an exercise costs one exchange.

The inputs of a run are the same for every submission. What the checks of an exercise asked of a submission that passed
them all, most often of the solutions, is therefore what they will ask of others. A worker gets the whole script at
once; the checks then run against the replies, and each request must be, byte for byte, the one the script foresaw. A
check that fails stops asking before the end of its script, and what it was not going to ask has no part in its verdict.
When a check asks for anything else, or the worker could not answer everything in time, all replies are thrown away and
the exercise is graded request by request in a fresh worker.
So a rehearsal finds what grading without it would: the same requests reached the same code in the same order. Only code
that remembers calls beyond a check can tell that a check which failed went on asking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autograder.sandbox import replies, wire


@dataclass(frozen=True)
class Script:
    """The request frames of an exercise's checks, in order, and the same in one body, packed once for all workers."""

    checks: tuple[tuple[bytes, ...], ...]
    body: bytes

    @classmethod
    def of(cls, checks: Sequence[Sequence[bytes]]) -> Script:
        """The script of checks that all passed."""
        bodies = [wire.joined([wire.body(frame) for frame in frames]) for frames in checks]
        return cls(tuple(map(tuple, checks)), wire.joined(bodies))


class OffScript(Exception):
    """A check asked for something that its script did not foresee. Never a verdict: grading goes on without it."""


class Prompt:
    """The replies to one check's script, handed out as long as the check keeps to it."""

    def __init__(self, frames: Sequence[bytes], packed_replies: bytes) -> None:
        self._frames = frames
        self._packed_replies = packed_replies
        self._replies: list[Any] | None = None
        self._used = 0
        self.was_left = False
        """Did the check ask for something else?"""

    def reply_to(self, frame: bytes) -> dict[str, Any]:
        """The reply to the next request.

        Raises:
            OffScript: it is not the request that the script foresaw, or the worker's answer has a wrong form.
        """
        self.was_left = True  # unless all goes well
        if self.is_used_up or self._frames[self._used] != frame:
            raise OffScript
        self._used += 1
        try:
            reply = replies.checked(self._decoded()[self._used - 1])
        except replies.NoReply:
            raise OffScript from None
        self.was_left = False
        return reply

    @property
    def is_used_up(self) -> bool:
        """Was everything asked for?"""
        return self._used == len(self._frames)

    def _decoded(self) -> list[Any]:
        if self._replies is None:
            try:
                found = wire.decode(self._packed_replies)
            except wire.WireError:
                raise OffScript from None
            if type(found) is not list or len(found) != len(self._frames):
                raise OffScript
            self._replies = found
        return self._replies


def answers_of(answer: Any, script: Script) -> list[bytes] | None:
    """A worker's answer to a script, checked for its form: packed replies for every check; otherwise None."""
    if type(answer) is not list or len(answer) != len(script.checks):
        return None
    return answer if all(type(packed) is bytes for packed in answer) else None
