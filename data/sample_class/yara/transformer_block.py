import torch
from torch import nn

from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head import CausalSelfAttention


def add_residual(x, update):
    if x.shape == update.shape:
        return x + update
    raise ValueError(f"stream {tuple(x.shape)}, update {tuple(update.shape)}")


class TransformerBlock(nn.Module):
    def __init__(self, model_dim, num_heads, dropout):
        super().__init__()
        self.ln1 = LayerNorm(model_dim)
        self.attention = CausalSelfAttention(model_dim, num_heads, dropout)
        self.ln2 = LayerNorm(model_dim)
        self.ffn = FeedForward(model_dim, dropout)

    def forward(self, x):
        x = add_residual(x, self.attention(self.ln1(x)))
        x = add_residual(x, self.ffn(self.ln2(x)))
        return x
