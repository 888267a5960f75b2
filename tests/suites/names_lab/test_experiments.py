"""Checks of `experiments`: the numbers behind attention maps, sizes, temperatures, gaps, places and a scaling fit."""

import math

import pytest
import torch

from autograder.suite.checking import agree, expect, number, parts, rejects, same, tensor


def shapes(vocab_size, context_length, model_dim, num_layers):
    """Names and shapes of the rig model's parameters."""
    V, L, C = vocab_size, context_length, model_dim
    found = {"token_embedding.weight": (V, C), "position_embedding.weight": (L, C)}
    for layer in range(num_layers):
        found[f"blocks.{layer}.attention.qkv.weight"] = (3 * C, C)
        found[f"blocks.{layer}.attention.output.weight"] = (C, C)
    return found


def build(rig, state, num_heads, num_layers, **how):
    """The rig's model with these weights."""
    (V, C), L = state["token_embedding.weight"].shape, len(state["position_embedding.weight"])
    model = rig.Model(V, L, C, num_heads, num_layers, **how)
    model.load_state_dict(state)
    return model


@pytest.mark.points(2, "each row of a map sums to 1 and reads nothing later")
def test_maps_are_causal_shares(student, rig, rng):
    model = build(rig, rng.state(shapes(11, 8, 12, 2)), 3, 2)
    maps = tensor(student.attention_maps(model, rng.integers(11, 5)), (2, 3, 5, 5))
    agree(maps.sum(dim=-1), torch.ones(2, 3, 5))
    expect(not bool(maps.triu(1).any()), "no place should read a later one")


@pytest.mark.points(2, "sizes of the models of Day 3 exercise 2, from a formula")
def test_reproduces_the_model_sizes(student, trace):
    example = trace("model_sizes")
    V, L = (example.inputs[name].item() for name in ("vocab_size", "context_length"))
    plans = zip(*(example.inputs[name].tolist() for name in ("model_dim", "num_layers")), strict=True)
    found = student.model_size.each([(V, L, C, layers, True) for C, layers in plans])
    same(found, example.value("parameters").long().tolist())
    same(student.model_size(V, L, 64, 4), 204827 - 4 * 64)


@pytest.mark.points(1.5, "equal scores are as undecided as can be, and heat makes every model less certain")
def test_entropy_by_hand(student, rng):
    agree(student.mean_entropy(torch.zeros(3, 7), 0.7), math.log(7), rtol=1e-4)
    logits = torch.tensor([[math.log(1), math.log(3)]])
    agree(student.mean_entropy(logits, 1.0), -(0.25 * math.log(0.25) + 0.75 * math.log(0.75)), rtol=1e-4)
    cold, warm, hot = (number(student.mean_entropy(rng.normal(20, 7), t)) for t in (0.2, 1.0, 5.0))
    expect(cold < warm < hot, "the entropy should grow with the temperature")


@pytest.mark.points(1, "the share of novel names counts what was written, not what is known")
def test_share_of_novel_by_hand(student):
    agree(student.share_of_novel(["anna", "xq", "anna", "anna"], ["mia", "anna", "ava"]), 0.25)


@pytest.mark.points(1, "the gap is above 0 where validation is worse")
def test_gap_by_hand(student, rig, rng):
    sure = rig.Table(20 * torch.eye(5))
    inputs = torch.tensor([[1, 2], [3, 0]])
    known, unknown = (inputs, torch.tensor([[1, 3], [3, 3]])), (inputs, torch.tensor([[1, 3], [3, 4]]))
    agree(student.generalization_gap(sure, known, unknown), 5.0, rtol=1e-4)


