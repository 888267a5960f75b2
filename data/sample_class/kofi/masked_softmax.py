import torch


def causal_mask(query_length, key_length=None):
    if key_length is None:
        key_length = query_length
    row = torch.arange(query_length).view(-1, 1)
    column = torch.arange(key_length).view(1, -1)
    return column - row <= key_length - query_length


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return torch.softmax(scores, dim=dim)
    masked = torch.where(mask, scores, torch.tensor(float("-inf"), dtype=scores.dtype))
    nothing_to_see = torch.all(~mask, dim=dim, keepdim=True) if mask.shape == scores.shape else None
    if nothing_to_see is None:
        nothing_to_see = torch.all(~mask.broadcast_to(scores.shape), dim=dim, keepdim=True)
    masked = torch.where(nothing_to_see, torch.zeros_like(scores), masked)
    weights = torch.softmax(masked, dim=dim)
    return torch.where(nothing_to_see, torch.zeros_like(weights), weights)


def attention(q, k, v, mask=None):
    scale = 1.0 / (k.shape[-1] ** 0.5)
    scores = scale * (q @ torch.swapaxes(k, -1, -2))
    weights = masked_softmax(scores, mask=mask, dim=-1)
    output = weights @ v
    return (output, weights)
