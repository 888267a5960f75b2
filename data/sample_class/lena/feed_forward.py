import math

import torch
from torch import nn


def gelu(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return 0.5 * x * (1 + torch.tanh(inner))


class FeedForward(nn.Module):
    def __init__(self, model_dim, dropout):
        super().__init__()
        self.expand = nn.Linear(model_dim, 4 * model_dim)
        self.project = nn.Linear(4 * model_dim, model_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.project(self.dropout(gelu(self.expand(x))))
