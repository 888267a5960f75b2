"""Checks of `training`: the schedule, clipping, the evaluation loss and the loop, on models small enough to recompute.

The rig's model gives the scores `table[token] + bias`, and half of them in training mode.
"""

import pytest
import torch
from torch.nn import functional as F

from selfcheck.checking import agree, equal, expect, number, numbers, parts


def token_batches(rng, vocab_size, *sizes):
    """One batch (inputs [B,T], targets [B,T]) for each size (B, T)."""
    return [(rng.integers(vocab_size, *size), rng.integers(vocab_size, *size)) for size in sizes]


def rates(student, steps, *settings):
    """The learning rates of these steps [len(steps)]."""
    found = student.learning_rate.each([(step, *settings) for step in steps])
    return torch.tensor([number(rate) for rate in found], dtype=torch.float64)


@pytest.mark.points(1, "the learning rate climbs step by step, then follows half a cosine wave")
def test_learning_rate_by_hand(student):
    steps = [0, 4, 9, 10, 35, 60, 110]
    expected = torch.tensor([0.1, 0.5, 1.0, 1.0, 0.1 + 0.9 * (2 + 2**0.5) / 4, 0.55, 0.1])
    agree(rates(student, steps, 1.0, 10, 110), expected, dtype=torch.float64, rtol=1e-5, atol=0.0)


@pytest.mark.points(0.5, "gives the learning rates of Day 3 ch. 8")
def test_reproduces_the_schedule_of_the_course(student, trace):
    example = trace("day3_schedule")
    settings = [example.inputs[name].item() for name in ("peak", "warmup_steps", "total_steps")]
    got = rates(student, example.inputs["steps"].tolist(), *settings)
    agree(got, example.value("learning_rate"), dtype=torch.float64, rtol=1e-4, atol=0.0)


@pytest.mark.points(1, "clips the joint norm of Day 3 ch. 8 and reports what it was")
@pytest.mark.attested
def test_reproduces_the_clipping_example(student, rig, trace):
    example = trace("clip_example")
    weights = rig.Weights(list(example.inputs["gradient"].split(1)))
    norm = number(student.clip_gradients(weights, example.inputs["max_norm"].item()))
    agree(norm, example.value("norm").item(), rtol=1e-4)
    for got, expected in zip(parts(weights.now(), 2), example.value("clipped").split(1), strict=True):
        agree(got, expected)


@pytest.mark.points(0.5, "gradients that are small enough stay as they are")
@pytest.mark.attested
def test_small_gradients_stay(student, rig, rng):
    before = [rng.normal(3, 4), rng.normal(5)]
    weights = rig.Weights(before)
    norm = torch.cat([gradient.flatten() for gradient in before]).norm().item()
    agree(student.clip_gradients(weights, 100.0), norm, rtol=1e-4)
    for got, expected in zip(parts(weights.now(), 2), before, strict=True):
        equal(got, expected)


@pytest.mark.points(0.5, "the evaluation loss is a mean over tokens, not over batches")
def test_every_token_weighs_the_same(student, rig, rng):
    table, bias, pairs = rng.normal(7, 7), rng.normal(7), token_batches(rng, 7, (1, 2), (3, 5))
    inputs, targets = (torch.cat([tokens.flatten() for tokens in column]) for column in zip(*pairs, strict=True))
    loss = student.estimate_loss(rig.Model(table, bias), pairs)
    agree(loss, F.cross_entropy(table[inputs] + bias, targets).item())
    expect(isinstance(loss, float), "estimate_loss should return a Python float")


@pytest.mark.points(0.5, "training takes a batch, a step and a note of the loss each time")
@pytest.mark.attested
def test_takes_one_step_a_batch(student, rig, rng):
    table, bias, pairs = rng.normal(7, 7), rng.normal(7), token_batches(rng, 7, *[(2, 3)] * 3)
    model, batches, schedule = rig.Model(table, bias), rig.Batches(pairs), rig.Schedule([0.0] * 3)
    losses = numbers(student.train(model, rig.Optimizer(model), batches, schedule, 3, 100.0), 3)
    expected = [F.cross_entropy((table[x] + bias).flatten(0, 1) / 2, y.flatten()).item() for x, y in pairs]
    agree(losses, expected, dtype=torch.float64, rtol=1e-4, atol=1e-6)
    expect(batches.drawn() == 3, "three steps should draw three batches")
