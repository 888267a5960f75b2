"""The lab's fast model is week08's function of the same weights, and its measurements are what they say."""

from __future__ import annotations

import csv
import math
import multiprocessing
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from the_lab import FAST, SMALL, TINY_FAST, short_list

from lab import compare, experiment, speed, studies
from lab.faults import LabError
from lab.lists import load_list
from lab.models import build, size
from lab.modules import module
from lab.progress import Silent
from lab.runs import Runs
from lab.settings import Settings
from lab.side_by_side import train_all
from lab.trainer import Trainer
from lab.writing import generate, write_names

IDS = torch.randint(27, (5, 16), generator=torch.Generator().manual_seed(3))
REAL = torch.tensor([16, 3, 7, 1, 9])
TARGETS = IDS.roll(-1, 1).masked_fill(torch.arange(16) >= REAL[:, None], -100)


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield from short_list(tmp_path_factory.mktemp("list"))


@pytest.fixture(scope="module")
def built(names):
    """Day 3's per-head code, week08's modules and the fast model, with the same weights of ordinary size."""
    built = speed.models(replace(FAST, dropout=0.1), 27)
    with torch.no_grad():
        for parameter in built[speed.FASTEST].parameters():
            parameter.add_(
                torch.randn(parameter.shape, generator=torch.Generator().manual_seed(parameter.numel())) * 0.1
            )
    state = built[speed.FASTEST].state_dict()
    built[speed.WEEK08].load_state_dict(state)
    built[speed.PER_HEAD].load_state_dict(speed.per_head_weights(state, 4))
    return {title: model.eval() for title, model in built.items()}


def test_all_models_have_the_sizes_that_the_course_counts():
    assert size(build(Settings(), 27)) == size(build(FAST, 27)) == 204_571
    assert size(build(compare.NEURAL_BIGRAM, 27)) == 729
    assert size(build(compare.MLP, 27)) == 56_995
    assert size(build(replace(compare.MLP, window=32), 27)) == 204_451
    assert size(build(replace(FAST, positions="none"), 27)) == 204_571 - 32 * 64


def test_a_seed_starts_the_fast_model_where_it_starts_week08s():
    starts = []
    for fast in (False, True):
        torch.manual_seed(1)
        starts.append(build(Settings(fast=fast), 27).state_dict())
    assert list(starts[0]) == list(starts[1])
    assert all(torch.equal(weight, starts[1][name]) for name, weight in starts[0].items())
    assert starts[0]["blocks.3.ffn.expand.weight"].std().item() == pytest.approx(0.02, rel=0.05)


def test_with_the_same_weights_all_three_give_the_same_logits_and_loss(built):
    with torch.no_grad():
        logits, loss = built[speed.WEEK08](IDS, TARGETS)
        assert logits.std() > 0.3  # far from uniform
        for title in (speed.FASTEST, speed.PER_HEAD):
            other, _ = built[title](IDS)
            torch.testing.assert_close(other, logits, atol=1e-5, rtol=0)
            packed, other_loss = built[title](IDS, TARGETS)
            assert other_loss.item() == pytest.approx(loss.item(), abs=1e-5)
        packed, _ = built[speed.FASTEST](IDS, TARGETS)
        torch.testing.assert_close(packed, logits[TARGETS != -100], atol=1e-5, rtol=0)


def test_padding_that_is_left_out_changes_no_gradient(built):
    gradients = {}
    for title in (speed.WEEK08, speed.FASTEST):
        built[title].zero_grad()
        built[title](IDS, TARGETS)[1].backward()
        gradients[title] = {name: parameter.grad.clone() for name, parameter in built[title].named_parameters()}
    for name, gradient in gradients[speed.WEEK08].items():
        torch.testing.assert_close(gradients[speed.FASTEST][name], gradient, atol=2e-6, rtol=1e-4)


def test_a_gap_among_the_targets_is_refused_and_never_packed_wrongly(built):
    gap = TARGETS.clone()
    gap[0, 4] = -100
    with pytest.raises(ValueError, match="must stand before the others"):
        built[speed.FASTEST](IDS, gap)


