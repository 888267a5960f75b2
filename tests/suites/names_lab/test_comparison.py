"""Checks of `comparison`: one loss for every model, where the parameters are, and how sure a mean is.

The scores of the rig's model depend on all tokens up to a place, and are halved in training mode.
"""

import math

import pytest
import torch
from torch.nn import functional as F

from autograder.suite.checking import agree, expect, number, parts, rejects, same

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


### BEGIN HIDDEN TESTS
@pytest.mark.points(3, "the loss agrees with the reference: every prediction once, with everything before it")
def test_loss_agrees_with_the_reference(student, reference, rig, rng):
    for N, T, V, batch_size in ((11, 5, 9, 4), (6, 8, 5, 1), (5, 3, 11, 100), (8, 6, 7, 8)):
        (inputs, targets), table = some_rows(rng, V, N, T), rng.normal(V, V, scale=2)
        got = student.evaluate(rig.Model(table), inputs, targets, batch_size)
        agree(got, reference.evaluate(table, inputs, targets))


@pytest.mark.points(1.5, "ends count like letters, padding does not, and rows of any length weigh by their predictions")
def test_what_counts(student, reference, rig, rng):
    inputs, targets = rng.integers(7, 6, 12), torch.full((6, 12), -100)
    for row, length in enumerate((1, 12, 2, 12, 1, 3)):
        targets[row, :length] = rng.integers(7, length)
        targets[row, length - 1] = 0
    table = rng.normal(7, 7, scale=3)
    for batch_size in (2, 6):
        got = student.evaluate(rig.Model(table), inputs, targets, batch_size)
        agree(got, reference.evaluate(table, inputs, targets))


@pytest.mark.points(2, "measuring leaves every module in its mode, sets no seed, records no graph")
@pytest.mark.attested
def test_leaves_the_model_as_found(student, reference, rig, rng):
    (inputs, targets), table = some_rows(rng, 7, 5, 6), rng.normal(7, 7)
    model, chance = rig.Model(table), rig.Chance()
    for training in (False, True):
        model.train(training)
        model.set_mode("part", not training)
        before = model.modes()
        chance.begin(rng.seed())
        agree(student.evaluate(model, inputs, targets, 2), reference.evaluate(table, inputs, targets))
        chance.look()
        expect(model.modes() == before, "each module should be back in the mode it was found in")
    expect(not any(call["training"] for call in model.calls()), "the model should be measured in evaluation mode")
    expect(not any(call["graph"] for call in model.calls()), "measuring needs no graph")
    expect(chance.is_always_the_same() is False, "measuring should set no seed")
    shapes = [call["shape"] for call in model.calls()]
    expect(shapes == [[2, 6], [2, 6], [1, 6]] * 2, "each row should be read once, batch_size rows at a time")


@pytest.mark.points(1, "an error of the model gets out, and the modes are still restored")
@pytest.mark.attested
def test_restores_the_modes_after_an_error(student, rig, rng):
    model = rig.Model(rng.normal(7, 7), fails_after=1)
    before = model.modes()
    with rejects(1):
        student.evaluate(model, *some_rows(rng, 7, 5, 6), 2)
    expect(model.modes() == before, "after an error each module should be back in the mode it was found in")


@pytest.mark.points(1, "nothing to predict is an error")
def test_refuses_rows_without_predictions(student, rig, rng):
    with rejects():
        student.evaluate(rig.Model(rng.normal(7, 7)), rng.integers(7, 3, 4), torch.full((3, 4), -100))


@pytest.mark.points(2.5, "the breakdown is right for models of any size")
def test_breakdown_agrees_with_the_reference(student, reference, rig, rng):
    for sizes in ((27, 32, 64, 4, False), (11, 8, 12, 3, True), (9, 5, 4, 11, False)):
        same(student.parameter_breakdown(rig.MiniGPT(*sizes)), reference.mini_gpt_sizes(*sizes))


@pytest.mark.points(1.5, "shared parameters count once, frozen ones too, and what is no parameter does not")
def test_breakdown_counts_parameters_only(student, rig, rng):
    V, C = rng.integer(6, 9), rng.integer(10, 13)
    expected = {"table": V * C, "layers.*": 6 * C + C + 3, "head": V, "norm": 2 * C}
    same(student.parameter_breakdown(rig.Shared(V, C)), expected)


@pytest.mark.points(1.5, "parts that only one model has are differences too, equal parts are none")
def test_difference_of_other_plans(student, rng):
    a, b, c, d = (rng.integer(50, 99) for _ in range(4))
    one, other = {"x": a, "y": b, "only_one": c}, {"y": b, "x": a + d, "only_other": d}
    same(student.breakdown_difference(one, other), {"x": d, "only_one": -c, "only_other": d})
    same(student.breakdown_difference(other, other), {})


@pytest.mark.points(1, "mean and error agree with the reference, and one run alone is an error")
def test_mean_and_error_agree_with_the_reference(student, reference, rng):
    for count in (2, 5, 9):
        losses = rng.uniform(1.9, 2.6, count, dtype=torch.float64).tolist()
        for got, expected in zip(
            parts(student.mean_and_error(losses), 2), reference.mean_and_error(losses), strict=True
        ):
            agree(got, expected)
    with rejects(1):
        student.mean_and_error([2.1])


### END HIDDEN TESTS
