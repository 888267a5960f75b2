"""Names from a trained model: one row from the start token on, until it ends (Day 3 ch. 8 and exercise 3)."""

from __future__ import annotations

import torch
from torch import nn

from lab.fast import Cache, FastMiniGPT
from lab.lists import NamesList
from lab.modules import module

TEMPERATURES = (0.5, 0.75, 1.0, 1.25, 1.5)


def write_names(model: nn.Module, data: NamesList, count: int, temperature: float, seed: int = 0) -> list[str]:
    """`count` names, each from the start token alone, as training showed them.

    A name has at most as many letters as the longest of the list: no later place was ever trained. One that has not
    ended by then is cut there.
    """
    start = torch.zeros(count, 1, dtype=torch.int64)
    draws = torch.Generator().manual_seed(seed)
    if isinstance(model, FastMiniGPT):
        rows = generate(model, start, data.longest, temperature, draws)
    else:
        rows = module("sampling").generate(model, start, data.longest, data.longest, temperature, draws)
    decode = module("dataset").decode
    return [decode(row, data.vocabulary) for row in rows.tolist()]


@torch.inference_mode()
def generate(
    model: FastMiniGPT, token_ids: torch.Tensor, max_new_tokens: int, temperature: float, generator: torch.Generator
) -> torch.Tensor:
    """Like week08's `generate`, and the same tokens, with keys and values kept from step to step.

    The last of the new tokens is never read again, so [B,T] with T + max_new_tokens - 1 at most the context fits.

    Raises:
        ValueError: the rows would not fit into the context.
    """
    caches = [Cache() for _ in model.blocks]
    was_training, fresh = model.training, token_ids
    model.train(mode=False)
    try:
        for _ in range(max_new_tokens):
            logits, _ = model(fresh, caches=caches)
            fresh = module("sampling").sample_next(logits[:, -1], temperature, generator)  # [B,1]
            token_ids = torch.cat([token_ids, fresh], dim=1)
    finally:
        model.train(was_training)
    return token_ids
