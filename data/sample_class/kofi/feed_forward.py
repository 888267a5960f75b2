import torch
from torch import nn


def gelu(x):
    normal = torch.distributions.Normal(0.0, 1.0)
    return x * normal.cdf(x)


class FeedForward(nn.Module):
    def __init__(self, model_dim, dropout):
        super().__init__()
        self.expand = nn.Linear(model_dim, 4 * model_dim)
        self.project = nn.Linear(4 * model_dim, model_dim)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x):
        x = self.expand(x)
        x = gelu(x)
        x = self.project(x)
        x = self.dropout(x)
        return x
