"""Checks of `embedding`: learned rows for tokens and places, and the table of sines and cosines."""

import pytest
import torch

from selfcheck.checking import agree, has_state, tensor


@pytest.mark.points(1, "embeds the two prompts of Week 8 §3")
def test_reproduces_the_two_prompts(student, trace):
    prompts = trace("two_prompts")
    got = student.embed(prompts.inputs["token_ids"], prompts.inputs["token_table"], prompts.inputs["position_table"])
    prompts.agrees("residual_0", got)


@pytest.mark.points(1, "adds the row of the place, counted from the first token")
def test_same_token_differs_by_its_place_only(student, rng):
    token_ids, positions = torch.full((2, 4), 6), rng.normal(9, 5)
    got = tensor(student.embed(token_ids, rng.normal(7, 5), positions), (2, 4, 5))
    agree(got - got[:, :1], (positions[:4] - positions[0]).expand(2, 4, 5))
    agree(student.embed(token_ids, torch.zeros(7, 5), positions), positions[:4].expand(2, 4, 5))


@pytest.mark.points(1, "TokenPositionEmbedding keeps its tables where the optimizer finds them and agrees with embed")
def test_module_holds_both_tables(student, rng):
    module = student.TokenPositionEmbedding(13, 8, 6)
    has_state(module, {"token_embedding.weight": (13, 6), "position_embedding.weight": (8, 6)})
    tables = rng.state({"token_embedding.weight": (13, 6), "position_embedding.weight": (8, 6)})
    module.load_state_dict(tables)
    token_ids = rng.integers(13, 3, 5)
    got = tensor(module(token_ids), (3, 5, 6))
    agree(student.embed(token_ids, *tables.values()), got)


@pytest.mark.points(1, "sinusoidal_positions gives the table of Day 3 ch. 5")
def test_reproduces_the_sinusoidal_table(student, trace):
    trace("sinusoidal_d4").agrees("table", student.sinusoidal_positions(4, 4))
