"""The block: read a normalized copy, add what was learned from it."""

from torch import nn

from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head import CausalSelfAttention


def add_residual(x, update):
    if update.shape != x.shape:
        raise ValueError(f"cannot add an update of shape {list(update.shape)} to a stream of shape {list(x.shape)}")
    return x.add(update)


class TransformerBlock(nn.Module):
    def __init__(self, model_dim, num_heads, dropout):
        super().__init__()
        self.ln1, self.ln2 = LayerNorm(model_dim), LayerNorm(model_dim)
        self.attention = CausalSelfAttention(model_dim, num_heads, dropout)
        self.ffn = FeedForward(model_dim, dropout)

    def forward(self, x):
        for norm, branch in ((self.ln1, self.attention), (self.ln2, self.ffn)):
            x = add_residual(x, branch(norm(x)))
        return x
