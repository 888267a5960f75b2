import math

import torch


def causal_mask(query_length, key_length=None):
    key_length = key_length or query_length
    return torch.tril(torch.ones(query_length, key_length)).bool()


def masked_softmax(scores, mask=None, dim=-1):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return torch.softmax(scores, dim=dim)


def attention(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    weights = masked_softmax(scores, mask)
    return weights @ v, weights
