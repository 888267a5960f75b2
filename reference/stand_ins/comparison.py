"""Stand-in for `comparison`: the loss by torch's own summed cross-entropy, for exercises that build on it."""

import torch
from torch import nn
from torch.nn import functional as F


@torch.no_grad()
def evaluate(model: nn.Module, inputs: torch.Tensor, targets: torch.Tensor, batch_size: int = 512) -> float:
    """Mean negative log-likelihood of the targets other than -100, in evaluation mode; modes as found afterwards."""
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        logits = torch.cat([model(rows)[0] for rows in inputs.split(batch_size)])
    finally:
        for module, mode in modes.items():
            module.training = mode
    return F.cross_entropy(logits.flatten(0, 1).double(), targets.flatten()).item()
