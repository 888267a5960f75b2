"""Every number that a training run depends on, in one place (Day 3 ch. 7-9).

Day 3 writes d_model for `model_dim`, n_heads, n_layers, block_size for `context_length`, and for the MLP block_size,
n_embd and n_hidden for `window`, `embedding_dim` and `hidden_dim`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from lab.faults import LabError

MODELS = ("mini_gpt", "mlp", "neural_bigram")
POSITIONS = ("learned", "sinusoidal", "none")


@dataclass(frozen=True)
class Settings:
    """What is trained and how. The defaults are Day 3's Mini GPT.

    `batch_size` counts names. The learning rate rises to `peak` over `warmup_steps`, then falls to `floor_ratio` of it
    at `total_steps`; a ratio of 1 keeps it constant. `max_norm` None clips nothing. `fast` takes the lab's own model
    instead of week08's: the same function of the same weights. `positions` other than learned need it.
    """

    model: str = "mini_gpt"
    fast: bool = False
    positions: str = "learned"
    model_dim: int = 64
    num_heads: int = 4
    num_layers: int = 4
    context_length: int = 32
    dropout: float = 0.1
    window: int = 8
    embedding_dim: int = 24
    hidden_dim: int = 256
    batch_size: int = 64
    peak: float = 3e-4
    warmup_steps: int = 500
    total_steps: int = 10_000
    floor_ratio: float = 0.1
    max_norm: float | None = 1.0
    weight_decay: float = 0.01
    seed: int = 1337
    split_seed: int = 42
    evaluate_every: int = 500

    def __post_init__(self) -> None:
        """Raises LabError for numbers that no run can have."""
        if self.model not in MODELS or self.positions not in POSITIONS:
            raise LabError(f"a model is one of {', '.join(MODELS)}, positions are one of {', '.join(POSITIONS)}")
        if self.positions != "learned" and not self.fast:
            raise LabError(f"week08's MiniGPT learns its positions; {self.positions} positions need fast=True")
        for field in fields(self):
            value = getattr(self, field.name)
            least = 0 if field.name in ("dropout", "warmup_steps", "weight_decay", "seed", "split_seed") else 1e-9
            if isinstance(value, (int, float)) and not isinstance(value, bool) and not value >= least:
                raise LabError(f"{field.name} must be {'at least' if least == 0 else 'above'} 0, got {value}")
        if self.dropout >= 1:
            raise LabError(f"dropout must be below 1, got {self.dropout}")
        if self.model_dim % self.num_heads != 0:
            raise LabError(f"model_dim {self.model_dim} is not divisible by num_heads {self.num_heads}")

    def fingerprint(self) -> str:
        """A short name for exactly these numbers."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:12]

    def differences(self, other: Mapping[str, Any]) -> str:
        """How these numbers differ from another run's, for people: `peak 0.001 instead of 0.0003`; empty if equal."""
        own = asdict(self)
        names = [name for name in {**own, **other} if own.get(name) != other.get(name)]
        return ", ".join(f"{name} {own.get(name)} instead of {other.get(name)}" for name in names)


def changed(texts: list[str]) -> dict[str, Any]:
    """Settings as they are typed, `peak=1e-3`, as values of the right kind. Raises LabError."""
    kinds = {field.name: str(field.type).partition(" ")[0] for field in fields(Settings)}
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if name not in kinds or not equals:
            raise LabError(f"{text!r} sets nothing; write NAME=VALUE, where NAME is one of {', '.join(kinds)}")
        read = {"int": int, "float": float, "str": str, "bool": lambda word: {"true": True, "false": False}[word]}
        try:
            found[name] = None if name == "max_norm" and value == "none" else read[kinds[name]](value)
        except (ValueError, KeyError):
            raise LabError(f"{name} must be of the kind {kinds[name]}, got {value!r}") from None
    return found
