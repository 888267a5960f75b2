"""Token and position embeddings (Week 8 §2-3, Day 3 ch. 5).

A token id picks the same row of the token table wherever it stands; the row for its place is what tells the first block
that "like" came second. Day 3 says `d_model` for model_dim, `block_size` for context_length and "positional encoding"
for the position rows.

Axes: B batch, T time, C model_dim, V vocab_size, L context_length.
"""

import torch
from torch import nn


def embed(token_ids: torch.Tensor, token_table: torch.Tensor, position_table: torch.Tensor) -> torch.Tensor:
    """Add the row of each token to the row of its place (Week 8 §3).

    Args:
        token_ids: [B,T], int64, each in 0 … V-1.
        token_table: [V,C], one row for each token of the vocabulary.
        position_table: [L,C], one row for each place, the first token's first.

    Returns:
        [B,T,C], in the dtype of the tables: row t of sequence b is the sum of the two rows.

    Raises:
        ValueError: T is larger than L, so that the last places have no row. The text names T and L.
    """
    # TODO: The two lookups ask different questions. What picks the row of each table?
    # TODO: Your sequence may be shorter than the position table. What if it is longer?
    raise NotImplementedError("embed")


class TokenPositionEmbedding(nn.Module):
    """The two tables of `embed` as trainable layers (Week 8 §3 and §14).

    Args:
        vocab_size: V, the number of rows of the token table.
        context_length: L, the number of rows of the position table.
        model_dim: C, the width of both.

    Attributes:
        token_embedding: nn.Embedding with a weight [V,C].
        position_embedding: nn.Embedding with a weight [L,C].
    """

    def __init__(self, vocab_size: int, context_length: int, model_dim: int) -> None:
        super().__init__()
        # TODO: Which two layers hold the tables? The optimizer must find both.
        raise NotImplementedError("TokenPositionEmbedding.__init__")

    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        """Map token_ids [B,T] to [B,T,C]; a T above the context length is a ValueError that names both."""
        # TODO: You have written the sum already. Where does an nn.Embedding keep its table?
        raise NotImplementedError("TokenPositionEmbedding.forward")


def sinusoidal_positions(length: int, model_dim: int) -> torch.Tensor:
    """Build the fixed table of sines and cosines (Day 3 ch. 5).

    Columns come in pairs. Pair i = 0 … model_dim/2 - 1 turns with the angle p / 10000^(2i/model_dim) at position p:
    column 2i holds its sine and column 2i+1 its cosine.

    Args:
        length: number of rows; position 0 is the first.
        model_dim: number of columns, even.

    Returns:
        [length, model_dim], float32.

    Raises:
        ValueError: model_dim is odd, so that one column would have no partner. The text names it.
    """
    # TODO: i counts pairs, not columns. How many different angles does one position need?
    # TODO: How do two arrays of C/2 columns become C columns that alternate?
    raise NotImplementedError("sinusoidal_positions")
