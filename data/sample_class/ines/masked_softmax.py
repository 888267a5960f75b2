import torch


def causal_mask(query_length, key_length=None):
    return torch.ones(1, query_length, key_length or query_length).tril() > 0


def masked_softmax(scores, mask=None, dim=-1):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim).sum(dim)


def attention(q, k, v, mask=None):
    return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1) @ v
