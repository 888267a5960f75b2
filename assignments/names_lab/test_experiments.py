"""Checks of `experiments`: the numbers behind attention maps, sizes, temperatures, gaps, places and a scaling fit."""

import math

import pytest
import torch

from selfcheck.checking import agree, expect, number, parts, same, tensor


def shapes(vocab_size, context_length, model_dim, num_layers):
    """Names and shapes of the rig model's parameters."""
    V, L, C = vocab_size, context_length, model_dim
    found = {"token_embedding.weight": (V, C), "position_embedding.weight": (L, C)}
    for layer in range(num_layers):
        found[f"blocks.{layer}.attention.qkv.weight"] = (3 * C, C)
        found[f"blocks.{layer}.attention.output.weight"] = (C, C)
    return found


def build(rig, state, num_heads, num_layers, **how):
    """The rig's model with these weights."""
    (V, C), L = state["token_embedding.weight"].shape, len(state["position_embedding.weight"])
    model = rig.Model(V, L, C, num_heads, num_layers, **how)
    model.load_state_dict(state)
    return model


@pytest.mark.points(2, "each row of a map sums to 1 and reads nothing later")
def test_maps_are_causal_shares(student, rig, rng):
    model = build(rig, rng.state(shapes(11, 8, 12, 2)), 3, 2)
    maps = tensor(student.attention_maps(model, rng.integers(11, 5)), (2, 3, 5, 5))
    agree(maps.sum(dim=-1), torch.ones(2, 3, 5))
    expect(not bool(maps.triu(1).any()), "no place should read a later one")


@pytest.mark.points(2, "sizes of the models of Day 3 exercise 2, from a formula")
def test_reproduces_the_model_sizes(student, trace):
    example = trace("model_sizes")
    V, L = (example.inputs[name].item() for name in ("vocab_size", "context_length"))
    plans = zip(*(example.inputs[name].tolist() for name in ("model_dim", "num_layers")), strict=True)
    found = student.model_size.each([(V, L, C, layers, True) for C, layers in plans])
    same(found, example.value("parameters").long().tolist())
    same(student.model_size(V, L, 64, 4), 204827 - 4 * 64)


@pytest.mark.points(1.5, "equal scores are as undecided as can be, and heat makes every model less certain")
def test_entropy_by_hand(student, rng):
    agree(student.mean_entropy(torch.zeros(3, 7), 0.7), math.log(7), rtol=1e-4)
    logits = torch.tensor([[math.log(1), math.log(3)]])
    agree(student.mean_entropy(logits, 1.0), -(0.25 * math.log(0.25) + 0.75 * math.log(0.75)), rtol=1e-4)
    cold, warm, hot = (number(student.mean_entropy(rng.normal(20, 7), t)) for t in (0.2, 1.0, 5.0))
    expect(cold < warm < hot, "the entropy should grow with the temperature")


@pytest.mark.points(1, "the share of novel names counts what was written, not what is known")
def test_share_of_novel_by_hand(student):
    agree(student.share_of_novel(["anna", "xq", "anna", "anna"], ["mia", "anna", "ava"]), 0.25)


@pytest.mark.points(1, "the gap is above 0 where validation is worse")
def test_gap_by_hand(student, rig, rng):
    sure = rig.Table(20 * torch.eye(5))
    inputs = torch.tensor([[1, 2], [3, 0]])
    known, unknown = (inputs, torch.tensor([[1, 3], [3, 3]])), (inputs, torch.tensor([[1, 3], [3, 4]]))
    agree(student.generalization_gap(sure, known, unknown), 5.0, rtol=1e-4)


@pytest.mark.points(1, "each place has a mean of its own")
def test_loss_by_place_by_hand(student, rig):
    table = torch.tensor([[0.0, math.log(3)], [0.0, 0.0]])
    inputs, targets = torch.tensor([[0, 1], [0, 0], [0, 1]]), torch.tensor([[0, 1], [1, -100], [1, -100]])
    losses = tensor(student.loss_by_place(rig.Table(table), inputs, targets), (2,), torch.float64)
    quarter, three_quarters = math.log(4), math.log(4 / 3)
    agree(losses.float(), torch.tensor([(quarter + 2 * three_quarters) / 3, math.log(2)]))


@pytest.mark.points(1.5, "points on a line give its slope and an interval of no width")
def test_fit_of_a_line(student):
    sizes = [1000, 8000, 50_000, 200_000]
    slope, low, high = (number(n) for n in parts(student.scaling_fit(sizes, [3 * n**-0.05 for n in sizes]), 3))
    agree(torch.tensor([slope, low, high]), torch.full((3,), -0.05), atol=1e-5)
