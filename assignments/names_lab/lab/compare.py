"""Day 3's comparison of four models, measured: one loss for all, three seeds, the document's claims beside it (ch. 9).

Day 3 gives the MLP 64 predictions a step and the Mini GPT 64 names, which are about 456. So the MLP stands here twice
for each size: with 9 names a step, which are about 64 predictions, and with 64 names, as many as the Mini GPT learns
from. Its second size has as many parameters as the Mini GPT.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from lab.modules import module
from lab.runs import FAST, Runs
from lab.settings import Settings
from lab.side_by_side import Wanted, train_all
from lab.train import Trained

SEEDS = (1337, 1, 2)
_BASELINE = Settings(warmup_steps=0, floor_ratio=1.0, max_norm=None)
NEURAL_BIGRAM = replace(_BASELINE, model="neural_bigram", peak=1e-2)
MLP = replace(_BASELINE, model="mlp", peak=1e-3)


@dataclass(frozen=True)
class Entry:
    """A row of the table: a title, what Day 3 claims, the settings of its runs but for the seed, and the seeds."""

    title: str
    claim: str | None
    settings: Settings
    seeds: tuple[int, ...] = SEEDS


def entries(full: bool) -> list[Entry]:
    """The trained rows. The quick form takes a twentieth of the steps, the Mini GPT at a higher rate. The full form
    also shows, in one run, what that rate makes of all steps.
    """
    mini_gpt = FAST if full else replace(FAST, peak=1e-3, warmup_steps=50)
    rows = [
        Entry("neural bigram", "2.45", NEURAL_BIGRAM),
        Entry("MLP, window 8", "2.10", replace(MLP, batch_size=9)),
        Entry("MLP, window 8, as much data", None, MLP),
        Entry("MLP, window 32", None, replace(MLP, batch_size=9, window=32)),
        Entry("MLP, window 32, as much data", None, replace(MLP, window=32)),
        Entry("Mini GPT", "1.95", mini_gpt),
    ]
    if full:
        return [*rows, Entry("Mini GPT, peak rate 1e-3", None, replace(mini_gpt, peak=1e-3), SEEDS[:1])]
    return [replace(row, settings=replace(row.settings, total_steps=500, evaluate_every=100)) for row in rows]


def compare(
    runs: Runs, full: bool = False, jobs: int | None = None
) -> tuple[list[dict[str, Any]], dict[str, list[Trained]]]:
    """Train what is missing, `jobs` models at a time (one for each core); returns the table, and the trained models of
    each row.

    Columns: model, parameters, names_per_step, steps, runs, validation_loss (their mean), standard_error,
    training_loss, document (what Day 3 claims), tokens_per_second (targets learned from in a second of training, while
    as many models train as there are jobs).
    """
    train_all(runs, [one for entry in reversed(entries(full)) for one in _wanted(entry)], jobs)
    table, trained = [_counted(runs)], {}
    for entry in entries(full):
        trained[entry.title] = [runs.get(*one) for one in _wanted(entry)]
        table.append(_row(entry, trained[entry.title]))
    return table, trained


def _wanted(entry: Entry) -> list[Wanted]:
    return [(replace(entry.settings, seed=seed), f"{entry.title}, seed {seed}") for seed in entry.seeds]


def _row(entry: Entry, trained: list[Trained]) -> dict[str, Any]:
    losses = [run.losses["validation"] for run in trained]
    mean, error = module("comparison").mean_and_error(losses) if len(losses) > 1 else (losses[0], None)
    return {
        "model": entry.title,
        "parameters": trained[0].parameters,
        "names_per_step": entry.settings.batch_size,
        "steps": entry.settings.total_steps,
        "runs": len(losses),
        "validation_loss": mean,
        "standard_error": error,
        "training_loss": fmean(run.losses["training"] for run in trained),
        "document": entry.claim,
        "tokens_per_second": round(fmean(run.tokens_per_second for run in trained)),
    }


def _counted(runs: Runs) -> dict[str, Any]:
    """Bigrams counted, each pair once more than it occurs: nothing is trained, so there is nothing to repeat."""
    baselines, evaluate, V = module("baselines"), module("comparison").evaluate, len(runs.data.vocabulary)
    model = baselines.NeuralBigram(V)
    counts = baselines.bigram_counts(*runs.data.examples["training"], V)
    model.load_state_dict({"table.weight": baselines.bigram_log_probabilities(counts)})
    return {
        "model": "bigram, counted",
        "parameters": V * V,
        "names_per_step": None,
        "steps": None,
        "runs": None,
        "validation_loss": evaluate(model, *runs.data.examples["validation"]),
        "standard_error": None,
        "training_loss": evaluate(model, *runs.data.examples["training"]),
        "document": "2.45",
        "tokens_per_second": None,
    }
