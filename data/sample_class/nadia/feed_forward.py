import torch
from torch import nn


def gelu(x):
    phi = (1 + torch.special.erf(x * 0.5**0.5)) / 2
    return phi * x


class FeedForward(nn.Module):
    def __init__(self, model_dim, dropout):
        super().__init__()
        self.expand = nn.Linear(model_dim, 4 * model_dim)
        self.project = nn.Linear(4 * model_dim, model_dim)
        self.last = nn.Dropout(dropout)

    def forward(self, x):
        return self.last(self.project(gelu(self.expand(x))))
