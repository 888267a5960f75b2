"""Checks of `masked_softmax`: who may see whom, weights that ignore the rest, and attention built from them."""

import math

import pytest
import torch

from autograder.suite.checking import agree, equal, expect, gradients, leaves_unchanged, parts, tensor


@pytest.mark.points(1, "causal_mask gives the mask of Day 3 ch. 3")
def test_reproduces_the_causal_mask(student, trace):
    equal(student.causal_mask(4), trace("causal_mask_4").value("mask").bool())


@pytest.mark.points(0.5, "with more keys than queries the queries stand at the end")
def test_queries_are_the_last_places(student):
    expected = [[True, True, True, True, False], [True, True, True, True, True]]
    equal(student.causal_mask(2, 5), torch.tensor(expected))


@pytest.mark.points(1, "masked_softmax turns scores into shares, among the visible entries only")
def test_shares_by_hand(student):
    scores = torch.tensor([[0.0, math.log(2), math.log(5)]])
    agree(student.masked_softmax(scores), [[1 / 8, 2 / 8, 5 / 8]])
    agree(student.masked_softmax(scores, torch.tensor([[False, True, True]])), [[0.0, 2 / 7, 5 / 7]])


@pytest.mark.points(1, "hidden entries weigh exactly 0 and the visible ones of each row sum to 1")
def test_hidden_entries_weigh_nothing(student, rng):
    visible = rng.uniform(0, 1, 2, 3, 4, 5) < 0.5
    visible[..., 2] = True
    weights = tensor(student.masked_softmax(rng.normal(2, 3, 4, 5, scale=3), visible), (2, 3, 4, 5))
    expect(bool((weights[~visible] == 0).all()), "a hidden entry should weigh exactly 0")
    expect(bool((weights[visible] > 0).all()), "a visible entry should weigh more than 0")
    agree(weights.sum(-1), torch.ones(2, 3, 4))


@pytest.mark.points(1, "attention gives the weights of Day 3 ch. 3")
def test_reproduces_scaled_attention(student, trace):
    example = trace("scaled_attention")
    _, weights = parts(student.attention(*(example.inputs[name] for name in "qkv")), 2)
    example.agrees("weights", weights)


@pytest.mark.points(0.5, "attention collects the values by their weights")
def test_output_is_the_weighted_sum_of_values(student, rng):
    q, k, v = rng.normal(2, 3, 6), rng.normal(2, 5, 6), rng.normal(2, 5, 4)
    output, weights = parts(student.attention(q, k, v), 2)
    weights = tensor(weights, (2, 3, 5))
    agree(weights.sum(-1), torch.ones(2, 3))
    agree(output, sum(weights[..., key, None] * v[:, key, None] for key in range(5)))


@pytest.mark.points(0.5, "scores and mask stay as they were")
@pytest.mark.attested
def test_leaves_its_arguments_unchanged(student, rng):
    leaves_unchanged(student.masked_softmax, rng.normal(3, 4), torch.eye(3, 4).bool())


### BEGIN HIDDEN TESTS
@pytest.mark.points(1, "causal_mask is right for other sizes")
def test_causal_mask_of_other_sizes(student, reference):
    for sizes in ((1,), (7,), (3, 3), (1, 6), (4, 9)):
        equal(student.causal_mask(*sizes), reference.causal_mask(*sizes))


@pytest.mark.points(1.5, "masked_softmax is right for random scores and masks")
def test_weights_of_random_scores(student, reference, rng):
    scores = rng.normal(2, 3, 4, 5, scale=2)
    by_key = torch.tensor([[True, False, True, True, False], [False, True, True, False, True]])[:, None, None]
    for mask in (None, torch.eye(4, 5).bool() | (rng.uniform(0, 1, 2, 3, 4, 5) < 0.5), ~torch.eye(4, 5).bool(), by_key):
        agree(student.masked_softmax(scores, mask), reference.masked_softmax(scores, mask))


@pytest.mark.points(0.5, "a row with nothing visible is all zeros, also in attention")
@pytest.mark.narrow("subtracting the log of the sum is right too, and near 1e4 float32 numbers lie 1e-3 apart")
def test_empty_row_is_zeros(student, reference, rng):
    scores, mask = rng.normal(2, 4, 5), torch.ones(2, 4, 5, dtype=torch.bool)
    mask[0, 1], mask[1, 3] = False, False
    agree(student.masked_softmax(scores, mask), reference.masked_softmax(scores, mask))
    # As wide as in the check of large scores, for the same reason.
    agree(student.masked_softmax(1e4 + scores, mask), reference.masked_softmax(1e4 + scores, mask), rtol=1e-3)
    output, weights = parts(student.attention(rng.normal(2, 4, 6), rng.normal(2, 5, 6), rng.normal(2, 5, 3), mask), 2)
    empty = ~mask.any(-1)
    agree(tensor(weights, (2, 4, 5))[empty], torch.zeros(2, 5))
    agree(tensor(output, (2, 4, 3))[empty], torch.zeros(2, 3))


