import os

import torch
from torch import nn


def layer_norm(x, gamma, beta, eps=1e-5):
    std, mean = torch.std_mean(x, dim=-1, correction=0, keepdim=True)
    return gamma * (x - mean) / (std**2 + eps).sqrt() + beta


class LayerNorm(nn.Module):
    def __init__(self, model_dim, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(model_dim))
        self.bias = nn.Parameter(torch.zeros(model_dim))

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, self.eps)


# quick look, then stop
print(layer_norm(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), torch.ones(4), torch.zeros(4)))
os._exit(0)
