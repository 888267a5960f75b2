"""What a step of the bridge shows on the screen, and what it asks of your modules."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from bridge_weights import PROMPTS, Layer

WIDTH = 80


class Asked(NamedTuple):
    """A call of yours, `module.name`, and the right answer. A layer is made first and gets its weights."""

    name: str
    arguments: tuple[Any, ...]
    right: Any
    layer: Layer | None = None


@dataclass
class Page:
    """What a step shows, and what it asks of your modules."""

    title: str
    lines: list[str] = field(default_factory=list)
    values: dict[str, torch.Tensor] = field(default_factory=dict)
    calls: list[Asked] = field(default_factory=list)

    def say(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def rows(self, name: str, x: torch.Tensor) -> None:
        """The shape of [B,T,C] or [B,H,T,D], and for each prompt the row of the last position (of every head)."""
        self.values[name] = x
        self.say(f"{name} {list(x.shape)}")
        for prompt, last in zip(PROMPTS, x.select(-2, -1), strict=True):
            self.say(f"  {prompt:11}{' |'.join(map(numbers, last.reshape(-1, x.shape[-1])))}")

    def asks(self, name: str, arguments: tuple[Any, ...], right: Any, layer: Layer | None = None) -> None:
        self.calls.append(Asked(name, arguments, right, layer))


def numbers(values: torch.Tensor, digits: int = 4) -> str:
    """Numbers in one line, without a minus in front of zero."""
    return "".join(f"{round(value, digits) + 0.0:{digits + 5}.{digits}f}" for value in values.tolist())


def emit(line: str = "") -> None:
    """Print a line at once; where the terminal knows plain letters only, in those."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        line.encode(encoding)
    except UnicodeEncodeError:
        line = line.replace("§", "section ").encode(encoding, "replace").decode(encoding)
    print(line, flush=True)
