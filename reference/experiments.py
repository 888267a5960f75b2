"""Oracle of `experiments`: numpy in float64, one head, one place, one part at a time.

`Table` and `Model` are those of the suite's rig: the scores of `Table` at a place are a row of its table, chosen by the
sum of all tokens up to there modulo V.
"""

import math

import numpy as np
import torch

IGNORED = -100
State = dict[str, torch.Tensor]


def attention_maps(state: State, token_ids: torch.Tensor, num_heads: int, num_layers: int) -> torch.Tensor:
    """[num_layers,H,T,T] of the rig's Model."""
    w = {name: entry.double().numpy() for name, entry in state.items()}
    x = w["token_embedding.weight"][token_ids.numpy()] + w["position_embedding.weight"][: len(token_ids)]
    T, C = x.shape
    D = C // num_heads
    maps = np.zeros((num_layers, num_heads, T, T))
    for layer in range(num_layers):
        q, k, v = np.split(np.tanh(x) @ w[f"blocks.{layer}.attention.qkv.weight"].T, 3, axis=1)
        update = np.zeros_like(x)
        for h in range(num_heads):
            columns = slice(h * D, (h + 1) * D)
            for t in range(T):
                weights = np.exp(k[: t + 1, columns] @ q[t, columns] / math.sqrt(D))
                maps[layer, h, t, : t + 1] = weights / weights.sum()
            update[:, columns] = maps[layer, h] @ v[:, columns]
        x = x + update @ w[f"blocks.{layer}.attention.output.weight"].T
    return torch.from_numpy(maps)


def model_size(V: int, L: int, C: int, num_layers: int, output_bias: bool = False) -> int:
    """Shapes of all tensors, multiplied out and added up."""
    block = [(C,), (C,), (3 * C, C), (C, C), (C,), (C,), (4 * C, C), (4 * C,), (C, 4 * C), (C,)]
    block += [(C,)] if output_bias else []
    shapes = [(V, C), (L, C), *block * num_layers, (C,), (C,), (V, C), (V,)]
    return sum(math.prod(shape) for shape in shapes)


def mean_entropy(logits: torch.Tensor, temperature: float) -> float:
    """log(sum of exponentials) minus the mean score, row by row."""
    scores = logits.double().numpy() / temperature
    scores -= scores.max(axis=1, keepdims=True)
    weights = np.exp(scores)
    total = weights.sum(axis=1)
    return float(np.mean(np.log(total) - (weights * scores).sum(axis=1) / total))


def loss_terms(table: torch.Tensor, inputs: torch.Tensor, targets: torch.Tensor) -> list[tuple[int, float]]:
    """(place, loss) of every target that counts, for the rig's Table."""
    scores, V = table.double().numpy(), len(table)
    log_p = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    return [
        (t, -log_p[sum(row[: t + 1]) % V, target])
        for row, following in zip(inputs.tolist(), targets.tolist(), strict=True)
        for t, target in enumerate(following)
        if target != IGNORED
    ]


def evaluate(table: torch.Tensor, inputs: torch.Tensor, targets: torch.Tensor) -> float:
    """The mean of all of them."""
    return float(np.mean([loss for _, loss in loss_terms(table, inputs, targets)]))


def loss_by_place(table: torch.Tensor, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """[T]: the mean at each place, 0 where there is none."""
    found: list[list[float]] = [[] for _ in range(inputs.shape[1])]
    for place, loss in loss_terms(table, inputs, targets):
        found[place].append(loss)
    return torch.tensor([float(np.mean(losses)) if losses else 0.0 for losses in found], dtype=torch.float64)


def scaling_fit(sizes: list[int], losses: list[float]) -> tuple[float, float, float]:
    """(slope, low, high), by numpy's least squares and its covariance."""
    x, y = np.log(sizes), np.log(losses)
    design = np.stack([x, np.ones_like(x)], axis=1)
    solution, *_ = np.linalg.lstsq(design, y, rcond=None)
    degrees = len(x) - 2
    variance = float(np.sum((y - design @ solution) ** 2)) / degrees
    error = math.sqrt(variance * np.linalg.inv(design.T @ design)[0, 0])
    width = _t_95(degrees) * error
    return float(solution[0]), float(solution[0]) - width, float(solution[0]) + width


def _t_95(degrees: int) -> float:
    """The value that Student's t exceeds, on either side, in 5 of 100 cases; found by halving."""
    norm = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    nodes, weights = np.polynomial.legendre.leggauss(200)

    def inside(t: float) -> float:
        angle = math.atan(t / math.sqrt(degrees))  # with x = sqrt(degrees) tan(a) the density becomes cos(a)^(d-1)
        at = angle / 2 * (nodes + 1)
        return 2 * norm * math.sqrt(degrees) * angle / 2 * float(weights @ np.cos(at) ** (degrees - 1))

    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) < 0.95 else (low, middle)
    return low
