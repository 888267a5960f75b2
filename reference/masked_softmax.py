"""Oracle for `masked_softmax` (Week 8 §4 and §10, Day 3 ch. 2-3): log-sum-exp of the visible entries, einsum."""

import torch


def causal_mask(query_length: int, key_length: int | None = None) -> torch.Tensor:
    """[Tq,Tk] bool: a band of ones that ends in the lower right corner."""
    key_length = query_length if key_length is None else key_length
    return torch.ones(query_length, key_length).tril(key_length - query_length).bool()


def masked_softmax(scores: torch.Tensor, mask: torch.Tensor | None = None, dim: int = -1) -> torch.Tensor:
    """The shape of scores, float64. Differentiable; a row without a visible entry is zeros."""
    scores = scores.double()
    visible = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
    empty = ~visible.any(dim, keepdim=True)
    # In an empty row every entry counts, so that its log-sum-exp is finite; the row is blanked afterwards.
    counted = scores.masked_fill(~(visible | empty), -torch.inf)
    log_weights = counted - counted.logsumexp(dim, keepdim=True)
    return torch.where(visible, log_weights.exp(), 0.0)


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """output [...,Tq,Dv] and weights [...,Tq,Tk], float64."""
    scores = torch.einsum("...qd,...kd->...qk", q.double(), k.double()) * q.shape[-1] ** -0.5
    weights = masked_softmax(scores, mask)
    return torch.einsum("...qk,...kv->...qv", weights, v.double()), weights
