import torch
from torch import nn

import feed_forward
import layer_norm
import multi_head


def add_residual(x, update):
    if list(x.shape) != list(update.shape):
        raise ValueError(f"shapes differ: {tuple(x.shape)} vs {tuple(update.shape)}")
    return torch.add(x, update)


class TransformerBlock(nn.Module):
    def __init__(self, model_dim, num_heads, dropout):
        super().__init__()
        self.ln1 = layer_norm.LayerNorm(model_dim)
        self.attention = multi_head.CausalSelfAttention(model_dim, num_heads, dropout)
        self.ln2 = layer_norm.LayerNorm(model_dim)
        self.ffn = feed_forward.FeedForward(model_dim, dropout)

    def forward(self, x):
        middle = add_residual(x, self.attention(self.ln1(x)))
        return add_residual(middle, self.ffn(self.ln2(middle)))
