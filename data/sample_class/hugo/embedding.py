import torch
from torch import nn


def embed(token_ids, token_table, position_table):
    T = token_ids.size(1)
    if T > position_table.size(0):
        raise ValueError(f"{T} tokens do not fit into {position_table.size(0)} positions")
    return torch.stack([token_table[row] + position_table[:T] for row in token_ids])


class TokenPositionEmbedding(nn.Module):
    def __init__(self, vocab_size, context_length, model_dim):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, model_dim)
        self.position_embedding = nn.Embedding(context_length, model_dim)

    def forward(self, token_ids):
        return embed(token_ids, self.token_embedding.weight, self.position_embedding.weight)


def sinusoidal_positions(length, model_dim):
    if model_dim % 2:
        raise ValueError(f"model_dim {model_dim} must be even")
    i = torch.arange(model_dim // 2)
    angles = torch.arange(length)[:, None] / 10000 ** (2 * i / model_dim)
    return torch.stack((angles.sin(), angles.cos()), dim=2).reshape(length, model_dim)
