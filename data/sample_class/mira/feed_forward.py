"""GELU by the distribution itself, and the feed-forward network."""

import torch
from torch import nn


def gelu(x):
    return x * torch.special.ndtr(x)


class FeedForward(nn.Module):
    def __init__(self, model_dim, dropout):
        super().__init__()
        self.expand = nn.Linear(model_dim, model_dim * 4)
        self.project = nn.Linear(model_dim * 4, model_dim)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        return self.drop(self.project(gelu(self.expand(x))))
