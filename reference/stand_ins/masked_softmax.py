"""Stand-in for `masked_softmax`: torch's own softmax and attention, for exercises that build on it."""

import torch
import torch.nn.functional as F


def causal_mask(query_length: int, key_length: int | None = None) -> torch.Tensor:
    """[Tq,Tk] bool, True = visible, aligned to the end."""
    key_length = query_length if key_length is None else key_length
    return torch.ones(query_length, key_length, dtype=torch.bool).tril(key_length - query_length)


def masked_softmax(scores: torch.Tensor, mask: torch.Tensor | None = None, dim: int = -1) -> torch.Tensor:
    """Softmax over the visible entries; hidden entries and rows without a visible one are 0."""
    if mask is None:
        return F.softmax(scores, dim)
    lowest = torch.finfo(scores.dtype).min
    return F.softmax(scores.masked_fill(~mask, lowest), dim).masked_fill(~mask, 0.0)


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scaled dot-product attention: (output, weights)."""
    weights = masked_softmax(q @ k.mT / q.shape[-1] ** 0.5, mask)
    return weights @ v, weights
