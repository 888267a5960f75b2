import torch
from torch import nn

from masked_softmax import causal_mask, masked_softmax


def split_heads(x, num_heads):
    B, T, C = x.shape
    if C % num_heads:
        raise ValueError(f"C={C} is not divisible by H={num_heads}")
    return x.reshape(B, T, num_heads, -1).movedim(2, 1)


def merge_heads(x):
    return x.movedim(1, 2).flatten(start_dim=2)


class CausalSelfAttention(nn.Module):
    def __init__(self, model_dim, num_heads, dropout):
        super().__init__()
        if model_dim % num_heads:
            raise ValueError(f"C={model_dim} is not divisible by H={num_heads}")
        self.num_heads = num_heads
        self.qkv = nn.Linear(model_dim, 3 * model_dim, bias=False)
        self.output = nn.Linear(model_dim, model_dim, bias=False)
        self.dropout_weights = nn.Dropout(dropout)
        self.dropout_output = nn.Dropout(dropout)

    def forward(self, x):
        T, H = x.shape[1], self.num_heads
        q, k, v = self.qkv(x).split(x.shape[2], dim=2)
        q, k, v = split_heads(q, H), split_heads(k, H), split_heads(v, H)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        weights = self.dropout_weights(masked_softmax(scores, causal_mask(T)))
        return self.dropout_output(self.output(merge_heads(weights @ v)))
