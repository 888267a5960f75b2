"""Oracle for `sampling`: probabilities with numpy in float64, and the text that the suite's rig model continues."""

from collections.abc import Sequence

import numpy as np
import torch


def temperature_probabilities(logits: torch.Tensor, temperature: float) -> torch.Tensor:
    """[B,V]; temperature 0 puts everything on the highest score."""
    scores = logits.double().numpy()
    if temperature == 0:
        return torch.from_numpy(np.eye(scores.shape[-1])[scores.argmax(axis=-1)])
    scores = (scores - scores.max(axis=-1, keepdims=True)) / temperature
    weights = np.exp(scores)
    return torch.from_numpy(weights / weights.sum(axis=-1, keepdims=True))


def next_of(window: Sequence[int], vocab_size: int) -> int:
    """The token that the rig model ranks first after this window, in evaluation mode."""
    return (sum((place + 1) * token for place, token in enumerate(window)) + 3 * len(window)) % vocab_size


def continued(prompts: torch.Tensor, max_new_tokens: int, context_length: int, vocab_size: int) -> torch.Tensor:
    """Each prompt continued by the rig model's first choice [B,T+n]."""
    texts = prompts.tolist()
    for text in texts:
        for _ in range(max_new_tokens):
            text.append(next_of(text[max(len(text) - context_length, 0) :], vocab_size))
    return torch.tensor(texts)
