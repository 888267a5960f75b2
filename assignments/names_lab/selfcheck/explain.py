"""The outcome of a check and the words a student reads about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from selfcheck.faults import Fault, KitFault, Mismatch, PartialCredit
from selfcheck.student import Call


@dataclass(frozen=True)
class Verdict:
    """How a check ended: an outcome, the share of its points it earns, and what the student is told."""

    outcome: str
    share: float
    message: str


PASSED = Verdict("passed", 1.0, "")


def verdict(error: BaseException | None, calls: Sequence[Call], *, public: bool) -> Verdict:
    """The verdict on a check that ended with `error` (None: it passed).

    A public check shows the last call, what came back and what was expected; a hidden one only the sentence.
    """
    if error is None:
        return PASSED
    if isinstance(error, PartialCredit):
        return _partial(error)
    if isinstance(error, Fault):
        return Verdict(error.outcome, 0.0, message(error, calls) if public else _plain(error.sentence))
    return Verdict("grader trouble", 0.0, "the check itself failed; your instructor has been told")


def message(fault: Fault, calls: Sequence[Call]) -> str:
    """Call, answer, expected value and one sentence."""
    lines = [fault.sentence]
    if isinstance(fault, Mismatch) or fault.outcome == "raised":
        lines += [f"call     {calls[-1]}"] if calls else []
        lines += fault.detail.splitlines()[:8]
    return "\n".join(map(_plain, lines))


def _plain(line: str, limit: int = 1000) -> str:
    """One printable line of bounded length: names and texts in it may be the student's."""
    cut = line if len(line) <= limit else f"{line[:limit]} ..."
    return "".join(c if c.isprintable() else " " for c in cut)


def trouble(error: BaseException) -> str:
    """What the instructor reads about a check that failed by its own fault."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno}" if frames else "?"
    kind = "the check" if isinstance(error, KitFault) else type(error).__name__
    return f"{kind} at {where}: {str(error)[:300]}"


def _partial(credit: PartialCredit) -> Verdict:
    share = credit.share
    if isinstance(share, bool) or not isinstance(share, (int, float)) or share != share or abs(share) == float("inf"):
        return Verdict("grader trouble", 0.0, "the check itself failed; your instructor has been told")
    within = min(1.0, max(0.0, float(share)))
    return Verdict("passed" if within == 1 else "failed", within, credit.sentence)
