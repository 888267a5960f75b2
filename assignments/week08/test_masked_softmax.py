"""Checks of `masked_softmax`: who may see whom, weights that ignore the rest, and attention built from them."""

import math

import pytest
import torch

from selfcheck.checking import agree, equal, expect, leaves_unchanged, parts, tensor


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
