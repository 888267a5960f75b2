"""The six experiments of Day 3 ch. 10, measured. Each takes `runs` and gives its table; `pictures` draws them.

With `full` they train as long as Day 3 does, without it for minutes in all. `python -m lab experiment NAME` runs one;
from Python, `experiment("dropout")` in `lab.experiment` gives table and figure.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch

from lab.faults import LabError
from lab.lists import NamesList
from lab.modules import module
from lab.runs import FAST, SHORT, Runs
from lab.settings import Settings
from lab.train import Trained
from lab.writing import write_names

Table = list[dict[str, Any]]
NAME = "isabella"
SIZES = {"Tiny": (32, 2, 2), "Small": (64, 4, 4), "Medium": (128, 4, 6), "Large": (256, 8, 8)}
TEMPERATURES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
DROPOUTS = (0.0, 0.1, 0.2, 0.3, 0.5)
CONSTANT = replace(FAST, total_steps=5000, warmup_steps=0, floor_ratio=1.0, max_norm=None)
CONSTANT_SHORT = replace(CONSTANT, total_steps=800, peak=1e-3, evaluate_every=200)
WRITTEN = 1000
"""Names at each temperature: their share of novel ones has a standard error of at most 1.6 percent."""


def _base(full: bool) -> Settings:
    return FAST if full else SHORT


def attention(runs: Runs, full: bool = False) -> Table:
    """Exercise 1: how much each place of a name reads of each other, in every head of every block."""
    encode, attention_maps = module("dataset").encode, module("experiments").attention_maps
    letters = [".", *NAME]
    try:
        tokens = torch.tensor([0, *encode(NAME, runs.data.vocabulary)])
    except ValueError as error:
        raise LabError(f"{runs.data.file} lacks letters of {NAME}: {error}") from None
    maps = attention_maps(runs.get(_base(full), "Mini GPT").model, tokens)
    return [
        {
            **{"layer": layer, "head": head, "place": t, "letter": letters[t]},
            **{"reads_place": s, "reads_letter": letters[s], "weight": float(maps[layer, head, t, s])},
        }
        for layer in range(maps.shape[0])
        for head in range(maps.shape[1])
        for t in range(len(letters))
        for s in range(t + 1)
    ]


def sizes(runs: Runs, full: bool = False) -> Table:
    """Exercise 2: Day 3's sizes, all but the largest without `full`."""
    table = []
    for title in [*SIZES] if full else [*SIZES][:3]:
        C, H, layers = SIZES[title]
        settings = replace(_base(full), model_dim=C, num_heads=H, num_layers=layers)
        settings = replace(settings, total_steps=5000) if full else settings
        table.append({"model": title, "model_dim": C, "num_layers": layers, **_measured(runs.get(settings, title))})
    return table


def temperature(runs: Runs, full: bool = False) -> Table:
    """Exercise 3: how undecided the model is, and what it writes.

    `novel` is the share of written names that are not in the training part, `known_elsewhere` the share of all that
    are in the validation or the test part: real names that the model has never seen.
    """
    trained, novelty = runs.get(_base(full), "Mini GPT"), module("experiments")
    scores = validation_scores(trained, runs.data)
    unseen = {name for part in ("validation", "test") for name in runs.data.names[part]}
    table = []
    for degree in TEMPERATURES:
        written = write_names(trained.model, runs.data, WRITTEN, degree)
        novel = novelty.share_of_novel(written, runs.data.names["training"])
        table.append(
            {
                "temperature": degree,
                "entropy": novelty.mean_entropy(scores, degree),
                "highest_entropy": math.log(len(runs.data.vocabulary)),
                "novel": novel,
                "standard_error": math.sqrt(novel * (1 - novel) / WRITTEN),
                "known_elsewhere": sum(name in unseen for name in written) / WRITTEN,
                "different": len(set(written)) / WRITTEN,
                "letters": sum(map(len, written)) / WRITTEN,
                "examples": " ".join(written[:6]),
            }
        )
    return table


@torch.inference_mode()
def validation_scores(trained: Trained, data: NamesList) -> torch.Tensor:
    """[N,V]: the scores at every place of the validation part that counts."""
    inputs, targets = data.examples["validation"]
    logits, _ = trained.model(inputs)
    return logits[targets != module("comparison").IGNORED]


def dropout(runs: Runs, full: bool = False) -> Table:
    """Exercise 4: training and validation loss, both of the finished model without dropout, and their difference."""
    gap = module("experiments").generalization_gap
    table = []
    for rate in DROPOUTS:
        trained = runs.get(replace(_base(full), dropout=rate), f"dropout {rate}")
        parts = (runs.data.examples["training"], runs.data.examples["validation"])
        table.append({"dropout": rate, **_measured(trained), "gap": gap(trained.model, *parts)})
    return table


def positions(runs: Runs, full: bool = False) -> Table:
    """Exercise 5: learned, sinusoidal and no positions; the loss at each place of a name, the first being place 1."""
    by_place = module("experiments").loss_by_place
    inputs, targets = runs.data.examples["validation"]
    counts = (targets != module("comparison").IGNORED).sum(dim=0).tolist()
    table = []
    for kind in ("learned", "sinusoidal", "none"):
        trained = runs.get(replace(_base(full), positions=kind), f"{kind} positions")
        for t, loss in enumerate(by_place(trained.model, inputs, targets).tolist()):
            row = {"positions": kind, "validation_loss": trained.losses["validation"], "place": t + 1, "loss": loss}
            table.append({**row, "predictions": counts[t]})
    return table


def scaling(runs: Runs, full: bool = False) -> Table:
    """Exercise 6: loss against size at Day 3's constant rate, with as many heads and layers as it takes."""
    base = CONSTANT if full else CONSTANT_SHORT
    table: Table = []
    for C in (16, 32, 48, 64, 96, 128) if full else (16, 32, 48, 64):
        depth = max(C // 16, 2)
        settings = replace(base, model_dim=C, num_heads=depth, num_layers=depth)
        table.append({"model_dim": C, "num_layers": depth, **_measured(runs.get(settings, f"model_dim {C}"))})
    return table


def scaling_line(table: Table) -> tuple[float, float, float]:
    """(slope, low, high) of log loss against log parameters, by your `scaling_fit`."""
    sizes, losses = ([row[name] for row in table] for name in ("parameters", "validation_loss"))
    return module("experiments").scaling_fit(sizes, losses)


def _measured(trained: Trained) -> dict[str, Any]:
    return {
        "parameters": trained.parameters,
        "training_loss": trained.losses["training"],
        "validation_loss": trained.losses["validation"],
        "tokens_per_second": round(trained.tokens_per_second),
    }


STUDIES = {study.__name__: study for study in (attention, sizes, temperature, dropout, positions, scaling)}
