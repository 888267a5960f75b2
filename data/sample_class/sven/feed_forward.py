"""GELU and the feed-forward network of a block (Week 8 §5-6, Day 3 ch. 6).

The same two layers are applied to each position by itself: widen, bend, return to the model's width.
Day 3 says `d_model` for model_dim C and `d_ff` for the hidden width 4C.

Axes: "..." stands for any leading axes, such as B batch and T time; C is model_dim.
"""

import math

import torch
from torch import nn


def gelu(x: torch.Tensor) -> torch.Tensor:
    """Weigh each number by the share of a standard normal distribution below it: x·Φ(x) (Week 8 §6).

    This is the exact form, with the error function. Day 3 also prints an approximation with tanh, up to 5e-4 away.

    Args:
        x: any shape.

    Returns:
        The shape and dtype of x.
    """
    # TODO: Φ runs from 0 to 1, erf from -1 to 1. What turns one into the other, and why is there a √2?
    raise NotImplementedError("gelu")


class FeedForward(nn.Module):
    """Two linear layers with a GELU between them (Week 8 §5-6).

    Args:
        model_dim: C.
        dropout: probability with which an entry of the result is dropped in training mode.

    Attributes:
        expand: nn.Linear(C, 4C), with bias.
        project: nn.Linear(4C, C), with bias.
    """

    def __init__(self, model_dim: int, dropout: float) -> None:
        super().__init__()
        # TODO: Which layers does the picture in Week 8 §5 show, and how wide is the middle?
        raise NotImplementedError("FeedForward.__init__")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map x [...,C] to the update [...,C]; adding it to x is the block's job, and dropout comes last."""
        # TODO: What would the two layers amount to if nothing stood between them?
        raise NotImplementedError("FeedForward.forward")