@pytest.mark.points(1, "each place has a mean of its own")
def test_loss_by_place_by_hand(student, rig):
    table = torch.tensor([[0.0, math.log(3)], [0.0, 0.0]])
    inputs, targets = torch.tensor([[0, 1], [0, 0], [0, 1]]), torch.tensor([[0, 1], [1, -100], [1, -100]])
    losses = tensor(student.loss_by_place(rig.Table(table), inputs, targets), (2,), torch.float64)
    quarter, three_quarters = math.log(4), math.log(4 / 3)
    agree(losses.float(), torch.tensor([(quarter + 2 * three_quarters) / 3, math.log(2)]))


@pytest.mark.points(1.5, "points on a line give its slope and an interval of no width")
def test_fit_of_a_line(student):
    sizes = [1000, 8000, 50_000, 200_000]
    slope, low, high = (number(n) for n in parts(student.scaling_fit(sizes, [3 * n**-0.05 for n in sizes]), 3))
    agree(torch.tensor([slope, low, high]), torch.full((3,), -0.05), atol=1e-5)


### BEGIN HIDDEN TESTS
def some_rows(rng, vocab_size, N, T):
    """Inputs and targets [N,T] at random; from some place on, the targets of all rows but the first do not count."""
    inputs, targets = rng.integers(vocab_size, N, T), rng.integers(vocab_size, N, T)
    ends = rng.integers(T, N) + 1
    ends[0] = T
    targets[torch.arange(T) >= ends[:, None]] = -100
    return inputs, targets


@pytest.mark.points(3, "the maps agree with the reference, block by block and head by head")
def test_maps_agree_with_the_reference(student, reference, rig, rng):
    for V, L, C, num_heads, num_layers, T in ((11, 9, 12, 3, 2, 5), (7, 6, 8, 2, 3, 6), (9, 5, 10, 1, 1, 4)):
        state, token_ids = rng.state(shapes(V, L, C, num_layers)), rng.integers(V, T)
        model = build(rig, state, num_heads, num_layers)
        maps = student.attention_maps(model, token_ids)
        agree(maps, reference.attention_maps(state, token_ids, num_heads, num_layers))


@pytest.mark.points(1.5, "the model runs once in evaluation mode, and neither hooks nor modes are left changed")
@pytest.mark.attested
def test_maps_leave_the_model_as_found(student, reference, rig, rng):
    state, token_ids = rng.state(shapes(11, 8, 12, 2)), rng.integers(11, 5)
    for training in (True, False):
        model = build(rig, state, 3, 2)
        model.train(training)
        model.set_mode("part", not training)
        before = model.modes()
        agree(student.attention_maps(model, token_ids), reference.attention_maps(state, token_ids, 3, 2))
        expect(model.modes() == before, "each module should be back in the mode it was found in")
        expect(model.hooks() == 0, "no hook should be left on the model")
        calls = [(call["training"], call["graph"], call["shape"]) for call in model.calls()]
        expect(calls == [(False, False, [1, 5])], "the model should run once, in evaluation mode, without a graph")


@pytest.mark.points(0.5, "an error of the model gets out and leaves neither hooks nor modes changed")
@pytest.mark.attested
def test_maps_after_an_error(student, rig, rng):
    model = build(rig, rng.state(shapes(11, 8, 12, 2)), 3, 2, fails=True)
    before = model.modes()
    with rejects(1):
        student.attention_maps(model, rng.integers(11, 5))
    expect(model.modes() == before, "after an error each module should be back in the mode it was found in")
    expect(model.hooks() == 0, "after an error no hook should be left on the model")


@pytest.mark.points(1.5, "the formula holds for any sizes, with and without the bias")
def test_sizes_agree_with_the_reference(student, reference, rng):
    for C in (4, 12, 96):
        plan = rng.integer(5, 90), rng.integer(3, 70), C, rng.integer(1, 9)
        for output_bias in (False, True):
            same(student.model_size(*plan, output_bias), reference.model_size(*plan, output_bias))
        same(student.model_size(*plan), reference.model_size(*plan))


