from torch import nn

from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head import CausalSelfAttention


def add_residual(x, update):
    return x + update


class TransformerBlock(nn.Module):
    def __init__(self, model_dim, num_heads, dropout):
        super().__init__()
        self.ln1 = LayerNorm(model_dim)
        self.attention = CausalSelfAttention(model_dim, num_heads, dropout)
        self.ln2 = LayerNorm(model_dim)
        self.ffn = FeedForward(model_dim, dropout)

    def forward(self, x):
        # normalize after adding, as in the picture of the 2017 paper
        x = self.ln1(add_residual(x, self.attention(x)))
        return self.ln2(add_residual(x, self.ffn(x)))
