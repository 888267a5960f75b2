"""Checks of `multi_head`: dealing features out to heads and back, and causal self-attention built on it."""

import pytest
import torch

from autograder.suite.checking import agree, expect, gradients, has_state, leaves_unchanged, rejects, tensor

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


### BEGIN HIDDEN TESTS
@pytest.mark.points(2, "CausalSelfAttention is right for random weights")
@pytest.mark.narrow("sums in another order take an eighth of the tolerance with some inputs")
def test_attention_of_random_weights(student, reference, rng):
    attention, weights, x = student.CausalSelfAttention(12, 3, 0.0), rng.state(WEIGHTS), rng.normal(2, 5, 12)
    attention.load_state_dict(weights)
    gap = x.clone()
    gap[:, 2] = 0.0  # its scores are 0, and it is read all the same
    for values in (x, 3 * x, gap):
        agree(attention(values), reference.causal_self_attention(values, *weights.values(), 3))


@pytest.mark.points(1, "other numbers of heads, features and positions")
def test_attention_at_other_sizes(student, reference, rng):
    sizes = ((3, 10, 5, (4, 5)), (2, 8, 2, (6, 7)), (4, 6, 1, (3, 4)), (2, 8, 4, (1, 2)), (1, 2, 1, (260,)))
    for B, C, H, lengths in sizes:
        attention = student.CausalSelfAttention(C, H, 0.0)
        weights = rng.state({"qkv.weight": (3 * C, C), "output.weight": (C, C)})
        attention.load_state_dict(weights)
        for T in lengths:
            x = rng.normal(B, T, C)
            agree(attention(x), reference.causal_self_attention(x, *weights.values(), H))


@pytest.mark.points(1, "each position reads itself and every earlier one, and no other sequence")
def test_reads_exactly_what_it_may(student, rng):
    attention, x = student.CausalSelfAttention(12, 3, 0.0), rng.normal(2, 4, 12)
    attention.load_state_dict(rng.state(WEIGHTS))
    attention.eval()
    for t in range(4):
        along = torch.zeros(2, 4, 12)
        along[1, t] = rng.normal(12)
        (slopes,) = gradients(attention, x, along=along).arguments
        read = tensor(slopes, (2, 4, 12)).abs().amax(-1)
        expect(bool((read[1, : t + 1] > 1e-6).all()), "a position should read itself and every earlier one")
        expect(bool((read[1, t + 1 :] == 0).all()), "a position should not read a later one")
        expect(bool((read[0] == 0).all()), "a sequence should not read another one of the batch")


@pytest.mark.points(1, "gradients reach the input and all weights")
def test_gradients(student, reference, rng):
    attention, weights, x, along = (
        student.CausalSelfAttention(12, 3, 0.0),
        rng.state(WEIGHTS),
        rng.normal(2, 5, 12),
        rng.normal(2, 5, 12),
    )
    attention.load_state_dict(weights)
    leaves = [one.double().requires_grad_() for one in (x, *weights.values())]
    expected = torch.autograd.grad((reference.causal_self_attention(*leaves, 3) * along).sum(), leaves)
    found = gradients(attention, x, along=along)
    for got, wanted in zip((found.arguments[0], *map(found.parameters.get, WEIGHTS)), expected, strict=True):
        agree(got, wanted)


@pytest.mark.points(1, "in training mode dropout acts on the attention weights")
def test_training_drops_attention_weights(student, reference, rng):
    # The first position has one weight a head: dropping it empties the whole head, with an identity as output layer.
    attention = student.CausalSelfAttention(6, 2, 0.4)
    weights = {"qkv.weight": rng.weight(18, 6), "output.weight": torch.eye(6)}
    attention.load_state_dict(weights)
    x = rng.normal(1, 2, 6)
    first = tensor(attention(x.expand(400, 2, 6)), (400, 2, 6))[:, 0]
    kept = reference.causal_self_attention(x, *weights.values(), 2)[:, 0].expand(400, 6) / 0.6**2
    agree(torch.where(first == 0, kept.float(), first), kept)
    gone = (first.reshape(400, 2, 3) == 0).all(-1).double().mean()
    # Expected 0.4 + 0.6 * 0.4^3 of 800 heads; five standard errors, so one false alarm in 1.7 million.
    expect(abs(float(gone) - 0.4384) < 0.088, "dropout should drop single attention weights, after the softmax")


@pytest.mark.points(0.5, "in training mode dropout acts on the output, after the output layer")
def test_training_drops_output_entries(student, rng):
    attention = student.CausalSelfAttention(6, 2, 0.4)
    attention.load_state_dict(rng.state({"qkv.weight": (18, 6), "output.weight": (6, 6)}))
    x = rng.normal(1, 2, 6).expand(400, 2, 6)
    got = tensor(attention(x), (400, 2, 6))
    gone = got[:, 0] == 0
    # An entry is 0 when it is dropped or both heads were: 0.4 + 0.6 * 0.4^2; a row's share has deviation 0.29.
    expect(abs(float(gone.double().mean()) - 0.496) < 5 * 0.29 / 20, "dropout should drop entries of the result")
    # All of a row is 0 in 0.4^2 + 0.84 * 0.4^6 of the cases. Both bounds are five standard errors.
    expect(float(gone.all(-1).double().mean()) < 0.163 + 0.093, "dropout should drop single entries, not whole rows")
    expect(not torch.equal(tensor(attention(x), (400, 2, 6)), got), "each call should drop other entries")


@pytest.mark.points(1, "splitting and merging work for other sizes and any memory layout")
def test_any_layout(student, reference, rig, rng):
    for B, T, C, H in ((3, 4, 10, 5), (2, 7, 6, 1), (1, 3, 8, 8)):
        x, heads = rng.normal(B, T, C), rng.normal(B, H, T, C // H)
        agree(rig.on_a_transposed_layout(student.split_heads, x, H), reference.split_heads(x, H))
        agree(rig.on_a_transposed_layout(student.merge_heads, heads), reference.merge_heads(heads))
        agree(student.merge_heads(heads), reference.merge_heads(heads))


@pytest.mark.points(0.5, "a module in float64 gives float64")
def test_double_precision(student, reference, rng):
    attention, weights = student.CausalSelfAttention(12, 3, 0.0), rng.state(WEIGHTS, dtype=torch.float64)
    attention.double()
    attention.load_state_dict(weights)
    x = rng.normal(2, 5, 12, dtype=torch.float64)
    agree(attention(x), reference.causal_self_attention(x, *weights.values(), 3), dtype=torch.float64)


@pytest.mark.points(0.5, "float64 in, float64 out for both functions; arguments stay as they were")
@pytest.mark.attested
def test_keeps_dtype_and_arguments(student, reference, rng):
    x = rng.normal(2, 5, 12, dtype=torch.float64)
    agree(student.split_heads(x, 3), reference.split_heads(x, 3), dtype=torch.float64)
    agree(student.merge_heads(x.view(2, 5, 4, 3)), reference.merge_heads(x.view(2, 5, 4, 3)), dtype=torch.float64)
    leaves_unchanged(student.split_heads, x, 3)
    leaves_unchanged(student.merge_heads, x.view(2, 5, 4, 3))
    leaves_unchanged(student.CausalSelfAttention(12, 3, 0.0), rng.normal(2, 5, 12))


### END HIDDEN TESTS
