"""Stand-in for `multi_head`: torch's fused attention, for exercises that build on it."""

import torch
import torch.nn.functional as F
from torch import nn


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    """[B,T,C] -> [B,H,T,D]."""
    if x.shape[-1] % num_heads:
        raise ValueError(f"{num_heads} heads do not divide {x.shape[-1]} features")
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """[B,H,T,D] -> [B,T,C]."""
    return x.transpose(1, 2).flatten(-2)


class CausalSelfAttention(nn.Module):
    """[B,T,C] -> [B,T,C]."""

    def __init__(self, model_dim: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        if model_dim % num_heads:
            raise ValueError(f"{num_heads} heads do not divide {model_dim} features")
        self.num_heads = num_heads
        self.dropout = dropout
        self.qkv = nn.Linear(model_dim, 3 * model_dim, bias=False)
        self.output = nn.Linear(model_dim, model_dim, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (split_heads(part, self.num_heads) for part in self.qkv(x).chunk(3, dim=-1))
        rate = self.dropout if self.training else 0.0
        heads = F.scaled_dot_product_attention(q, k, v, dropout_p=rate, is_causal=True)
        return F.dropout(self.output(merge_heads(heads)), self.dropout, self.training)
