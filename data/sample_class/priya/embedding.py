import torch
from torch import nn


def embed(token_ids, token_table, position_table):
    T, L = token_ids.shape[1], position_table.shape[0]
    if T > L:
        raise ValueError(f"T={T} does not fit, L={L}")
    return token_table[token_ids] + position_table[None, :T, :]


class TokenPositionEmbedding(nn.Module):
    def __init__(self, vocab_size, context_length, model_dim):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, model_dim)
        self.position_embedding = nn.Embedding(context_length, model_dim)

    def forward(self, token_ids):
        return embed(token_ids, self.token_embedding.weight, self.position_embedding.weight)


def sinusoidal_positions(length, model_dim):
    if model_dim % 2:
        raise ValueError(f"model_dim={model_dim} is odd")
    pos = torch.arange(length).unsqueeze(1)
    div = 10000 ** (torch.arange(0, model_dim, 2) / model_dim)
    pe = torch.zeros(length, model_dim)
    pe[:, 0::2] = torch.sin(pos / div)
    pe[:, 1::2] = torch.cos(pos / div)
    return pe
