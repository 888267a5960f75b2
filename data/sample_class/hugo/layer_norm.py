import torch
from torch import nn


def layer_norm(x, gamma, beta, eps=1e-5):
    return nn.functional.layer_norm(x, x.shape[-1:], gamma, beta, eps)


class LayerNorm(nn.Module):
    def __init__(self, model_dim, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(model_dim))
        self.bias = nn.Parameter(torch.zeros(model_dim))
        self.eps = eps

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, self.eps)
