import torch


def causal_mask(query_length, key_length=None):
    Tk = key_length if key_length is not None else query_length
    return torch.ones(query_length, Tk, dtype=torch.bool).tril(Tk - query_length)


def masked_softmax(scores, mask=None, dim=-1):
    weights = torch.softmax(scores, dim=dim)
    if mask is not None:
        weights = weights * mask
    return weights


def attention(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-2, -1)) / q.size(-1) ** 0.5
    weights = masked_softmax(scores, mask)
    return torch.matmul(weights, v), weights
