"""The batch and the weights that Week 8 fixes by hand (§1, §3, §10 and §13). They were chosen, not learned.

Query, key and value of a row are the row itself, and the output projection changes nothing. The FFN copies four
features into the first four of sixteen and hands a quarter of them back. All biases but the output head's are 0.

Axes: B prompts, T positions, C features of a row, V words. nn.Linear keeps a weight as [out,in].
"""

from __future__ import annotations

from typing import NamedTuple

import torch

WORDS = ("you", "like", "AI", "study", "we")
PROMPTS = ("A: you like", "B: we like")
TOKEN_IDS = torch.tensor([[0, 1], [4, 1]])  # [B,T]
TOKENS = torch.tensor(  # [V,C], a row for each word
    [
        [0.2, -0.1, 0.7, 0.3],
        [0.6, 0.3, -0.2, 0.1],
        [-0.4, 0.8, 0.5, -0.3],
        [0.1, 0.2, 0.9, 0.4],
        [-0.7, 0.4, 0.3, 0.6],
    ]
)
POSITIONS = torch.tensor([[0.05, 0.1, -0.05, 0.0], [-0.1, 0.0, 0.05, 0.1]])  # [T,C], a row for each place
SCORING = torch.tensor(  # [V,C], a scoring vector for each word
    [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 2.0, 2.0],
        [0.0, 0.0, 1.0, 1.0],
        [0.0, 3.0, -1.0, 0.0],
        [1.0, 2.0, 0.0, 0.0],
    ]
)
BIAS = torch.tensor([-0.2, 0.1, 0.0, 0.0, 0.0])  # [V]
GAMMA, BETA = torch.ones(4), torch.zeros(4)
EXPAND, PROJECT = torch.eye(16, 4), 0.25 * torch.eye(4, 16)


class Layer(NamedTuple):
    """How a layer of the exercises is made: the arguments of its class, and its weights by name."""

    sizes: tuple[int | float, ...]
    weights: dict[str, torch.Tensor]


def within(**parts: Layer) -> dict[str, torch.Tensor]:
    """The weights of parts, under the names that they have in the whole."""
    return {f"{part}.{name}": value for part, layer in parts.items() for name, value in layer.weights.items()}


NORM = Layer((4,), {"weight": GAMMA, "bias": BETA})
ATTENTION = Layer((4, 2, 0.0), {"qkv.weight": torch.eye(4).repeat(3, 1), "output.weight": torch.eye(4)})
FFN = Layer(
    (4, 0.0),
    {
        "expand.weight": EXPAND,
        "expand.bias": torch.zeros(16),
        "project.weight": PROJECT,
        "project.bias": torch.zeros(4),
    },
)
BLOCK = Layer((4, 2, 0.0), within(ln1=NORM, attention=ATTENTION, ln2=NORM, ffn=FFN))
EMBEDDING = Layer((5, 2, 4), {"token_embedding.weight": TOKENS, "position_embedding.weight": POSITIONS})
MODEL = Layer(
    (5, 2, 4, 2, 1, 0.0),
    {
        **EMBEDDING.weights,
        **within(**{"blocks.0": BLOCK, "final_norm": NORM}),
        **{"lm_head.weight": SCORING, "lm_head.bias": BIAS},
    },
)
