from torch import nn

from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head import CausalSelfAttention


def add_residual(x, update):
    same = x.dim() == update.dim() and all(a == b for a, b in zip(x.shape, update.shape))
    if not same:
        raise ValueError("cannot add %s and %s" % (list(x.shape), list(update.shape)))
    result = x.clone()
    result += update
    return result


class TransformerBlock(nn.Module):
    def __init__(self, model_dim, num_heads, dropout):
        super().__init__()
        self.ln1 = LayerNorm(model_dim)
        self.attention = CausalSelfAttention(model_dim, num_heads, dropout)
        self.ln2 = LayerNorm(model_dim)
        self.ffn = FeedForward(model_dim, dropout)

    def forward(self, x):
        update = self.attention(self.ln1(x))
        x = add_residual(x, update)
        update = self.ffn(self.ln2(x))
        x = add_residual(x, update)
        return x
