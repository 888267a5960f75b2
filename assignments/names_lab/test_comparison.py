"""Checks of `comparison`: one loss for every model, where the parameters are, and how sure a mean is.

The scores of the rig's model depend on all tokens up to a place, and are halved in training mode.
"""

import math

import pytest
import torch
from torch.nn import functional as F

from selfcheck.checking import agree, expect, number, parts, same

PARTS = {
    "token_embedding": "token_embedding",
    "position_embedding": "position_embedding",
    "blocks.*.ln1": "ln1",
    "blocks.*.attention.qkv": "qkv",
    "blocks.*.attention.output": "output",
    "blocks.*.ln2": "ln2",
    "blocks.*.ffn.expand": "expand",
    "blocks.*.ffn.project": "project",
    "final_norm": "final_norm",
    "lm_head": "lm_head",
}
SIZES = ("vocab_size", "context_length", "model_dim", "num_layers")


def some_rows(rng, vocab_size, N, T):
    """Inputs and targets [N,T] at random; from some place on, the targets of all rows but the first do not count."""
    inputs, targets = rng.integers(vocab_size, N, T), rng.integers(vocab_size, N, T)
    ends = rng.integers(T, N) + 1
    ends[0] = T
    targets[torch.arange(T) >= ends[:, None]] = -100
    return inputs, targets


@pytest.mark.points(2, "the loss is a mean over predictions: equal scores cost the logarithm of the vocabulary size")
def test_loss_by_hand(student, rig, rng):
    inputs, targets = some_rows(rng, 7, 5, 6)
    loss = student.evaluate(rig.Model(torch.zeros(7, 7)), inputs, targets)
    agree(loss, math.log(7))
    expect(isinstance(loss, float), "evaluate should return a Python float")
    table = rng.normal(7, 7, scale=2)
    scores = table[inputs.cumsum(dim=1) % 7]
    expected = F.cross_entropy(scores[targets != -100], targets[targets != -100])
    agree(student.evaluate(rig.Model(table), inputs, targets), expected.item())


@pytest.mark.points(1.5, "the loss does not depend on the size of the batches")
def test_loss_does_not_depend_on_the_batch_size(student, rig, rng):
    (inputs, targets), table = some_rows(rng, 7, 9, 6), rng.normal(7, 7, scale=2)
    whole = number(student.evaluate(rig.Model(table), inputs, targets, 9))
    for batch_size in (1, 2, 4, 50):
        agree(student.evaluate(rig.Model(table), inputs, targets, batch_size), whole)


@pytest.mark.points(1, "a model is measured in evaluation mode and trains on afterwards")
@pytest.mark.attested
def test_measures_in_evaluation_mode(student, rig, rng):
    model = rig.Model(rng.normal(7, 7))
    number(student.evaluate(model, *some_rows(rng, 7, 4, 5)))
    expect(not any(call["training"] for call in model.calls()), "the model should be measured in evaluation mode")
    expect(model.training is True, "the model should be back in training mode")


@pytest.mark.points(2, "explains the parameters of Day 3 ch. 7, part by part")
def test_reproduces_the_breakdown_of_the_course(student, rig, trace):
    example = trace("day3_breakdown")
    model = rig.MiniGPT(*(example.inputs[name].item() for name in SIZES), True)
    sizes = student.parameter_breakdown(model)
    same(sizes, {part: int(example.value(name)) for part, name in PARTS.items()})
    same(sum(sizes.values()), int(example.value("total")))


@pytest.mark.points(1.5, "finds where Day 3's model has more parameters than Week 8's")
def test_explains_the_difference(student, rig, trace):
    sizes = [trace("day3_breakdown").inputs[name].item() for name in SIZES]
    week8, day3 = (rig.MiniGPT(*sizes, bias) for bias in (False, True))
    for one, other, sign in ((week8, day3, 1), (day3, week8, -1)):
        found = rig.difference(student.parameter_breakdown, student.breakdown_difference, one, other)
        same(found, {"blocks.*.attention.output": sign * 4 * 64})


@pytest.mark.points(2, "the mean of a few runs has an error that shrinks with their number")
def test_mean_and_error_by_hand(student):
    mean, error = parts(student.mean_and_error([2.0, 2.5, 3.0]), 2)
    agree(mean, 2.5)
    agree(error, 0.5 / math.sqrt(3))
    agree(parts(student.mean_and_error([2.0, 3.0] * 50), 2)[1], 0.5 / math.sqrt(99))
