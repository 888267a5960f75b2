"""The lab's fast model: week08's MiniGPT with the same parameter names, on torch's own operators.

Three things make it faster. Queries, keys and values of all heads come from one product and go through one
`scaled_dot_product_attention`. Padding is left out: names differ in length, and everything but the attention works on
one place at a time, so the places that count are packed into one long row [n,C] and only the attention sees rows
[B,T,C] again. And while it writes, it keeps the keys and values of the places behind it (a KV cache) instead of
computing them again for every letter.

Axes: B rows, T places, n places that count, C model_dim, H num_heads, D = C/H, V vocab_size, L context_length.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from lab.settings import Settings

IGNORED = -100  # a target that does not count


@dataclass(frozen=True)
class Packing:
    """Which places of B rows count: `places` [n] are their numbers in the flattened rows, cut to the longest."""

    places: torch.Tensor
    rows: int
    length: int

    @classmethod
    def of(cls, counts: torch.Tensor) -> Packing:
        """From a mask [B,T]. Raises ValueError when a place that counts stands after one that does not."""
        if bool((counts[:, 1:] & ~counts[:, :-1]).any()):
            raise ValueError("the targets that count must stand before the others in each row")
        counts = counts[:, : int(counts.sum(dim=1).max())]
        return cls(counts.flatten().nonzero()[:, 0], *counts.shape)

    def pack(self, rows: torch.Tensor) -> torch.Tensor:
        """[B,T,C] -> [n,C]."""
        return rows.flatten(0, 1).index_select(0, self.places)

    def unpack(self, packed: torch.Tensor) -> torch.Tensor:
        """[n,C] -> [B,T,C], zeros at the places that do not count."""
        flat = packed.new_zeros(self.rows * self.length, packed.shape[-1])
        return flat.index_copy(0, self.places, packed).view(self.rows, self.length, -1)


class Cache:
    """Keys and values [B,H,T,D] of the places that a block has read."""

    def __init__(self) -> None:
        self.keys: torch.Tensor | None = None
        self.values: torch.Tensor | None = None

    def extend(self, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Append those of new places; returns all of them."""
        if self.keys is not None and self.values is not None:
            keys, values = torch.cat([self.keys, keys], dim=2), torch.cat([self.values, values], dim=2)
        self.keys, self.values = keys, values
        return keys, values


