from torch import nn

from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head import CausalSelfAttention


def add_residual(x, update):
    if x.size() != update.size():
        raise ValueError(f"sizes {tuple(x.size())} and {tuple(update.size())} do not match")
    return x + update


class TransformerBlock(nn.Module):
    def __init__(self, model_dim, num_heads, dropout):
        super().__init__()
        self.ln1 = LayerNorm(model_dim)
        self.ln2 = LayerNorm(model_dim)
        self.attention = CausalSelfAttention(model_dim, num_heads, dropout)
        self.ffn = FeedForward(model_dim, dropout)

    def forward(self, x):
        after = add_residual(self.attention(self.ln1(x)), x)
        return add_residual(self.ffn(self.ln2(after)), after)