def test_steps_of_training_keep_the_three_together(names):
    data = load_list(names, 42)
    small = replace(FAST, **SMALL, peak=1e-2)
    losses = speed.losses(data, 8, small)
    assert losses[speed.FASTEST][-1] < losses[speed.FASTEST][0] - 0.05
    for title in (speed.WEEK08, speed.PER_HEAD):
        assert losses[speed.FASTEST] == pytest.approx(losses[title], abs=1e-4)


def test_a_cache_writes_the_tokens_that_recomputing_writes(built):
    model = built[speed.FASTEST].double()
    try:
        for prompt, temperature in ((IDS[:, :1], 1.0), (IDS[:, :6], 1.5), (IDS[:, :3], 0.0)):
            draw = [torch.Generator().manual_seed(9) for _ in range(2)]
            cached = generate(model, prompt, 20, temperature, draw[0])
            again = module("sampling").generate(model, prompt, 20, 32, temperature, draw[1])
            assert torch.equal(cached, again)
            assert len(set(cached[:, -5:].flatten().tolist())) > 3 or temperature == 0
    finally:
        model.float()


def test_written_names_are_letters_of_a_length_that_training_showed(built, names):
    data = load_list(names, 42)
    for title in (speed.WEEK08, speed.FASTEST):
        written = write_names(built[title], data, 50, 1.5)
        assert len(written) == 50 and max(map(len, written)) <= data.longest
        assert "." not in "".join(written)
        assert written == write_names(built[title], data, 50, 1.5) != write_names(built[title], data, 50, 1.5, seed=1)


