import torch
from torch import nn


def gelu(x):
    return torch.nn.functional.gelu(x)


class FeedForward(nn.Module):
    def __init__(self, model_dim, dropout):
        super().__init__()
        self.expand = nn.Linear(model_dim, 4 * model_dim)
        self.project = nn.Linear(4 * model_dim, model_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.dropout(self.project(gelu(self.expand(x))))
