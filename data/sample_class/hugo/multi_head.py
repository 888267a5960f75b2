import torch
from torch import nn

from masked_softmax import causal_mask, masked_softmax


def split_heads(x, num_heads):
    B, T, C = x.shape
    if C % num_heads != 0:
        raise ValueError(f"{C} is not divisible by {num_heads}")
    return x.reshape(B, num_heads, T, C // num_heads)


def merge_heads(x):
    B, H, T, D = x.shape
    return x.reshape(B, T, H * D)


class CausalSelfAttention(nn.Module):
    def __init__(self, model_dim, num_heads, dropout):
        super().__init__()
        if model_dim % num_heads != 0:
            raise ValueError(f"{model_dim} is not divisible by {num_heads}")
        self.num_heads = num_heads
        self.qkv = nn.Linear(model_dim, 3 * model_dim, bias=False)
        self.output = nn.Linear(model_dim, model_dim, bias=False)
        self.attn_drop = nn.Dropout(dropout)
        self.out_drop = nn.Dropout(dropout)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = [split_heads(t, self.num_heads) for t in (q, k, v)]
        scores = torch.matmul(q, k.transpose(-2, -1)) / q.size(-1) ** 0.5
        weights = self.attn_drop(masked_softmax(scores, causal_mask(x.size(1))))
        return self.out_drop(self.output(merge_heads(torch.matmul(weights, v))))
