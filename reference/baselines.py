"""Oracle of `baselines`: pairs counted one by one, rows of windows built token by token, layers in numpy, float64."""

from collections import Counter
from fractions import Fraction

import numpy as np
import torch

IGNORED = -100
State = dict[str, torch.Tensor]


def bigram_counts(inputs: torch.Tensor, targets: torch.Tensor, vocab_size: int) -> torch.Tensor:
    """[V,V], from a tally of pairs."""
    tally = Counter(zip(inputs.flatten().tolist(), targets.flatten().tolist(), strict=True))
    return torch.tensor([[tally[i, j] for j in range(vocab_size)] for i in range(vocab_size)])


def bigram_log_probabilities(counts: torch.Tensor, smoothing: float = 1.0) -> torch.Tensor:
    """[V,V], from exact fractions."""
    rows = []
    for row in counts.tolist():
        total = sum(row) + len(row) * Fraction(smoothing)
        rows.append([float(np.log(float((count + Fraction(smoothing)) / total))) for count in row])
    return torch.tensor(rows, dtype=torch.float64)


def windows(token_ids: torch.Tensor, window: int) -> torch.Tensor:
    """[B,T,W]."""
    rows = [[0] * window + row for row in token_ids.tolist()]
    return torch.tensor([[row[t + 1 : t + 1 + window] for t in range(len(row) - window)] for row in rows])


def mlp_logits(state: State, token_ids: torch.Tensor, window: int) -> torch.Tensor:
    """[B,T,V], one place at a time."""
    w = {name: entry.double().numpy() for name, entry in state.items()}
    B, T = token_ids.shape
    logits = np.empty((B, T, len(w["output.bias"])))
    for b, row in enumerate(windows(token_ids, window).tolist()):
        for t, seen in enumerate(row):
            side_by_side = np.concatenate([w["embedding.weight"][token] for token in seen])
            hidden = np.tanh(w["hidden.weight"] @ side_by_side + w["hidden.bias"])
            logits[b, t] = w["output.weight"] @ hidden + w["output.bias"]
    return torch.from_numpy(logits)


def mlp_gradients(state: State, token_ids: torch.Tensor, window: int, along: torch.Tensor) -> State:
    """Gradients of sum(logits * along), by parameter name."""
    w = {name: entry.double().requires_grad_() for name, entry in state.items()}
    rows = windows(token_ids, window)
    one_hot = torch.eye(len(w["embedding.weight"]), dtype=torch.float64)[rows]  # [B,T,W,V]
    embedded = torch.einsum("btwv,ve->btwe", one_hot, w["embedding.weight"]).reshape(*token_ids.shape, -1)
    hidden = (embedded @ w["hidden.weight"].T + w["hidden.bias"]).tanh()
    scalar = ((hidden @ w["output.weight"].T + w["output.bias"]) * along.double()).sum()
    return dict(zip(w, torch.autograd.grad(scalar, list(w.values())), strict=True))


def mean_loss(logits: torch.Tensor, targets: torch.Tensor) -> float:
    """Mean negative log-likelihood of the targets that count."""
    scores = logits.double().numpy()
    log_p = scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    return float(np.mean([-log_p[b, t, targets[b, t]] for b, t in np.argwhere(targets.numpy() != IGNORED)]))
