"""Layer normalization (Week 8 §9, Day 3 ch. 6).

Every position's row of features is brought to mean 0 and variance 1 by itself, then stretched and shifted feature by
feature. Day 3 says `d_model` for model_dim. Write it out: torch's own layer norm is refused in this exercise.

Axes: "..." stands for any leading axes, such as B batch and T time; C is model_dim.
"""

import torch
from torch import nn


def layer_norm(x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """Normalize each row of x by its own mean and variance, then scale by γ and shift by β (Week 8 §9).

    Args:
        x: [...,C]; left as it is.
        gamma: [C], one factor for each feature.
        beta: [C], one summand for each feature.
        eps: added to the variance before the root is taken, so that a constant row does not divide by zero.

    Returns:
        The shape and dtype of x. The variance is the population variance: the mean of the C squared deviations.
    """
    # TODO: Over which axis do the numbers of one row lie, and how do you keep that axis for the subtraction?
    # TODO: C or C-1? And what does a row of equal numbers give?
    ### BEGIN SOLUTION
    deviation = x - x.mean(dim=-1, keepdim=True)
    variance = deviation.square().mean(dim=-1, keepdim=True)  # [...,1]
    return gamma * deviation / torch.sqrt(variance + eps) + beta
    ### END SOLUTION


class LayerNorm(nn.Module):
    """`layer_norm` with a γ and a β that are learned (Week 8 §9).

    Args:
        model_dim: C.
        eps: as in `layer_norm`.

    Attributes:
        weight: γ, a parameter [C] that starts as ones.
        bias: β, a parameter [C] that starts as zeros.
    """

    def __init__(self, model_dim: int, eps: float = 1e-5) -> None:
        super().__init__()
        # TODO: How does a module know that a tensor is to be trained?
        # TODO: With which values does the norm neither stretch nor shift?
        ### BEGIN SOLUTION
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(model_dim))
        self.bias = nn.Parameter(torch.zeros(model_dim))
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Normalize x [...,C]; the same in training and in evaluation."""
        # TODO: The function above does the work. What does this module have to hand it?
        ### BEGIN SOLUTION
        return layer_norm(x, self.weight, self.bias, self.eps)
        ### END SOLUTION
