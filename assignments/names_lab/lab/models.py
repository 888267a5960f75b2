"""The models of Day 3, built from settings: yours, or the lab's fast one."""

from __future__ import annotations

import torch
from torch import nn

from lab.fast import FastMiniGPT
from lab.modules import module
from lab.settings import Settings


def build(settings: Settings, vocab_size: int) -> nn.Module:
    """An untrained model; torch's global generator decides its weights."""
    if settings.model == "neural_bigram":
        return module("baselines").NeuralBigram(vocab_size)
    if settings.model == "mlp":
        sizes = (settings.window, settings.embedding_dim, settings.hidden_dim)
        return module("baselines").MLPLanguageModel(vocab_size, *sizes)
    if settings.fast:
        model = FastMiniGPT(settings, vocab_size, fixed_positions(settings))
    else:
        s = settings
        sizes = (s.context_length, s.model_dim, s.num_heads, s.num_layers)
        model = module("lm_head").MiniGPT(vocab_size, *sizes, s.dropout)
    start_small(model)
    return model


def fixed_positions(settings: Settings) -> torch.Tensor | None:
    """The table [L,C] of positions that are not learned; of zeros where there are none."""
    shape = (settings.context_length, settings.model_dim)
    if settings.positions == "sinusoidal":
        return module("embedding").sinusoidal_positions(*shape)
    return torch.zeros(shape) if settings.positions == "none" else None


def start_small(model: nn.Module) -> None:
    """Draw every matrix and table from a normal distribution of standard deviation 0.02, biases 0 (Day 3 ch. 7).

    Norms keep their ones. The order is that of the parameters, so that a seed gives models of one plan one start.
    """
    for path, weight in model.named_parameters():
        if weight.dim() > 1:
            nn.init.normal_(weight, std=0.02)
        elif path.endswith("bias"):
            nn.init.zeros_(weight)


def size(model: nn.Module) -> int:
    """The number of parameters."""
    return sum(module("comparison").parameter_breakdown(model).values())
