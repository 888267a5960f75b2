"""Checks of `embedding`: learned rows for tokens and places, and the table of sines and cosines."""

import pytest
import torch

from autograder.suite.checking import agree, gradients, has_state, leaves_unchanged, rejects, tensor


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


### BEGIN HIDDEN TESTS
@pytest.mark.points(1, "embed adds token row and position row for sequences of any length up to the context")
def test_embeds_random_sequences(student, reference, rng):
    position_table = rng.normal(8, 5)
    for V, B, T in ((29, 3, 6), (7, 2, 8), (13, 4, 1)):
        token_ids, token_table = rng.integers(V, B, T), rng.normal(V, 5)
        expected = reference.embed(token_ids, token_table, position_table)
        agree(student.embed(token_ids, token_table, position_table), expected)


@pytest.mark.points(0.5, "a sequence longer than the context is a ValueError that names both lengths")
def test_rejects_a_sequence_beyond_the_context(student, rng):
    with rejects(9, 8):
        student.embed(rng.integers(5, 2, 9), rng.normal(5, 4), rng.normal(8, 4))
    module = student.TokenPositionEmbedding(6, 7, 4)
    with rejects(11, 7):
        module(rng.integers(6, 3, 11))


@pytest.mark.points(1, "both tables learn: gradients reach exactly the rows that were used")
def test_gradients_reach_the_rows_used(student, rng):
    token_ids, along = torch.tensor([[4, 1, 4], [0, 4, 1]]), rng.normal(2, 3, 5)
    found = gradients(student.embed, token_ids, rng.normal(6, 5), rng.normal(4, 5), along=along)
    by_token = torch.stack([along[token_ids == token].sum(0) for token in range(6)])
    by_place = torch.cat([along.sum(0), torch.zeros(1, 5)])
    agree(found.arguments[1], by_token)
    agree(found.arguments[2], by_place)


@pytest.mark.points(1, "TokenPositionEmbedding computes with the tables it holds")
def test_module_uses_its_tables(student, reference, rng):
    module = student.TokenPositionEmbedding(17, 9, 6)
    tables = rng.state({"token_embedding.weight": (17, 6), "position_embedding.weight": (9, 6)})
    module.load_state_dict(tables)
    token_ids = rng.integers(17, 3, 7)
    agree(module(token_ids), reference.embed(token_ids, *tables.values()))
    agree(module(token_ids[1:2, :4]), reference.embed(token_ids[1:2, :4], *tables.values()))


@pytest.mark.points(0.5, "both tables of TokenPositionEmbedding are trained")
def test_module_trains_both_tables(student, rng):
    module, along = student.TokenPositionEmbedding(7, 9, 3), rng.normal(2, 7, 3)
    module.load_state_dict(rng.state({"token_embedding.weight": (7, 3), "position_embedding.weight": (9, 3)}))
    token_ids = torch.stack([rng.permutation(7), rng.permutation(7)])
    found = gradients(module, token_ids, along=along).parameters
    agree(found.get("token_embedding.weight"), torch.stack([along[token_ids == token].sum(0) for token in range(7)]))
    agree(found.get("position_embedding.weight"), torch.cat([along.sum(0), torch.zeros(2, 3)]))


@pytest.mark.points(1, "sinusoidal_positions is right for other lengths and widths")
def test_sinusoidal_table_at_other_sizes(student, reference):
    for length, model_dim in ((8, 6), (50, 32), (3, 10)):
        agree(student.sinusoidal_positions(length, model_dim), reference.sinusoidal_positions(length, model_dim))


@pytest.mark.points(0.5, "an odd width has no pairs and is a ValueError that names it")
def test_rejects_an_odd_width(student):
    with rejects(7):
        student.sinusoidal_positions(5, 7)


@pytest.mark.points(0.5, "float64 tables give a float64 result and stay as they were")
@pytest.mark.attested
def test_keeps_dtype_and_arguments(student, reference, rng):
    token_ids, tokens, places = rng.integers(9, 2, 3), rng.normal(9, 4).double(), rng.normal(5, 4).double()
    agree(student.embed(token_ids, tokens, places), reference.embed(token_ids, tokens, places), dtype=torch.float64)
    leaves_unchanged(student.embed, token_ids, tokens, places)


### END HIDDEN TESTS
