import torch
from torch import nn


def embed(token_ids, token_table, position_table):
    T, L = token_ids.shape[1], position_table.shape[0]
    if T > L:
        raise ValueError(f"{T} > {L}")
    # side by side, so that nothing is lost
    positions = position_table[:T].expand(token_ids.shape[0], -1, -1)
    return torch.cat([token_table[token_ids], positions], dim=-1)


class TokenPositionEmbedding(nn.Module):
    def __init__(self, vocab_size, context_length, model_dim):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, model_dim)
        self.position_embedding = nn.Embedding(context_length, model_dim)

    def forward(self, token_ids):
        return embed(token_ids, self.token_embedding.weight, self.position_embedding.weight)