@pytest.mark.points(2, "the entropy agrees with the reference, cold and hot, for scores in the thousands too")
def test_entropy_agrees_with_the_reference(student, reference, rng):
    for temperature in (0.4, 1.0, 1.7):
        logits = rng.normal(9, 6, scale=2)
        agree(student.mean_entropy(logits, temperature), reference.mean_entropy(logits, temperature), rtol=1e-4)
    large = 1000.0 + 300 * rng.permutation(6).float()[None] + 300 * rng.normal(4, 6)
    for temperature in (1.0, 200.0):
        expected = reference.mean_entropy(large, temperature)
        # A float32 near 3000 is only known to 2e-4, and so is the logarithm of a probability made from it.
        agree(student.mean_entropy(large, temperature), expected, rtol=1e-3, atol=3e-3)
    for temperature in (0, -0.5):
        with rejects(temperature):
            student.mean_entropy(large, temperature)


@pytest.mark.points(0.5, "the share of novel names is right for any lists, and nothing written is an error")
def test_share_of_novel_of_any_lists(student, rng):
    for wrote, knows in ((7, 9), (12, 4), (5, 0)):
        names = [f"name{n}" for n in range(15)]
        known = [names[i] for i in rng.integers(6, knows).tolist()] if knows else []
        written = [names[i] for i in rng.integers(12, wrote).tolist()] + ["new", "name0", "new", "name0", "new"]
        expected = sum(name not in known for name in written) / len(written)
        agree(student.share_of_novel(written, known), expected)
    with rejects():
        student.share_of_novel([], ["anna"])


@pytest.mark.points(1.5, "the gap agrees with the reference and is measured on the finished model")
def test_gap_agrees_with_the_reference(student, reference, rig, rng):
    table, one, other = rng.normal(7, 7, scale=2), some_rows(rng, 7, 8, 5), some_rows(rng, 7, 5, 6)
    for training, validation in ((one, other), (other, one)):
        expected = reference.evaluate(table, *validation) - reference.evaluate(table, *training)
        agree(student.generalization_gap(rig.Table(table), training, validation), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.points(1.5, "the losses of all places agree with the reference; modes stay, no graph is recorded")
@pytest.mark.attested
def test_loss_by_place_agrees_with_the_reference(student, reference, rig, rng):
    for N, T, V in ((12, 5, 9), (4, 7, 6)):
        (inputs, targets), table = some_rows(rng, V, N, T), rng.normal(V, V, scale=2)
        targets[:, -1], targets[0, 0] = -100, 0
        model = rig.Table(table)
        got = student.loss_by_place(model, inputs, targets)
        agree(got, reference.loss_by_place(table, inputs, targets), dtype=torch.float64, rtol=1e-4, atol=1e-5)
        expect(set(model.modes().values()) == {True}, "every module should be back in the mode it was found in")
        expect(not any(call["graph"] for call in model.calls()), "measuring needs no graph")


@pytest.mark.points(2, "slope and interval agree with the reference, and two points are an error")
def test_fit_agrees_with_the_reference(student, reference, rng):
    for n in (3, 5, 8):
        sizes = (10 ** rng.uniform(3, 6, n, dtype=torch.float64)).long().tolist()
        losses = rng.uniform(1.9, 2.6, n, dtype=torch.float64).tolist()
        got = torch.tensor([number(value) for value in parts(student.scaling_fit(sizes, losses), 3)])
        agree(got, torch.tensor(reference.scaling_fit(sizes, losses)), rtol=1e-3, atol=1e-6)
    with rejects(2):
        student.scaling_fit([1000, 9000], [2.4, 2.2])


@pytest.mark.points(1, "your own loss and your gap together agree with the reference")
def test_own_parts_together(own, reference, rig, rng):
    table, training, validation = rng.normal(9, 9, scale=2), some_rows(rng, 9, 11, 4), some_rows(rng, 9, 6, 7)
    expected = reference.evaluate(table, *validation) - reference.evaluate(table, *training)
    agree(own.generalization_gap(rig.Table(table), training, validation), expected, rtol=1e-4, atol=1e-5)


### END HIDDEN TESTS
