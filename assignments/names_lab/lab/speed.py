"""How fast training and writing are: Day 3's module for each head, week08's modules and the lab's fast model, in turn.

All three start from the same weights and learn from the same names, so that their losses can be compared; with dropout
they draw different random numbers, so the losses are compared without it. Day 3's code and week08's get rows as long as
the longest name of the list, as `make_examples` makes them; the fast model leaves the padding out.
"""

from __future__ import annotations

import time
from dataclasses import replace
from statistics import median
from typing import Any

import torch
from torch import nn

from lab.fast import FastMiniGPT
from lab.lists import NamesList
from lab.models import build
from lab.modules import module
from lab.per_head import PerHeadGPT, per_head_weights
from lab.runs import FAST
from lab.settings import Settings
from lab.writing import generate

Table = list[dict[str, Any]]
PER_HEAD, WEEK08, FASTEST = "Day 3, a module for each head", "week08's modules", "the lab's fast model"


def models(settings: Settings, vocab_size: int) -> dict[str, nn.Module]:
    """The three models with one set of weights."""
    torch.manual_seed(settings.seed)
    fast = build(replace(settings, fast=True), vocab_size)
    week08 = build(replace(settings, fast=False), vocab_size)
    week08.load_state_dict(fast.state_dict())
    per_head = PerHeadGPT(settings, vocab_size)
    per_head.load_state_dict(per_head_weights(fast.state_dict(), settings.num_heads))
    return {PER_HEAD: per_head, WEEK08: week08, FASTEST: fast}


def losses(data: NamesList, steps: int, settings: Settings = FAST) -> dict[str, list[float]]:
    """The loss of each step of each model, without dropout: equal but for rounding."""
    return {
        title: _steps(model, data, settings, steps)[1]
        for title, model in models(replace(settings, dropout=0.0), len(data.vocabulary)).items()
    }


def training(data: NamesList, rounds: int = 5, steps: int = 20, settings: Settings = FAST) -> Table:
    """Targets learned from in a second, the median of some rounds in which the models take turns.

    Columns: model, tokens_per_second, times (as fast as Day 3's, the median of the rounds' own ratios), low and high
    (the least and the most of these ratios).
    """
    built = models(settings, len(data.vocabulary))
    for model in built.values():
        _steps(model, data, settings, 3)
    speeds: dict[str, list[float]] = {title: [] for title in built}
    for _ in range(rounds):
        for title, model in built.items():
            speeds[title].append(_steps(model, data, settings, steps)[0])
    return [_row(title, "tokens_per_second", speeds[title], speeds[PER_HEAD]) for title in built]


def _steps(model: nn.Module, data: NamesList, settings: Settings, steps: int) -> tuple[float, list[float]]:
    """Train for some steps on the first batches of the run's seed; returns the speed and the losses."""
    inputs, targets = data.examples["training"]
    drawn = torch.Generator().manual_seed(settings.seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.peak, fused=isinstance(model, FastMiniGPT))
    model.train(mode=True)
    counted, found, begun = 0, [], time.perf_counter()
    for _ in range(steps):
        rows = torch.randint(len(inputs), (settings.batch_size,), generator=drawn)
        batch, following = inputs[rows], targets[rows]
        _, loss = model(batch, following)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm or 1.0)
        optimizer.step()
        found.append(loss.item())
        counted += int((following != -100).sum())
    return counted / (time.perf_counter() - begun), found


def writing(data: NamesList, rounds: int = 5, names: int = 200, settings: Settings = FAST) -> Table:
    """Names in a second, the whole row computed again for every letter or with a KV cache, in turn.

    Columns as in `training`, and same_tokens: did both write the same?
    """
    model, start, length = models(settings, len(data.vocabulary))[FASTEST], torch.zeros(names, 1).long(), data.longest
    again = module("sampling").generate
    ways = {
        "computing every place again": lambda draw: again(model, start, length, length, 1.0, draw),
        "with a KV cache": lambda draw: generate(model, start, length, 1.0, draw),
    }
    speeds: dict[str, list[float]] = {way: [] for way in ways}
    same = True
    for seed in range(rounds):
        written = []
        for way, write in ways.items():
            begun = time.perf_counter()
            written.append(write(torch.Generator().manual_seed(seed)))
            speeds[way].append(names / (time.perf_counter() - begun))
        same = same and torch.equal(*written)
    first = speeds["computing every place again"]
    return [{**_row(way, "names_per_second", speeds[way], first), "same_tokens": same} for way in ways]


def _row(title: str, unit: str, speeds: list[float], first: list[float]) -> dict[str, Any]:
    ratios = [speed / base for speed, base in zip(speeds, first, strict=True)]
    times = {"times": round(median(ratios), 2), "low": round(min(ratios), 2), "high": round(max(ratios), 2)}
    return {"model": title, unit: round(median(speeds)), **times}
