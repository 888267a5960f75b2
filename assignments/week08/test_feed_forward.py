"""Checks of `feed_forward`: the exact GELU and the two layers around it."""

import pytest
import torch

from selfcheck.checking import agree, has_state, tensor

WEIGHTS = {"expand.weight": (24, 6), "expand.bias": (24,), "project.weight": (6, 24), "project.bias": (6,)}


@pytest.mark.points(1, "gelu gives the table of Week 8 §6")
def test_reproduces_the_gelu_table(student, trace):
    table = trace("gelu_table")
    table.agrees("gelu", student.gelu(table.inputs["x"]))


@pytest.mark.points(0.5, "far from zero gelu passes a number on or returns 0")
def test_far_from_zero(student):
    agree(student.gelu(torch.tensor([-200.0, -50.0, 50.0, 200.0])), [0.0, 0.0, 50.0, 200.0])


@pytest.mark.points(0.5, "FeedForward has two layers with biases and a hidden width of four times model_dim")
def test_has_two_layers(student):
    has_state(student.FeedForward(6, 0.1), WEIGHTS)


@pytest.mark.points(1, "FeedForward computes the update of Week 8 §6")
def test_reproduces_the_final_position_of_prompt_a(student, trace):
    example = trace("prompt_a_final_position")
    example.agrees("hidden_gelu", student.gelu(example.inputs["z"]))
    network = student.FeedForward(4, 0.0)
    network.load_state_dict({name: example.inputs[name] for name in WEIGHTS})
    example.agrees("update", tensor(network(example.inputs["z"].view(1, 1, 4)), (1, 1, 4))[0, 0])


@pytest.mark.points(0.5, "each position is processed by itself")
def test_each_position_by_itself(student, rng):
    network, x = student.FeedForward(6, 0.0), rng.normal(2, 5, 6)
    network.load_state_dict(rng.state(WEIGHTS))
    together = tensor(network(x), (2, 5, 6))
    for t in range(5):
        agree(network(x[:, t : t + 1]), together[:, t : t + 1])


@pytest.mark.points(0.5, "in evaluation mode nothing is dropped")
def test_evaluation_drops_nothing(student, rng):
    plain, dropping = student.FeedForward(6, 0.0), student.FeedForward(6, 0.9)
    dropping.eval()
    weights, x = rng.state(WEIGHTS), rng.normal(2, 5, 6)
    plain.load_state_dict(weights)
    dropping.load_state_dict(weights)
    expected = tensor(plain(x), (2, 5, 6))
    agree(dropping(x), expected)
