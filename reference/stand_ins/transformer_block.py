"""Stand-in for `transformer_block`: torch's own layers under the course's names."""

from collections import OrderedDict

import torch
from torch import nn
from torch.nn import functional as F


def add_residual(x: torch.Tensor, update: torch.Tensor) -> torch.Tensor:
    """The sum of two tensors of one shape."""
    if x.shape != update.shape:
        raise ValueError(f"shapes differ: {tuple(x.shape)} and {tuple(update.shape)}")
    return x + update


class _Attention(nn.Module):
    def __init__(self, model_dim: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        self.num_heads, self.dropout = num_heads, dropout
        self.qkv = nn.Linear(model_dim, 3 * model_dim, bias=False)
        self.output = nn.Linear(model_dim, model_dim, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(x).unflatten(-1, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4)  # [B,H,T,D] each
        rate = self.dropout if self.training else 0.0
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=rate)
        return F.dropout(self.output(heads.transpose(1, 2).flatten(2)), self.dropout, self.training)


class TransformerBlock(nn.Module):
    """Pre-norm block with `ln1`, `attention`, `ln2` and `ffn`; x [B,T,C] -> [B,T,C]."""

    def __init__(self, model_dim: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        self.ln1 = nn.LayerNorm(model_dim)
        self.attention = _Attention(model_dim, num_heads, dropout)
        self.ln2 = nn.LayerNorm(model_dim)
        self.ffn = nn.Sequential(
            OrderedDict(
                expand=nn.Linear(model_dim, 4 * model_dim),
                activation=nn.GELU(),
                project=nn.Linear(4 * model_dim, model_dim),
                dropout=nn.Dropout(dropout),
            )
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.ln1(x))
        return x + self.ffn(self.ln2(x))
