"""Oracle for `multi_head` (Week 8 §4 and §10-11, Day 3 ch. 4): head by head, query by query, over the keys it sees."""

import torch


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    """[B,T,C] -> [B,H,T,D], float64, column slice by column slice."""
    return torch.stack(x.double().chunk(num_heads, dim=-1), dim=1)


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """[B,H,T,D] -> [B,T,C], float64, one head beside the other."""
    return torch.cat(x.double().unbind(1), dim=-1)


def causal_self_attention(
    x: torch.Tensor, qkv_weight: torch.Tensor, output_weight: torch.Tensor, num_heads: int
) -> torch.Tensor:
    """x [B,T,C], qkv_weight [3C,C] (rows Q, K, V), output_weight [C,C] -> [B,T,C], float64, without dropout."""
    x, qkv_weight, output_weight = x.double(), qkv_weight.double(), output_weight.double()
    T, C = x.shape[1:]
    D = C // num_heads
    heads = []
    for first in range(0, C, D):
        q, k, v = (x @ qkv_weight[start + first : start + first + D].T for start in (0, C, 2 * C))  # [B,T,D] each
        rows = []
        for t in range(T):
            scores = (k[:, : t + 1] * q[:, t : t + 1]).sum(-1) / D**0.5  # [B,t+1]
            weights = scores.softmax(-1)
            rows.append((weights[..., None] * v[:, : t + 1]).sum(1))  # [B,D]
        heads.append(torch.stack(rows, dim=1))
    return torch.cat(heads, dim=-1) @ output_weight.T
