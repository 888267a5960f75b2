"""The pre-norm Transformer block (Week 8 §7-8 and §10-11, Day 3 ch. 6).

A block reads the residual stream twice and writes to it twice: attention lets positions exchange information,
then the feed-forward network works on each position alone. Every branch reads a normalized copy of the stream and
adds its update to the stream itself. Day 3 calls `model_dim` d_model, `num_heads` n_heads and the class Block.

Axes: B batch, T time, C = model_dim.
"""

import torch
from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head import CausalSelfAttention
from torch import nn


def add_residual(x: torch.Tensor, update: torch.Tensor) -> torch.Tensor:
    """Add a branch's update to the stream, element by element (Week 8 §7).

    Args:
        x: the stream, any shape, usually [B,T,C].
        update: what a branch computed from it, of exactly the same shape.

    Returns:
        A new tensor of that shape; `x` and `update` keep their values.

    Raises:
        ValueError: the shapes differ, even where PyTorch would stretch one to fit the other. The text names both.
    """
    # TODO: What does x + update do when one of the two has length 1 along an axis? Would you notice?
    raise NotImplementedError("add_residual")


class TransformerBlock(nn.Module):
    """One block: attention, then the feed-forward network, each on its own normalized copy of the stream.

    Args:
        model_dim: C, the width of the stream.
        num_heads: attention heads; C must be a multiple of it.
        dropout: probability handed to both branches. The stream itself is never dropped.

    Attributes:
        ln1: LayerNorm(C), read by the attention.
        attention: CausalSelfAttention.
        ln2: LayerNorm(C), read by the feed-forward network.
        ffn: FeedForward.
    """

    def __init__(self, model_dim: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        # TODO: Which four parts does a block own? Which of them need to know about dropout?
        raise NotImplementedError("TransformerBlock.__init__")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map the stream x [B,T,C] to the stream after both updates, [B,T,C] (Week 8 §8 and §10)."""
        # TODO: Which tensor does each branch read, and which tensor is its update added to?
        # TODO: If both branches returned zeros, what should come out?
        raise NotImplementedError("TransformerBlock.forward")
