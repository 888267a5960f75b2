"""Oracle of `comparison`: the loss of the rig's model term by term in numpy, sizes by their formulas, float64.

The scores of the rig's model at a place are a row of `table`, chosen by the sum of all tokens up to there modulo V; in
training mode they are halved.
"""

import statistics

import numpy as np
import torch

IGNORED = -100


def evaluate(table: torch.Tensor, inputs: torch.Tensor, targets: torch.Tensor) -> float:
    """Mean negative log-likelihood of the targets that count."""
    scores, V = table.double().numpy(), len(table)
    log_p = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    terms = [
        -log_p[sum(row[: t + 1]) % V, target]
        for row, following in zip(inputs.tolist(), targets.tolist(), strict=True)
        for t, target in enumerate(following)
        if target != IGNORED
    ]
    return float(np.mean(terms))


def mini_gpt_sizes(V: int, L: int, C: int, num_layers: int, output_bias: bool) -> dict[str, int]:
    """The parts of a MiniGPT, by their formulas."""
    return {
        "token_embedding": V * C,
        "position_embedding": L * C,
        "blocks.*.ln1": num_layers * 2 * C,
        "blocks.*.attention.qkv": num_layers * 3 * C**2,
        "blocks.*.attention.output": num_layers * (C**2 + (C if output_bias else 0)),
        "blocks.*.ln2": num_layers * 2 * C,
        "blocks.*.ffn.expand": num_layers * (4 * C**2 + 4 * C),
        "blocks.*.ffn.project": num_layers * (4 * C**2 + C),
        "final_norm": 2 * C,
        "lm_head": C * V + V,
    }


def mean_and_error(losses: list[float]) -> tuple[float, float]:
    """By Python's statistics."""
    return statistics.fmean(losses), statistics.stdev(losses) / len(losses) ** 0.5
