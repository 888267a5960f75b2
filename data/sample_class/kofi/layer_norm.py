import torch
from torch import nn


def layer_norm(x, gamma, beta, eps=1e-5):
    mean = torch.mean(x, dim=-1, keepdim=True)
    # E[x^2] - E[x]^2 loses digits, so subtract the mean first
    centred = torch.sub(x, mean)
    variance = torch.mean(torch.pow(centred, 2), dim=-1, keepdim=True)
    normalized = torch.div(centred, torch.sqrt(variance + eps))
    return torch.add(torch.mul(normalized, gamma), beta)


class LayerNorm(nn.Module):
    def __init__(self, model_dim, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.full((model_dim,), 1.0))
        self.bias = nn.Parameter(torch.full((model_dim,), 0.0))

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, self.eps)
