"""Checks of `multi_head`: dealing features out to heads and back, and causal self-attention built on it."""

import pytest
import torch

from selfcheck.checking import agree, expect, has_state, rejects, tensor

WEIGHTS = {"qkv.weight": (36, 12), "output.weight": (12, 12)}


@pytest.mark.points(1, "split_heads gives each head its own columns")
def test_each_head_gets_its_columns(student, rng):
    x = rng.normal(2, 5, 12)
    agree(student.split_heads(x, 3), torch.stack([x[..., :4], x[..., 4:8], x[..., 8:]], dim=1))


@pytest.mark.points(0.5, "merge_heads puts the heads side by side and undoes split_heads")
def test_merge_undoes_split(student, rng):
    heads, x = rng.normal(2, 3, 5, 4), rng.normal(3, 4, 10)
    agree(student.merge_heads(heads), torch.cat([heads[:, 0], heads[:, 1], heads[:, 2]], dim=-1))
    agree(student.merge_heads(torch.stack([x[..., :5], x[..., 5:]], dim=1)), x)


@pytest.mark.points(0.5, "features that cannot be shared out evenly are a ValueError that names both numbers")
def test_rejects_an_uneven_split(student, rng):
    with rejects(10, 3):
        student.split_heads(rng.normal(2, 4, 10), 3)
    with rejects(10, 4):
        student.CausalSelfAttention(10, 4, 0.0)(rng.normal(2, 3, 10))


@pytest.mark.points(0.5, "CausalSelfAttention has the weights of qkv and output and no others")
def test_has_two_weights(student):
    has_state(student.CausalSelfAttention(12, 3, 0.1), WEIGHTS)


@pytest.mark.points(1, "CausalSelfAttention computes the attention update of Week 8 §10")
def test_reproduces_the_two_head_block(student, trace):
    example = trace("two_head_block")
    attention = student.CausalSelfAttention(4, 2, 0.0)
    attention.load_state_dict({name: example.inputs[name] for name in ("qkv.weight", "output.weight")})
    update = tensor(attention(example.inputs["ln1"]), (2, 2, 4))
    example.agrees("attention_update_last", update[:, -1])


@pytest.mark.points(1, "a later position changes nothing before it")
def test_no_look_ahead(student, rng):
    attention = student.CausalSelfAttention(12, 3, 0.0)
    attention.load_state_dict(rng.state(WEIGHTS))
    x = rng.normal(2, 5, 12)
    before = tensor(attention(x), (2, 5, 12))
    for t in range(1, 5):
        after = tensor(attention(torch.cat([x[:, :t], rng.normal(2, 5 - t, 12)], dim=1)), (2, 5, 12))
        agree(after[:, :t], before[:, :t])
        expect(not torch.equal(after[:, t:], before[:, t:]), "a position should read itself and those before it")


@pytest.mark.points(1, "in evaluation mode nothing is dropped")
def test_evaluation_drops_nothing(student, rng):
    plain, dropping = student.CausalSelfAttention(12, 3, 0.0), student.CausalSelfAttention(12, 3, 0.9)
    dropping.eval()
    weights, x = rng.state(WEIGHTS), rng.normal(2, 5, 12)
    plain.load_state_dict(weights)
    dropping.load_state_dict(weights)
    expected = tensor(plain(x), (2, 5, 12))
    agree(dropping(x), expected)
