"""Checks of `layer_norm`: each row by its own mean and population variance, then gain and shift."""

import pytest
import torch

from selfcheck.checking import agree, equal, has_state, tensor


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
