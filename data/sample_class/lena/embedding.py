import torch
from torch import nn


def embed(token_ids, token_table, position_table):
    T = token_ids.shape[-1]
    if T > position_table.shape[0]:
        raise ValueError(f"{T} tokens > {position_table.shape[0]} positions")
    out = token_table[token_ids]
    out += position_table[:T]
    return out


class TokenPositionEmbedding(nn.Module):
    def __init__(self, vocab_size, context_length, model_dim):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, model_dim)
        self.position_embedding = nn.Embedding(context_length, model_dim)

    def forward(self, token_ids):
        return embed(token_ids, self.token_embedding.weight, self.position_embedding.weight)


def sinusoidal_positions(length, model_dim):
    # TODO ask on Thursday how this one works
    raise NotImplementedError("sinusoidal_positions")
