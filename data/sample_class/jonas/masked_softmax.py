import torch


def causal_mask(query_length, key_length=None):
    Tq = query_length
    Tk = query_length if key_length is None else key_length
    mask = torch.zeros(Tq, Tk, dtype=torch.bool)
    for i in range(Tq):
        mask[i, : Tk - Tq + i + 1] = True
    return mask


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    hidden = mask.logical_not().expand(scores.shape)
    s = scores.clone()
    s[hidden] = float("-inf")
    top = s.max(dim=dim, keepdim=True).values
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp(s - top)
    total = e.sum(dim=dim, keepdim=True)
    return e / torch.where(total > 0, total, torch.ones_like(total))


def attention(q, k, v, mask=None):
    q = q / q.shape[-1] ** 0.5
    w = masked_softmax(torch.matmul(q, k.mT), mask)
    return torch.matmul(w, v), w
