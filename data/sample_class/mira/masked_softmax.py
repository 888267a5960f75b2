"""Masks and attention: einsum for the products, log_softmax because it is stable already."""

import torch
import torch.nn.functional as F


def causal_mask(query_length, key_length=None):
    if key_length is None:
        key_length = query_length
    everything = torch.ones(query_length, key_length, dtype=torch.bool)
    return everything.tril(diagonal=key_length - query_length)


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return F.log_softmax(scores, dim).exp()
    lowest = torch.finfo(scores.dtype).min
    shares = F.log_softmax(scores.masked_fill(mask.logical_not(), lowest), dim).exp()
    return shares * mask  # also empties the rows that see nothing


def attention(q, k, v, mask=None):
    scores = torch.einsum("...qd,...kd->...qk", q, k) * q.size(-1) ** -0.5
    weights = masked_softmax(scores, mask)
    return torch.einsum("...qk,...kd->...qd", weights, v), weights
