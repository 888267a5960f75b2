"""Checks of `feed_forward`: the exact GELU and the two layers around it."""

import pytest
import torch

from autograder.suite.checking import agree, expect, gradients, has_state, leaves_unchanged, tensor

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


### BEGIN HIDDEN TESTS
@pytest.mark.points(1, "gelu is the exact form, to six digits")
@pytest.mark.narrow("the tanh form is as near as 5e-4, and far left of 0 float32 has few digits of 1 + erf")
def test_gelu_is_exact(student, reference, rng):
    for x in (rng.uniform(-6, 6, 3, 40), rng.uniform(2, 3, 20), rng.uniform(-3, -2, 20), torch.linspace(-1, 1, 9)):
        agree(student.gelu(x), reference.gelu(x), rtol=1e-5, atol=1e-6)


@pytest.mark.points(0.5, "the slope of gelu is right")
def test_gelu_gradient(student, reference, rng):
    x, along = rng.uniform(-4, 4, 5, 8), rng.normal(5, 8)
    leaf = x.double().requires_grad_()
    (expected,) = torch.autograd.grad((reference.gelu(leaf) * along).sum(), leaf)
    agree(gradients(student.gelu, x, along=along).arguments[0], expected)


@pytest.mark.points(1.5, "FeedForward is right for random weights and biases")
def test_network_of_random_weights(student, reference, rng):
    network, weights = student.FeedForward(6, 0.0), rng.state(WEIGHTS)
    network.load_state_dict(weights)
    for x in (rng.normal(2, 5, 6), 3 * rng.normal(4, 3, 6), torch.zeros(1, 2, 6)):
        agree(network(x), reference.feed_forward(x, *weights.values()))


@pytest.mark.points(0.5, "other widths, and inputs with other leading axes")
def test_network_at_other_sizes(student, reference, rng):
    for C, leading in ((5, (3, 2)), (8, (2, 3, 4)), (3, (7,))):
        network = student.FeedForward(C, 0.0)
        weights = rng.state(
            {"expand.weight": (4 * C, C), "expand.bias": (4 * C,), "project.weight": (C, 4 * C), "project.bias": (C,)}
        )
        network.load_state_dict(weights)
        x = rng.normal(*leading, C)
        agree(network(x), reference.feed_forward(x, *weights.values()))


@pytest.mark.points(1, "gradients reach the input, both weights and both biases")
def test_gradients(student, reference, rng):
    network, weights, x, along = (
        student.FeedForward(6, 0.0),
        rng.state(WEIGHTS),
        rng.normal(2, 5, 6),
        rng.normal(2, 5, 6),
    )
    network.load_state_dict(weights)
    leaves = [one.double().requires_grad_() for one in (x, *weights.values())]
    expected = torch.autograd.grad((reference.feed_forward(*leaves) * along).sum(), leaves)
    found = gradients(network, x, along=along)
    for got, wanted in zip((found.arguments[0], *map(found.parameters.get, WEIGHTS)), expected, strict=True):
        agree(got, wanted)


@pytest.mark.points(1, "in training mode dropout comes last")
def test_training_drops_result_entries(student, reference, rng):
    network, weights, x = student.FeedForward(6, 0.4), rng.state(WEIGHTS), rng.normal(200, 6)
    network.load_state_dict(weights)
    got, kept = tensor(network(x), (200, 6)), reference.feed_forward(x, *weights.values()) / 0.6
    agree(torch.where(got == 0, kept.float(), got), kept)
    # 1200 entries, each 0 with probability 0.4; five standard errors, so one false alarm in 1.7 million.
    expect(abs(float((got == 0).double().mean()) - 0.4) < 0.071, "the share of dropped entries should be `dropout`")
    expect(float((got == 0).all(-1).double().mean()) < 0.06, "dropout should drop single entries, not whole positions")
    expect(not bool((got == 0).all(0).any()), "dropout should drop single entries, not one feature everywhere")
    expect(not torch.equal(tensor(network(x), (200, 6)), got), "each call should drop other entries")


@pytest.mark.points(0.5, "float64 in, float64 out; arguments stay as they were")
@pytest.mark.attested
def test_keeps_dtype_and_arguments(student, reference, rng):
    x = rng.normal(2, 5, 6, dtype=torch.float64)
    agree(student.gelu(x), reference.gelu(x), dtype=torch.float64)
    leaves_unchanged(student.gelu, x)
    leaves_unchanged(student.FeedForward(6, 0.0), x.float())


### END HIDDEN TESTS
