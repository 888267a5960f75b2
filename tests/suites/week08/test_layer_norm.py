"""Checks of `layer_norm`: each row by its own mean and population variance, then gain and shift."""

import pytest
import torch

from autograder.suite.checking import agree, computes_without, equal, gradients, has_state, leaves_unchanged, tensor


@pytest.mark.points(1, "normalizes the row of Week 8 §9")
def test_reproduces_the_row_1_2_3_4(student, trace):
    row = trace("row_1_2_3_4")
    row.agrees("normalized", student.layer_norm(*(row.inputs[name] for name in ("x", "gamma", "beta"))))


@pytest.mark.points(0.5, "normalizes the row of Day 3 ch. 6")
def test_reproduces_the_row_2_4_6_8(student, trace):
    row = trace("row_2_4_6_8")
    row.agrees("normalized", student.layer_norm(*(row.inputs[name] for name in ("x", "gamma", "beta"))))


@pytest.mark.points(1, "gain and shift are applied feature by feature, after normalizing")
def test_gain_and_shift_come_last(student, rng):
    x, gamma, beta = rng.normal(2, 3, 6, scale=2), rng.gains(6), rng.shifts(6)
    plain = tensor(student.layer_norm(x, torch.ones(6), torch.zeros(6)), (2, 3, 6))
    agree(student.layer_norm(x, gamma, beta), gamma * plain + beta)


@pytest.mark.points(0.5, "a constant row gives the shift, not NaN")
def test_constant_row_gives_the_shift(student, rng):
    beta = rng.shifts(8)
    agree(student.layer_norm(torch.full((2, 8), 3.0), rng.gains(8), beta), beta.expand(2, 8))


@pytest.mark.points(1, "LayerNorm starts with a weight of ones and a bias of zeros, and agrees with layer_norm")
def test_module_starts_neutral(student, rng):
    norm, x = student.LayerNorm(12), rng.normal(2, 5, 12)
    has_state(norm, {"weight": (12,), "bias": (12,)})
    equal(norm.value("weight"), torch.ones(12))
    equal(norm.value("bias"), torch.zeros(12))
    state = {"weight": rng.gains(12), "bias": rng.shifts(12)}
    norm.load_state_dict(state)
    agree(norm(x), tensor(student.layer_norm(x, *state.values()), (2, 5, 12)))


### BEGIN HIDDEN TESTS
FORBIDDEN_OPERATORS = ["native_layer_norm", "native_batch_norm", "native_group_norm", "_fused_rms_norm", "rms_norm"]


@pytest.mark.points(1, "the variance is the mean of the squared deviations, also in narrow rows")
@pytest.mark.attested
def test_uses_population_variance(student, reference, rng):
    computes_without(student.layer_norm, FORBIDDEN_OPERATORS, rng.normal(2, 3, 4), rng.gains(4), rng.shifts(4))
    for C in (3, 5, 12):
        x, gamma, beta = rng.normal(4, 7, C) + torch.linspace(-4, 4, C), rng.gains(C), rng.shifts(C)
        agree(student.layer_norm(x, gamma, beta), reference.layer_norm(x, gamma, beta))


@pytest.mark.points(1, "epsilon is added to the variance before the root")
def test_epsilon_stands_inside_the_root(student, reference, rng):
    x, gamma, beta = rng.normal(3, 5, 12), rng.gains(12), rng.shifts(12)
    for rows, eps in ((x, 0.1), (x, 1e-3), (0.1 * x, 0.5)):
        agree(student.layer_norm(rows, gamma, beta, eps=eps), reference.layer_norm(rows, gamma, beta, eps))
    agree(student.layer_norm(2e-3 * x, gamma, beta), reference.layer_norm(2e-3 * x, gamma, beta))
    agree(student.LayerNorm(12)(2e-3 * x), reference.layer_norm(2e-3 * x, torch.ones(12), torch.zeros(12)))


@pytest.mark.points(1, "each row is normalized by itself, whatever axes stand before it")
def test_each_row_by_itself(student, reference, rng):
    gamma, beta = rng.gains(8), rng.shifts(8)
    for leading in ((), (3,), (8, 5), (2, 3, 4)):
        x = rng.normal(*leading, 8) * (0.5 + 3 * rng.uniform(0, 1, *leading, 1)) + rng.normal(*leading, 1)
        agree(student.layer_norm(x, gamma, beta), reference.layer_norm(x, gamma, beta))


@pytest.mark.points(0.5, "adding a constant to a row, or stretching it, changes next to nothing")
def test_offset_and_scale_of_a_row_do_not_matter(student, reference, rng, trace):
    row = trace("row_scaled_and_shifted")
    row.agrees("normalized", student.layer_norm(*(row.inputs[name] for name in ("x", "gamma", "beta"))))
    x, gamma, beta = rng.normal(2, 3, 9).double(), rng.gains(9).double(), rng.shifts(9).double()
    agree(student.layer_norm(70 * x + 50, gamma, beta), reference.layer_norm(70 * x + 50, gamma, beta), dtype=x.dtype)


@pytest.mark.points(1, "gradients reach the input, the gain and the shift")
def test_gradients(student, reference, rng):
    inputs, along = (rng.normal(2, 5, 7, scale=2), rng.gains(7), rng.shifts(7)), rng.normal(2, 5, 7)
    leaves = [one.double().requires_grad_() for one in inputs]
    expected = torch.autograd.grad((reference.layer_norm(*leaves) * along).sum(), leaves)
    for got, wanted in zip(gradients(student.layer_norm, *inputs, along=along).arguments, expected, strict=True):
        agree(got, wanted)
    norm = student.LayerNorm(7)
    norm.load_state_dict({"weight": inputs[1], "bias": inputs[2]})
    found = gradients(norm, inputs[0], along=along).parameters
    agree(found.get("weight"), expected[1])
    agree(found.get("bias"), expected[2])


@pytest.mark.points(1, "LayerNorm uses its own weight, bias and epsilon, and remembers nothing")
@pytest.mark.attested
def test_module_uses_its_parameters(student, reference, rng):
    computes_without(student.LayerNorm(4), FORBIDDEN_OPERATORS, rng.normal(3, 4))
    norm, state = student.LayerNorm(12, eps=0.2), {"weight": rng.gains(12), "bias": rng.shifts(12)}
    norm.load_state_dict(state)
    for x in (rng.normal(3, 5, 12), rng.normal(2, 4, 12, scale=0.5, shift=1)):
        agree(norm(x), reference.layer_norm(x, *state.values(), eps=0.2))
    norm.eval()
    agree(norm(x), reference.layer_norm(x, *state.values(), eps=0.2))


@pytest.mark.points(0.5, "float64 in, float64 out; arguments stay as they were")
@pytest.mark.attested
def test_keeps_dtype_and_arguments(student, reference, rng):
    x, gamma, beta = rng.normal(2, 5, 7).double(), rng.gains(7).double(), rng.shifts(7).double()
    agree(student.layer_norm(x, gamma, beta), reference.layer_norm(x, gamma, beta), dtype=torch.float64)
    leaves_unchanged(student.layer_norm, x, gamma, beta)
    leaves_unchanged(student.LayerNorm(7), x.float())


### END HIDDEN TESTS
