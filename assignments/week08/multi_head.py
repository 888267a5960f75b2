"""Causal multi-head self-attention (Week 8 §4 and §10-11, Day 3 ch. 4).

Every head attends with its own share of the features; the heads' results are then put side by side and mixed.
Day 3 says `d_model` for model_dim, `n_heads` for num_heads and d_k for the head size. Its W_Q, W_K and W_V are one
layer here; its W_O is `output`.

Axes: B batch, T time, C model_dim, H num_heads, D = C/H head_size.
"""

import math

import torch
from masked_softmax import causal_mask, masked_softmax
from torch import nn


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Deal the features of every position out to the heads (Week 8 §4, Day 3 ch. 4).

    Args:
        x: [B,T,C], contiguous in memory or not.
        num_heads: H.

    Returns:
        [B,H,T,D]: head h holds columns hD … (h+1)D-1 of x.

    Raises:
        ValueError: C is not divisible by H. The text names both.
    """
    # TODO: Memory is cut in order, the last axis fastest. Which axis can be cut in two without moving a number?
    # TODO: In which order do the axes stand then, and in which order should they?
    raise NotImplementedError("split_heads")


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """Put the heads side by side again, the inverse of `split_heads` (Week 8 §4).

    Args:
        x: [B,H,T,D], contiguous in memory or not.

    Returns:
        [B,T,C] with C = H·D.
    """
    # TODO: split_heads took two steps. What undoes the last one?
    raise NotImplementedError("merge_heads")


class CausalSelfAttention(nn.Module):
    """Self-attention in several heads, without a look ahead (Week 8 §10-11).

    Args:
        model_dim: C.
        num_heads: H; a C that it does not divide is a ValueError that names both.
        dropout: probability with which an attention weight, and an entry of the result, is dropped in training mode.

    Attributes:
        qkv: nn.Linear(C, 3C) without bias. The first C rows of its weight make the queries, the next C the keys and the
            last C the values.
        output: nn.Linear(C, C) without bias, applied to the merged heads.
    """

    def __init__(self, model_dim: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        # TODO: Which layers have weights, and which numbers will forward need again?
        raise NotImplementedError("CausalSelfAttention.__init__")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Let every position of x [B,T,C] read itself and the positions before it, head by head; returns [B,T,C]."""
        # TODO: Follow one position through Week 8 §4. After which line has it met the others?
        # TODO: The scale keeps q·k of one head in range. How many numbers does that product sum?
        # TODO: Which two tensors lose entries in training, and which layer does nothing in evaluation?
        raise NotImplementedError("CausalSelfAttention.forward")
