"""Multi-head attention on top of scaled_dot_product_attention."""

import torch
import torch.nn.functional as F
from torch import nn


def split_heads(x, num_heads):
    width = x.size(-1)
    if width % num_heads:
        raise ValueError(f"cannot deal {width} features out to {num_heads} heads")
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=-1)


class CausalSelfAttention(nn.Module):
    def __init__(self, model_dim, num_heads, dropout):
        super().__init__()
        if model_dim % num_heads:
            raise ValueError(f"cannot deal {model_dim} features out to {num_heads} heads")
        self.heads, self.rate = num_heads, dropout
        self.qkv = nn.Linear(model_dim, 3 * model_dim, bias=False)
        self.output = nn.Linear(model_dim, model_dim, bias=False)

    def forward(self, x):
        q, k, v = (split_heads(one, self.heads) for one in self.qkv(x).chunk(3, dim=-1))
        rate = self.rate if self.training else 0.0
        read = F.scaled_dot_product_attention(q, k, v, dropout_p=rate, is_causal=True)
        return F.dropout(self.output(merge_heads(read)), self.rate, self.training)
