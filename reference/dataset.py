"""Oracle of `dataset`: characters counted with numpy, a shuffle exchange by exchange, rows filled place by place."""

import random
from itertools import pairwise

import numpy as np
import torch

BOUNDARY, IGNORED = ".", -100


def build_vocabulary(names: list[str]) -> list[str]:
    """The boundary, then numpy's sorted unique characters."""
    return [BOUNDARY, *np.unique(np.array(list("".join(names)))).tolist()]


def encode(text: str, vocabulary: list[str]) -> list[int]:
    """Each character's place."""
    return [vocabulary.index(character) for character in text]


def decode(token_ids: list[int], vocabulary: list[str]) -> str:
    """Spelled out with its boundaries, then cut at them."""
    spelled = "".join(vocabulary[token] for token in token_ids)
    return spelled.removeprefix(BOUNDARY).partition(BOUNDARY)[0]


def split_names(names: list[str], seed: int) -> list[list[str]]:
    """The three parts, by the place that each name has after the shuffle."""
    order: list[str] = []
    for name in names:
        if name not in order:
            order.append(name)
    chance, n = random.Random(seed), len(order)
    for last in range(n - 1, 0, -1):
        other = chance.randrange(last + 1)
        order[last], order[other] = order[other], order[last]
    tenths = [10 * order.index(name) for name in names]
    bounds = [0, 10 * (8 * n // 10), 10 * (9 * n // 10), 10 * n]
    return [
        [name for name, at in zip(names, tenths, strict=True) if low <= at < high] for low, high in pairwise(bounds)
    ]


def make_examples(names: list[str], vocabulary: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    """(inputs [N,T], targets [N,T]), pair by pair of neighbours in ".name."."""
    shape = len(names), 1 + max(map(len, names))
    inputs, targets = np.full(shape, vocabulary.index(BOUNDARY)), np.full(shape, IGNORED)
    for row, name in enumerate(names):
        text = BOUNDARY + name + BOUNDARY
        for place, (here, following) in enumerate(pairwise(text)):
            inputs[row, place], targets[row, place] = vocabulary.index(here), vocabulary.index(following)
    return torch.from_numpy(inputs).long(), torch.from_numpy(targets).long()


def prepare(names: list[str], seed: int) -> tuple[list[str], list[tuple[torch.Tensor, torch.Tensor]]]:
    """The vocabulary of all names, and the examples of the three parts."""
    vocabulary = build_vocabulary(names)
    return vocabulary, [make_examples(part, vocabulary) for part in split_names(names, seed)]
