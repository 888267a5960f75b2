import torch
from torch import nn


def embed(token_ids, token_table, position_table):
    B, T = token_ids.shape
    V, C = token_table.shape
    L = len(position_table)
    if T > L:
        raise ValueError("sequence length " + str(T) + " > context length " + str(L))
    # a lookup is a product with one-hot rows
    one_hot = torch.zeros(B, T, V, dtype=token_table.dtype)
    one_hot.scatter_(2, token_ids.unsqueeze(2), 1)
    return one_hot @ token_table + position_table[:T].expand(B, T, C)


class TokenPositionEmbedding(nn.Module):
    def __init__(self, vocab_size, context_length, model_dim):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, model_dim)
        self.position_embedding = nn.Embedding(context_length, model_dim)

    def forward(self, token_ids):
        T, L = token_ids.shape[1], self.position_embedding.num_embeddings
        if T > L:
            raise ValueError("sequence length " + str(T) + " > context length " + str(L))
        where = torch.arange(T, device=token_ids.device)
        return self.token_embedding(token_ids) + self.position_embedding(where)


def sinusoidal_positions(length, model_dim):
    if model_dim % 2 == 1:
        raise ValueError("width " + str(model_dim) + " is odd")
    p = torch.arange(length, dtype=torch.float64)
    columns = []
    for i in range(model_dim // 2):
        angle = p / 10000 ** (2 * i / model_dim)
        columns += [angle.sin(), angle.cos()]
    return torch.stack(columns, dim=1).float()