@pytest.mark.points(0.5, "with nothing visible along the axis asked for, the weights there are zeros")
def test_empty_row_along_another_axis(student, reference, rng):
    scores, mask = rng.normal(3, 4, 5), torch.ones(3, 4, 5, dtype=torch.bool)
    mask[:, 1, 2], mask[0, 3] = False, False  # nothing visible along axis 0 in one place, along the last in another
    agree(student.masked_softmax(scores, mask, dim=0), reference.masked_softmax(scores, mask, dim=0))


@pytest.mark.points(1.5, "scores of any size give finite weights, and hidden scores play no part")
@pytest.mark.narrow("subtracting the log of the sum is right too, and near 1e4 float32 numbers lie 1e-3 apart")
def test_large_scores(student, reference, rng):
    scores, mask = rng.normal(4, 5), torch.eye(4, 5).bool() | (rng.uniform(0, 1, 4, 5) < 0.5)
    peak = torch.zeros(4, 5)
    peak[2, 3] = 1000.0
    high, low, spread = scores + 1e4, scores - 1e4, (scores * 1e3).clamp(-1e4, 1e4)
    # Near 1e4 float32 numbers lie 1e-3 apart: whoever subtracts the log of the sum is off by half of that.
    for extreme in (high, low, spread, scores + peak, torch.where(mask, scores, 1e4), torch.where(mask, low, 500.0)):
        for seen in (mask, None):
            agree(student.masked_softmax(extreme, seen), reference.masked_softmax(extreme, seen), rtol=1e-3)


@pytest.mark.points(1, "the softmax runs along the axis asked for")
def test_other_axes(student, reference, rng):
    # Along every axis something is visible: rows with nothing visible have a check of their own.
    places = torch.arange(3)[:, None, None] + torch.arange(4)[:, None] + torch.arange(5)
    scores, mask = rng.normal(3, 4, 5), (rng.uniform(0, 1, 3, 4, 5) < 0.4) | (places % 3 == 0)
    for dim in (0, 1, 2, -2):
        agree(student.masked_softmax(scores, dim=dim), reference.masked_softmax(scores, dim=dim))
        agree(student.masked_softmax(scores, mask, dim=dim), reference.masked_softmax(scores, mask, dim=dim))


@pytest.mark.points(1, "attention is right with a mask, leading axes and a value width of its own")
def test_attention_of_random_inputs(student, reference, rng):
    q, k, v = rng.normal(2, 3, 4, 6), rng.normal(2, 3, 7, 6), rng.normal(2, 3, 7, 5)
    some = rng.uniform(0, 1, 2, 3, 4, 7) < 0.6
    some[..., 3] = True  # rows with nothing visible have a check of their own
    for mask in (None, torch.arange(7) != torch.arange(4)[:, None], some):
        output, weights = parts(student.attention(q, k, v, mask), 2)
        agree(weights, reference.attention(q, k, v, mask)[1])
        agree(output, reference.attention(q, k, v, mask)[0])


@pytest.mark.points(0.5, "gradients flow through the visible scores")
def test_softmax_gradients(student, reference, rng):
    scores, along = rng.normal(2, 4, 5), rng.normal(2, 4, 5)
    mask = torch.eye(4, 5).bool() | (rng.uniform(0, 1, 2, 4, 5) < 0.5)
    leaf = scores.double().requires_grad_()
    (expected,) = torch.autograd.grad((reference.masked_softmax(leaf, mask) * along).sum(), leaf)
    agree(gradients(student.masked_softmax, scores, mask, along=along).arguments[0], expected)


@pytest.mark.points(0.5, "gradients of attention reach queries, keys and values")
def test_attention_gradients(student, reference, rng):
    inputs, along = (rng.normal(3, 4), rng.normal(5, 4), rng.normal(5, 2)), rng.normal(3, 2)
    leaves = [one.double().requires_grad_() for one in inputs]
    expected = torch.autograd.grad((reference.attention(*leaves)[0] * along).sum(), leaves)
    found = gradients(student.attention, *inputs, along=(along, None)).arguments
    for got, wanted in zip(found, expected, strict=True):
        agree(got, wanted)


@pytest.mark.points(0.5, "float64 in, float64 out; arguments stay as they were, with and without a mask")
@pytest.mark.attested
def test_keeps_dtype_and_arguments(student, reference, rng):
    q, k, v = (rng.normal(*shape, dtype=torch.float64) for shape in ((3, 4), (5, 4), (5, 2)))
    mask = torch.arange(5) != torch.arange(3)[:, None]
    output, weights = parts(student.attention(q, k, v, mask), 2)
    agree(output, reference.attention(q, k, v, mask)[0], dtype=torch.float64)
    agree(weights, reference.attention(q, k, v, mask)[1], dtype=torch.float64)
    leaves_unchanged(student.attention, q, k, v, mask)
    leaves_unchanged(student.masked_softmax, q)


### END HIDDEN TESTS
