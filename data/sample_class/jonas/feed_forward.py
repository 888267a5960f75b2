import torch
from torch import nn


def gelu(x):
    return 0.5 * x * torch.erfc(-x * 2**-0.5)


class FeedForward(nn.Module):
    def __init__(self, model_dim, dropout):
        super().__init__()
        hidden = 4 * model_dim
        self.expand = nn.Linear(model_dim, hidden, bias=True)
        self.project = nn.Linear(hidden, model_dim, bias=True)
        self.p = dropout

    def forward(self, x):
        y = self.project(gelu(self.expand(x)))
        return nn.functional.dropout(y, p=self.p, training=self.training)
