import torch
from torch import nn


def embed(token_ids, token_table, position_table):
    B, T = token_ids.shape
    if T > position_table.shape[0]:
        raise ValueError("too long: %d tokens, room for %d" % (T, position_table.shape[0]))
    tokens = torch.index_select(token_table, 0, token_ids.reshape(-1)).reshape(B, T, -1)
    positions = torch.index_select(position_table, 0, torch.arange(T))
    return tokens + positions


class TokenPositionEmbedding(nn.Module):
    def __init__(self, vocab_size, context_length, model_dim):
        super().__init__()
        self.context_length = context_length
        self.token_embedding = nn.Embedding(vocab_size, model_dim)
        self.position_embedding = nn.Embedding(context_length, model_dim)

    def forward(self, token_ids):
        T = token_ids.shape[1]
        if T > self.context_length:
            raise ValueError("too long: %d tokens, room for %d" % (T, self.context_length))
        positions = torch.arange(T).unsqueeze(0)
        return self.token_embedding(token_ids).add(self.position_embedding(positions))


def sinusoidal_positions(length, model_dim):
    if model_dim % 2 != 0:
        raise ValueError("I need an even number of columns, not %d" % model_dim)
    column = torch.arange(model_dim)
    pair = torch.div(column, 2, rounding_mode="floor")
    position = torch.arange(length).reshape(-1, 1)
    angles = position * torch.pow(10000.0, -2.0 * pair / model_dim)
    # a cosine is a sine that is a quarter turn ahead
    return torch.where(column % 2 == 0, torch.sin(angles), torch.cos(angles))


print(sinusoidal_positions(2, 4))
