"""Day 3's Mini GPT as chapter 7 builds it, a module for each head: what the lab's fast model is measured against.

The weights are those of the fast model, dealt out to the heads. As in week08, output projections have no bias.

Axes: B rows, T places, C model_dim, D head size, V vocab_size.
"""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

from lab.settings import Settings


class Head(nn.Module):
    """One head: three projections, scores, mask, softmax, dropout, values."""

    def __init__(self, model_dim: int, head_size: int, context_length: int, dropout: float) -> None:
        super().__init__()
        self.query = nn.Linear(model_dim, head_size, bias=False)
        self.key = nn.Linear(model_dim, head_size, bias=False)
        self.value = nn.Linear(model_dim, head_size, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("visible", torch.ones(context_length, context_length).tril(), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[B,T,C] -> [B,T,D]."""
        T = x.shape[1]
        q, k, v = self.query(x), self.key(x), self.value(x)
        scores = (q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5).masked_fill(self.visible[:T, :T] == 0, -math.inf)
        return self.dropout(F.softmax(scores, dim=-1)) @ v


class HeadsSideBySide(nn.Module):
    """All heads, one after the other."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        s, D = settings, settings.model_dim // settings.num_heads
        self.heads = nn.ModuleList(Head(s.model_dim, D, s.context_length, s.dropout) for _ in range(s.num_heads))
        self.output = nn.Linear(s.model_dim, s.model_dim, bias=False)
        self.dropout = nn.Dropout(s.dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[B,T,C] -> [B,T,C]."""
        return self.dropout(self.output(torch.cat([head(x) for head in self.heads], dim=-1)))


class PerHeadBlock(nn.Module):
    """Pre-norm block."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        C = settings.model_dim
        self.ln1, self.ln2 = nn.LayerNorm(C), nn.LayerNorm(C)
        self.attention = HeadsSideBySide(settings)
        self.ffn = nn.Sequential(nn.Linear(C, 4 * C), nn.GELU(), nn.Linear(4 * C, C), nn.Dropout(settings.dropout))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[B,T,C] -> [B,T,C]."""
        x = x + self.attention(self.ln1(x))
        return x + self.ffn(self.ln2(x))


class PerHeadGPT(nn.Module):
    """Called like MiniGPT."""

    def __init__(self, settings: Settings, vocab_size: int) -> None:
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, settings.model_dim)
        self.position_embedding = nn.Embedding(settings.context_length, settings.model_dim)
        self.blocks = nn.Sequential(*(PerHeadBlock(settings) for _ in range(settings.num_layers)))
        self.final_norm = nn.LayerNorm(settings.model_dim)
        self.lm_head = nn.Linear(settings.model_dim, vocab_size)

    def forward(
        self, token_ids: torch.Tensor, targets: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """token_ids [B,T], targets [B,T] or None -> (logits [B,T,V], loss or None)."""
        places = torch.arange(token_ids.shape[1], device=token_ids.device)
        x = self.blocks(self.token_embedding(token_ids) + self.position_embedding(places))
        logits = self.lm_head(self.final_norm(x))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)


def per_head_weights(state: dict[str, torch.Tensor], num_heads: int) -> dict[str, torch.Tensor]:
    """The `state_dict` of a FastMiniGPT or week08's MiniGPT, named and cut as a PerHeadGPT has it."""
    found = {}
    for name, weight in state.items():
        if name.endswith("attention.qkv.weight"):
            stem = name.removesuffix("qkv.weight")
            for part, rows in zip(("query", "key", "value"), weight.chunk(3), strict=True):
                for h, head in enumerate(rows.chunk(num_heads)):
                    found[f"{stem}heads.{h}.{part}.weight"] = head
        else:
            found[name.replace("ffn.expand", "ffn.0").replace("ffn.project", "ffn.2")] = weight
    return found
