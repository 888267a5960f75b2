"""Embeddings. Lookups with F.embedding, positions cut with narrow."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def embed(token_ids, token_table, position_table):
    steps, places = token_ids.size(1), position_table.size(0)
    if steps > places:
        raise ValueError(f"{steps} tokens, but there are rows for {places} positions only")
    return F.embedding(token_ids, token_table) + position_table.narrow(0, 0, steps).unsqueeze(0)


class TokenPositionEmbedding(nn.Module):
    def __init__(self, vocab_size, context_length, model_dim):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, model_dim)
        self.position_embedding = nn.Embedding(context_length, model_dim)

    def forward(self, token_ids):
        return embed(token_ids, self.token_embedding.weight, self.position_embedding.weight)


def sinusoidal_positions(length, model_dim):
    if model_dim % 2:
        raise ValueError(f"model_dim must be even, {model_dim} is not")
    speed = torch.exp(torch.arange(0, model_dim, 2) * (-math.log(10000.0) / model_dim))
    angle = torch.outer(torch.arange(length).float(), speed)  # one column per pair
    table = torch.empty(length, model_dim)
    table[:, 0::2] = angle.sin()
    table[:, 1::2] = angle.cos()
    return table
