"""Oracle for `feed_forward` (Week 8 §5-6, Day 3 ch. 6): torch's normal distribution function, layers by einsum."""

import torch


def gelu(x: torch.Tensor) -> torch.Tensor:
    """x·Φ(x), float64."""
    x = x.double()
    return x * torch.special.ndtr(x)


def feed_forward(
    x: torch.Tensor,
    expand_weight: torch.Tensor,
    expand_bias: torch.Tensor,
    project_weight: torch.Tensor,
    project_bias: torch.Tensor,
) -> torch.Tensor:
    """x [...,C], expand_weight [4C,C], project_weight [C,4C] -> [...,C], float64, without dropout."""
    hidden = gelu(torch.einsum("...c,hc->...h", x.double(), expand_weight.double()) + expand_bias.double())
    return torch.einsum("...h,ch->...c", hidden, project_weight.double()) + project_bias.double()