@pytest.fixture(scope="module")
def runs(names, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs.of(names, tmp_path_factory.mktemp("lab"), "cpu")


@pytest.fixture
def moments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything short enough for a test."""
    small = replace(TINY_FAST, total_steps=4)
    monkeypatch.setattr(studies, "SHORT", small)
    monkeypatch.setattr(studies, "CONSTANT_SHORT", small)
    monkeypatch.setattr(studies, "WRITTEN", 100)
    monkeypatch.setattr(studies, "SIZES", {"A": (8, 2, 1), "B": (16, 2, 1), "C": (16, 4, 2)})


@pytest.mark.usefixtures("moments")
@pytest.mark.parametrize("name", studies.STUDIES)
def test_an_experiment_gives_its_table_and_picture_and_writes_both(name, names, runs, monkeypatch):
    found = experiment.experiment(name, names, runs.out)
    numbers, picture = found.files
    assert [row.keys() for row in csv.DictReader(numbers.open())] == [row.keys() for row in found.table]
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 10_000
    for panel in found.figure.axes[:1] if name != "attention" else []:
        assert panel.get_xlabel() and panel.get_ylabel()
    PROMISES[name](found.table)
    monkeypatch.setattr(Trainer, "advance", lambda self: pytest.fail("it was trained again"))
    assert experiment.experiment(name, names, runs.out).table == found.table


def rows_sum_to_one(table):
    for layer, head, place in {(row["layer"], row["head"], row["place"]) for row in table}:
        weights = [r["weight"] for r in table if (r["layer"], r["head"], r["place"]) == (layer, head, place)]
        assert len(weights) == place + 1 and sum(weights) == pytest.approx(1, abs=1e-5)


def hotter_is_less_decided(table):
    entropies = [row["entropy"] for row in table]
    assert all(a < b < math.log(27) for a, b in pairwise(entropies))
    for row in table:
        assert row["known_elsewhere"] <= row["novel"] <= 1 and row["different"] <= 1


def the_gap_is_between_the_two_losses(table):
    assert [row["dropout"] for row in table] == [*studies.DROPOUTS]
    for row in table:
        assert row["gap"] == pytest.approx(row["validation_loss"] - row["training_loss"], abs=1e-9)


def places_make_up_the_loss(table):
    for kind in ("learned", "sinusoidal", "none"):
        rows = [row for row in table if row["positions"] == kind]
        whole = sum(row["loss"] * row["predictions"] for row in rows) / sum(row["predictions"] for row in rows)
        assert whole == pytest.approx(rows[0]["validation_loss"], abs=1e-5)
    assert len({row["validation_loss"] for row in table}) == 3


def larger_models_have_more_parameters(table):
    parameters = [row["parameters"] for row in table]
    assert parameters == sorted(set(parameters)) and len(parameters) >= 3


PROMISES = {
    "attention": rows_sum_to_one,
    "sizes": larger_models_have_more_parameters,
    "temperature": hotter_is_less_decided,
    "dropout": the_gap_is_between_the_two_losses,
    "positions": places_make_up_the_loss,
    "scaling": larger_models_have_more_parameters,
}


def test_the_comparison_is_a_mean_of_runs_that_are_trained_once(runs, monkeypatch):
    few = [
        compare.Entry(
            entry.title, entry.claim, replace(entry.settings, **(SMALL | {"batch_size": 3}), total_steps=2), entry.seeds
        )
        for entry in compare.entries(full=True)
        if entry.title in ("neural bigram", "MLP, window 8", "Mini GPT")
    ]
    monkeypatch.setattr(compare, "entries", lambda full: few)
    table, trained = compare.compare(runs, jobs=1)
    assert [row["model"] for row in table] == ["bigram, counted", "neural bigram", "MLP, window 8", "Mini GPT"]
    for row in table[1:]:
        losses = [run.losses["validation"] for run in trained[row["model"]]]
        assert len(set(losses)) == 3
        assert (row["validation_loss"], row["standard_error"]) == module("comparison").mean_and_error(losses)
    assert table[0]["validation_loss"] == pytest.approx(_bigrams_by_hand(runs.data), abs=1e-6)
    monkeypatch.setattr(Trainer, "advance", lambda self: pytest.fail("it was trained again"))
    assert compare.compare(runs, jobs=1)[0] == table


def test_models_that_are_trained_side_by_side_are_those_trained_one_by_one(names, tmp_path):
    told: dict[str, float] = {}

    class Told(Silent):
        def finished(self, title, loss):
            told[title] = loss

    together = Runs.of(names, tmp_path / "together", "cpu", lambda title: Told())
    alone = Runs.of(names, tmp_path / "alone", "cpu")
    wanted = [(TINY_FAST, "Mini GPT"), (replace(compare.MLP, **SMALL, total_steps=3), "MLP")]
    train_all(together, wanted, jobs=2)
    for settings, title in wanted:
        assert together.is_finished(settings)
        one, other = together.get(settings, title), alone.get(settings, title)
        assert told[title] == one.losses["validation"]
        assert one.losses == other.losses
        assert all(torch.equal(w, other.model.state_dict()[name]) for name, w in one.model.state_dict().items())
    replaced = replace(wanted[0][0], context_length=2)
    with pytest.raises(LabError, match="context"):
        train_all(together, [(replaced, "too short"), (replace(replaced, seed=2), "too short")], jobs=2)


def test_ctrl_c_stops_all_that_are_trained_side_by_side_and_what_they_learned_is_kept(names, tmp_path):
    class Pressed(Silent):
        def finished(self, title, loss):
            raise KeyboardInterrupt

    runs = Runs.of(names, tmp_path, "cpu", lambda title: Pressed())
    endless = [(replace(TINY_FAST, total_steps=10**9, seed=seed), f"endless {seed}") for seed in (1, 2, 3)]
    with pytest.raises(KeyboardInterrupt):
        train_all(runs, [(TINY_FAST, "short"), *endless], jobs=2)
    assert runs.is_finished(TINY_FAST)
    begun = sorted(tmp_path.glob("*/checkpoint.pt")) + sorted(tmp_path.glob("*/*/checkpoint.pt"))
    assert 2 <= len(begun) <= 3
    assert multiprocessing.active_children() == []


def _bigrams_by_hand(data) -> float:
    """Each pair once more than it occurs in the training part."""
    pairs = [pair for name in data.names["training"] for pair in pairwise(f".{name}.")]
    starts = [first for first, _ in pairs]
    losses = [
        -math.log((pairs.count(pair) + 1) / (starts.count(pair[0]) + len(data.vocabulary)))
        for name in data.names["validation"]
        for pair in pairwise(f".{name}.")
    ]
    return sum(losses) / len(losses)
