"""Oracle for `training`: the schedule, clipping, the mean loss and whole training runs, with numpy in float64.

The runs are those of the suite's rig model: the scores of input token i are `scale * (table[i] + bias)`, where `scale`
is 1 in evaluation mode and `TRAINING_SCALE` in training mode.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch

TRAINING_SCALE = 0.5
IGNORED = -100

Batch = tuple[torch.Tensor, torch.Tensor]


def learning_rate(step: int, peak: float, warmup_steps: int, total_steps: int, floor_ratio: float = 0.1) -> float:
    """Interpolated on the warm-up, a cosine of the remaining way, flat outside."""
    if step < warmup_steps:
        return float(np.interp(step + 1, [0, warmup_steps], [0.0, peak]))
    left = max(total_steps - step, 0) / max(total_steps - warmup_steps, 1)  # 1 at the top, 0 at the end
    return peak * (floor_ratio + (1 - floor_ratio) * math.sin(math.pi / 2 * left) ** 2)


def clip_gradients(
    gradients: Sequence[torch.Tensor | None], max_norm: float
) -> tuple[float, list[torch.Tensor | None]]:
    """The joint norm, and what the gradients are afterwards."""
    present = [gradient.double().numpy().ravel() for gradient in gradients if gradient is not None]
    norm = float(np.linalg.norm(np.concatenate(present))) if present else 0.0
    factor = min(1.0, max_norm / norm) if norm > 0 else 1.0
    return norm, [None if gradient is None else gradient.double() * factor for gradient in gradients]


def estimate_loss(table: torch.Tensor, bias: torch.Tensor, batches: Sequence[Batch], scale: float = 1.0) -> float:
    """Mean negative log-likelihood of every target that counts, over all batches together."""
    terms: list[float] = []
    for inputs, targets in batches:
        terms += _terms(_log_probabilities(table.double().numpy(), bias.double().numpy(), inputs, scale), targets)
    return float(np.mean(terms))


def train(
    table: torch.Tensor,
    bias: torch.Tensor,
    batches: Sequence[Batch],
    schedule: Callable[[int], float],
    max_norm: float,
) -> tuple[list[float], torch.Tensor, torch.Tensor]:
    """(losses, table, bias) after one plain gradient step on each batch, in training mode."""
    weights, offset = table.double().numpy().copy(), bias.double().numpy().copy()
    losses = []
    for step, (inputs, targets) in enumerate(batches):
        log_p = _log_probabilities(weights, offset, inputs, TRAINING_SCALE)
        losses.append(float(np.mean(_terms(log_p, targets))))
        from_table, from_bias = _gradients(log_p, inputs, targets, weights.shape[0])
        norm = math.sqrt((from_table**2).sum() + (from_bias**2).sum())
        rate = schedule(step) * min(1.0, max_norm / norm)
        weights -= rate * from_table
        offset -= rate * from_bias
    return losses, torch.from_numpy(weights), torch.from_numpy(offset)


def _log_probabilities(table: np.ndarray, bias: np.ndarray, inputs: torch.Tensor, scale: float) -> np.ndarray:
    scores = scale * (table[inputs.numpy()] + bias)  # [B,T,V]
    scores -= scores.max(axis=-1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))


def _terms(log_p: np.ndarray, targets: torch.Tensor) -> list[float]:
    places = np.argwhere(targets.numpy() != IGNORED)
    return [-log_p[b, t, targets[b, t]] for b, t in places]


def _gradients(
    log_p: np.ndarray, inputs: torch.Tensor, targets: torch.Tensor, vocab_size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Of the mean loss in training mode, for the table [V,V] and the bias [V]."""
    places = np.argwhere(targets.numpy() != IGNORED)
    from_table = np.zeros((vocab_size, vocab_size))
    for b, t in places:
        row = np.exp(log_p[b, t])
        row[targets[b, t]] -= 1
        from_table[inputs[b, t]] += TRAINING_SCALE * row / len(places)
    return from_table, from_table.sum(axis=0)
