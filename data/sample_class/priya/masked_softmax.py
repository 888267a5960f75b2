import torch


def causal_mask(query_length, key_length=None):
    if key_length is None:
        key_length = query_length
    future = torch.ones(query_length, key_length).triu(key_length - query_length + 1)
    return future == 0


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None
        mask = torch.ones_like(scores).bool()
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return torch.softmax(scores, dim) * mask


def attention(q, k, v, mask=None):
    scores = q @ k.mT / k.shape[-1] ** 0.5
    weights = masked_softmax(scores, mask)
    return weights @ v, weights
