import torch
from torch import nn

from masked_softmax import causal_mask, masked_softmax


def split_heads(x, num_heads):
    B, T, C = x.shape
    D, rest = divmod(C, num_heads)
    if rest != 0:
        raise ValueError(f"{C} / {num_heads} leaves a rest of {rest}")
    return x.unflatten(2, (num_heads, D)).permute(0, 2, 1, 3)


def merge_heads(x):
    B, H, T, D = x.shape
    return x.permute(0, 2, 1, 3).reshape(B, T, H * D)


class CausalSelfAttention(nn.Module):
    def __init__(self, model_dim, num_heads, dropout):
        super().__init__()
        self.model_dim = model_dim
        self.num_heads = num_heads
        self.qkv = nn.Linear(model_dim, 3 * model_dim, bias=False)
        self.output = nn.Linear(model_dim, model_dim, bias=False)
        self.drop1 = nn.Dropout(dropout)
        self.drop2 = nn.Dropout(dropout)

    def forward(self, x):
        C = self.model_dim
        h = self.qkv(x)
        q = split_heads(h[..., :C], self.num_heads)
        k = split_heads(h[..., C : 2 * C], self.num_heads)
        v = split_heads(h[..., 2 * C :], self.num_heads)
        w = masked_softmax(torch.matmul(q, k.mT) * (self.num_heads / C) ** 0.5, causal_mask(x.shape[1]))
        y = merge_heads(torch.matmul(self.drop1(w), v))
        return self.drop2(self.output(y))
