"""Oracle for `embedding` (Week 8 §2-3, Day 3 ch. 5): lookups as one-hot products, waves as complex powers."""

import cmath

import torch


def embed(token_ids: torch.Tensor, token_table: torch.Tensor, position_table: torch.Tensor) -> torch.Tensor:
    """[B,T], [V,C], [L,C] -> [B,T,C], float64."""
    V, L = token_table.shape[0], position_table.shape[0]
    chosen = (token_ids[..., None] == torch.arange(V)).double()  # [B,T,V]
    placed = torch.eye(token_ids.shape[1], L, dtype=torch.float64)  # [T,L]
    return chosen @ token_table.double() + placed @ position_table.double()


def sinusoidal_positions(length: int, model_dim: int) -> torch.Tensor:
    """[length, model_dim], float64. Pair i of row p is the p-th power of e^(j·frequency): imaginary part, real part."""
    rows = []
    for position in range(length):
        row: list[float] = []
        for pair in range(model_dim // 2):
            turn = cmath.exp(1j * 10000.0 ** (-2 * pair / model_dim)) ** position
            row += [turn.imag, turn.real]
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float64)
