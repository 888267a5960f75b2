"""What a worker answered to the requests of one check, in a form that can be compared with another one's answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from autograder.sandbox import wire
from autograder.sandbox.values import Foreign, Ref

RELATIVE, ABSOLUTE = 1e-4, 1e-5
"""Two answers are the same within these; the absolute one counts in units of the largest number of a reply."""

MOST_NUMBERS = 1_000_000
"""A reply with more numbers than this is compared by its form only, and so is a tensor."""


_FEW, _ENOUGH = 3, 1000


@dataclass(frozen=True)
class Reply:
    """One reply: its `form` (types, shapes, names, texts) and its numbers, float64."""

    form: tuple[str, ...]
    numbers: np.ndarray

    def distance(self, other: Reply) -> float:
        """How far the numbers lie apart in units of what counts as the same; infinity where the forms differ."""
        if self.form != other.form or self.numbers.shape != other.numbers.shape:
            return np.inf
        ours, theirs = self.numbers, other.numbers
        if not ours.size:
            return 0.0
        known = np.isfinite(ours) & np.isfinite(theirs)
        strange = ~known
        if strange.any() and not np.array_equal(ours[strange], theirs[strange], equal_nan=True):
            return np.inf
        if not known.any():
            return 0.0
        ours, theirs = ours[known], theirs[known]
        allowed = RELATIVE * np.abs(ours) + ABSOLUTE * max(1e-12, float(np.abs(ours).max()))
        return float((np.abs(ours - theirs) / allowed).max())

    @property
    def tells_much(self) -> bool:
        """Would few other wrong answers be the same? Not an error, and not a few numbers that are all alike."""
        return self.form[:1] != ("fault",) and len(np.unique(self.numbers[:_ENOUGH])) >= _FEW


Evidence = tuple[Reply, ...]
"""The replies to the requests of one check, in order."""


def distance(ours: Evidence, theirs: Evidence) -> float:
    """The largest distance of replies to the requests that both were asked; at most 1 means the same."""
    both = list(zip(ours, theirs, strict=False))
    return max((one.distance(other) for one, other in both), default=np.inf)


def tells_much(wrong: Evidence, right: Evidence) -> bool:
    """Is one of the wrong replies such that few others would be wrong in the same way?"""
    return any(reply.tells_much and reply.distance(good) > 1 for reply, good in zip(wrong, right, strict=False))


def evidence_of(frames: Sequence[bytes], replies: bytes | Sequence[Any]) -> Evidence:
    """The evidence in replies, which may still be packed. Replies of a wrong form end it."""
    if isinstance(replies, bytes):
        try:
            found = wire.decode(replies)
        except wire.WireError:
            return ()
        replies = found if isinstance(found, list) else []
    return tuple(_reply(r, _names_a_state(f)) for f, r in zip(frames, replies, strict=False) if isinstance(r, dict))


def _reply(reply: dict[str, Any], is_a_state: bool) -> Reply:
    form: list[str] = []
    numbers: list[np.ndarray] = []
    if "fault" in reply:
        form += _fault(reply["fault"])
    else:
        for part in _parts(reply.get("value")):
            if isinstance(part, str):
                form.append(part)
            elif not is_a_state:
                numbers.append(part)
    if sum(n.size for n in numbers) > MOST_NUMBERS:
        numbers = []
    return Reply(tuple(form), np.concatenate(numbers) if numbers else np.empty(0))


@lru_cache(maxsize=4096)
def _names_a_state(frame: bytes) -> bool:
    """Does the request ask for a state dict? Its numbers are those that chance began with, so only its form counts."""
    if b"state_dict" not in frame:
        return False
    operation, payload = wire.decode(wire.body(frame), trusted=True)[-1]
    ref = payload.get("ref")
    return operation == "call" and isinstance(ref, Ref) and ref.name == "state_dict"


def _parts(value: Any) -> Iterator[str | np.ndarray]:
    """Form and numbers of a value, in order."""
    if isinstance(value, torch.Tensor):
        yield f"{value.dtype} {list(value.shape)}"
        if value.numel() <= MOST_NUMBERS:
            yield value.double().flatten().numpy()
    elif isinstance(value, float):
        yield "float"
        yield np.array([value])
    elif isinstance(value, (list, tuple)):
        yield f"{type(value).__name__} {len(value)}"
        for entry in value:
            yield from _parts(entry)
    elif isinstance(value, dict):
        yield f"dict {len(value)}"
        for key, entry in sorted(value.items(), key=lambda pair: str(pair[0])):
            yield str(key)
            yield from _parts(entry)
    elif isinstance(value, Ref):
        yield "object"
    else:
        yield value.type_name if isinstance(value, Foreign) else repr(value)


def _fault(fault: Any) -> list[str]:
    """What kind of error it was. Words of a ValueError or assertion are the student's, others torch's or Python's."""
    if not isinstance(fault, dict):
        return ["fault"]
    names = fault.get("names")
    names = [str(name) for name in names] if isinstance(names, list) else []
    text = "" if names[:1] in (["ValueError"], ["AssertionError"]) else str(fault.get("text"))
    return ["fault", str(fault.get("kind")), *names, text]
