"""What is loaded together into a worker, within which limits, and how it is said that no answer could be had."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class Refusal(Exception):
    """No answer could be had. `outcome` is the check's outcome, `sentence` says why."""

    def __init__(self, outcome: str, sentence: str) -> None:
        super().__init__(sentence)
        self.outcome = outcome
        self.sentence = sentence


@dataclass(frozen=True)
class SessionLimits:
    """Seconds of CPU time for one check and for the whole submission; memory and output of one worker."""

    seconds_per_check: float
    seconds_per_submission: float
    memory_mb: int
    output_kb: int


@dataclass(frozen=True)
class Unit:
    """What is loaded together: an exercise's source, the modules its imports find, and its rig."""

    exercise: str
    source: bytes | None
    siblings: Mapping[str, bytes]
    rig: bytes | None = None
    alone: bool = False
    """Needs a worker in which nothing was loaded before: here the student's own parts must not find stand-ins."""
    scratch_mb: int = 0
    """Needs a worker with an empty folder of this size, which is for this unit only."""

    @property
    def files(self) -> dict[str, bytes]:
        """Everything that is loaded, by the name of its module."""
        rig = {f"rig_{self.exercise}": self.rig} if self.rig is not None else {}
        return {**self.siblings, self.exercise: self.source or b"", **rig}

    @property
    def load(self) -> dict[str, Any]:
        """What the worker needs to read the exercise's module."""
        file = f"{self.exercise}.py"
        return {"module": self.exercise, "source": self.source, "filename": file, "siblings": dict(self.siblings)}

    @property
    def load_rig(self) -> dict[str, Any] | None:
        """What it needs to read the rig; None where there is none."""
        if self.rig is None:
            return None
        return {"module": f"rig_{self.exercise}", "source": self.rig, "filename": f"rigs/{self.exercise}.py"}