class Attention(nn.Module):
    """Causal self-attention in H heads."""

    def __init__(self, model_dim: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        self.num_heads, self.dropout = num_heads, dropout
        self.qkv = nn.Linear(model_dim, 3 * model_dim, bias=False)
        self.output = nn.Linear(model_dim, model_dim, bias=False)

    def forward(self, x: torch.Tensor, packing: Packing | None = None, cache: Cache | None = None) -> torch.Tensor:
        """[n,C] with a packing, or else [B,T,C], to the same; with a cache after the first call T is 1."""
        qkv = self.qkv(x) if packing is None else packing.unpack(self.qkv(x))  # [B,T,3C]
        q, k, v = qkv.unflatten(-1, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4)  # [B,H,T,D] each
        if cache is not None:
            k, v = cache.extend(k, v)
        if self.training:
            heads = self._weighted(q, k, v)
        else:
            heads = F.scaled_dot_product_attention(q, k, v, is_causal=q.shape[2] > 1)
        merged = heads.transpose(1, 2).flatten(2)  # [B,H,T,D] -> [B,T,C]
        update = self.output(merged if packing is None else packing.pack(merged))
        return F.dropout(update, self.dropout, self.training)

    def _weighted(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """[B,H,T,D] each -> [B,H,T,D], with dropout on the weights.

        For a CPU torch has no fused attention with dropout; these products are faster than what it does instead.
        """
        if q.device.type != "cpu":
            return F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout, is_causal=True)
        T, D = q.shape[2:]
        future = q.new_full((T, T), -torch.inf).triu(1)
        scores = torch.baddbmm(future, q.flatten(0, 1), k.flatten(0, 1).transpose(1, 2), alpha=D**-0.5)  # [B*H,T,T]
        weights = F.dropout(scores.softmax(dim=-1), self.dropout)
        return (weights @ v.flatten(0, 1)).view(q.shape)


class FeedForward(nn.Module):
    """Each place on its own: C to 4C and back, GELU between."""

    def __init__(self, model_dim: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.expand = nn.Linear(model_dim, 4 * model_dim)
        self.project = nn.Linear(4 * model_dim, model_dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[...,C] -> [...,C]."""
        return F.dropout(self.project(F.gelu(self.expand(x))), self.dropout, self.training)


class Block(nn.Module):
    """Pre-norm: both branches read a normalized copy and add to the stream."""

    def __init__(self, model_dim: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        self.ln1 = nn.LayerNorm(model_dim)
        self.attention = Attention(model_dim, num_heads, dropout)
        self.ln2 = nn.LayerNorm(model_dim)
        self.ffn = FeedForward(model_dim, dropout)

    def forward(self, x: torch.Tensor, packing: Packing | None = None, cache: Cache | None = None) -> torch.Tensor:
        """[...,C] -> [...,C]."""
        x = x + self.attention(self.ln1(x), packing, cache)
        return x + self.ffn(self.ln2(x))


class FastMiniGPT(nn.Module):
    """Called like week08's MiniGPT, and its `state_dict` fits there and here.

    Args:
        positions: a table [L,C] that is not learned, or None for a learned one.
    """

    def __init__(self, settings: Settings, vocab_size: int, positions: torch.Tensor | None = None) -> None:
        super().__init__()
        C, L = settings.model_dim, settings.context_length
        self.context_length = L
        self.token_embedding = nn.Embedding(vocab_size, C)
        if positions is None:
            self.position_embedding = nn.Embedding(L, C)
        else:
            self.register_buffer("fixed_positions", positions, persistent=False)
        self.blocks = nn.ModuleList(Block(C, settings.num_heads, settings.dropout) for _ in range(settings.num_layers))
        self.final_norm = nn.LayerNorm(C)
        self.lm_head = nn.Linear(C, vocab_size)

    def forward(
        self, token_ids: torch.Tensor, targets: torch.Tensor | None = None, caches: list[Cache] | None = None
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Scores of the next token, and the mean loss over the targets that count.

        Args:
            token_ids: [B,T] int64. With caches only the places that they have not seen yet.
            targets: [B,T] int64 or None. In each row those that count come first, as `make_examples` writes them.
            caches: one for each block, to be filled; after the first call T is 1.

        Returns:
            (logits, loss): logits [B,T,V] without targets; with targets they are [n,V], of the n places that count.

        Raises:
            ValueError: the places do not fit into the context, or a target that counts follows one that does not.
        """
        packing = None
        if targets is not None:
            packing = Packing.of(targets != IGNORED)
            token_ids, targets = token_ids[:, : packing.length], targets[:, : packing.length]
        past = caches[0].keys.shape[2] if caches and caches[0].keys is not None else 0
        end = past + token_ids.shape[1]
        if end > self.context_length:
            raise ValueError(f"{end} tokens do not fit into a context of {self.context_length}")
        positions = torch.arange(past, end, device=token_ids.device).expand(token_ids.shape)  # [B,T]
        if packing is not None:
            token_ids, positions = (ids.flatten()[packing.places] for ids in (token_ids, positions))  # [n]
        x = self.token_embedding(token_ids) + F.embedding(positions, self._positions())  # [B,T,C] or [n,C]
        for number, block in enumerate(self.blocks):
            x = block(x, packing, caches[number] if caches else None)
        logits = self.lm_head(self.final_norm(x))
        if targets is None or packing is None:
            return logits, None
        return logits, F.cross_entropy(logits, targets.flatten().index_select(0, packing.places))

    def _positions(self) -> torch.Tensor:
        learned = getattr(self, "position_embedding", None)
        return self.fixed_positions if learned is None else learned.weight
