"""Fixed worked examples of the course text, as checks use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from selfcheck.checking import place_of_largest, tensor
from selfcheck.faults import Mismatch


@dataclass(frozen=True)
class Trace:
    """One worked example: where the course states it, its inputs, and its values with the digits printed there."""

    where: str
    inputs: Mapping[str, torch.Tensor]
    values: Mapping[str, torch.Tensor]
    digits: Mapping[str, int]

    def value(self, name: str) -> torch.Tensor:
        """A stated value, float64, at the digits the course prints."""
        return self.values[name]

    def agrees(self, name: str, got: Any) -> None:
        """Fail unless `got` (float32) rounds to the stated value: at most half a unit of its last digit away."""
        wanted, digits = self.values[name], self.digits[name]
        answer = tensor(got, tuple(wanted.shape))
        gap = (answer.double() - wanted).abs()
        if bool((gap > 0.5 * 10.0**-digits + 1e-6 * wanted.abs()).any()):
            shown = f"returned {_rounded(answer, digits)}\nexpected {_rounded(wanted, digits)}  ({self.where})"
            raise Mismatch(f"differs from the worked example in {self.where}, most at {place_of_largest(gap)}", shown)


def make_trace(entry: Mapping[str, Any]) -> Trace:
    """A trace from its plain form: {where, inputs: {name: nested list}, values: {name: {value, digits}}}."""
    values = entry["values"]
    return Trace(
        where=entry["where"],
        inputs={name: as_tensor(value) for name, value in entry.get("inputs", {}).items()},
        values={name: torch.tensor(v["value"], dtype=torch.float64) for name, v in values.items()},
        digits={name: int(v["digits"]) for name, v in values.items()},
    )


def as_tensor(value: Any) -> torch.Tensor:
    """A nested list as float32, or as int64 when it holds integers only."""
    found = torch.tensor(value, dtype=torch.float64)
    return found.to(torch.float32 if _has_float(value) else torch.int64)


def _has_float(value: Any) -> bool:
    return any(_has_float(v) for v in value) if isinstance(value, list) else isinstance(value, float)


def _rounded(value: torch.Tensor, digits: int) -> str:
    return _listed(value.tolist(), digits) if value.numel() <= 32 else f"a tensor of shape {list(value.shape)}"


def _listed(value: Any, digits: int) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_listed(v, digits) for v in value) + "]"
    return f"{value:.{digits}f}"
