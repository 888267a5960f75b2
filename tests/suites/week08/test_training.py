"""Checks of `training`: the schedule, clipping, the evaluation loss and the loop, on models small enough to recompute.

The rig's model gives the scores `table[token] + bias`, and half of them in training mode.
"""

import pytest
import torch
from torch.nn import functional as F

from autograder.suite.checking import agree, equal, expect, number, numbers, parts, rejects


def token_batches(rng, vocab_size, *sizes):
    """One batch (inputs [B,T], targets [B,T]) for each size (B, T)."""
    return [(rng.integers(vocab_size, *size), rng.integers(vocab_size, *size)) for size in sizes]


def rates(student, steps, *settings):
    """The learning rates of these steps [len(steps)]."""
    found = student.learning_rate.each([(step, *settings) for step in steps])
    return torch.tensor([number(rate) for rate in found], dtype=torch.float64)


@pytest.mark.points(1, "the learning rate climbs step by step, then follows half a cosine wave")
def test_learning_rate_by_hand(student):
    steps = [0, 4, 9, 10, 35, 60, 110]
    expected = torch.tensor([0.1, 0.5, 1.0, 1.0, 0.1 + 0.9 * (2 + 2**0.5) / 4, 0.55, 0.1])
    agree(rates(student, steps, 1.0, 10, 110), expected, dtype=torch.float64, rtol=1e-5, atol=0.0)


@pytest.mark.points(0.5, "gives the learning rates of Day 3 ch. 8")
def test_reproduces_the_schedule_of_the_course(student, trace):
    example = trace("day3_schedule")
    settings = [example.inputs[name].item() for name in ("peak", "warmup_steps", "total_steps")]
    got = rates(student, example.inputs["steps"].tolist(), *settings)
    agree(got, example.value("learning_rate"), dtype=torch.float64, rtol=1e-4, atol=0.0)


@pytest.mark.points(1, "clips the joint norm of Day 3 ch. 8 and reports what it was")
@pytest.mark.attested
def test_reproduces_the_clipping_example(student, rig, trace):
    example = trace("clip_example")
    weights = rig.Weights(list(example.inputs["gradient"].split(1)))
    norm = number(student.clip_gradients(weights, example.inputs["max_norm"].item()))
    agree(norm, example.value("norm").item(), rtol=1e-4)
    for got, expected in zip(parts(weights.now(), 2), example.value("clipped").split(1), strict=True):
        agree(got, expected)


@pytest.mark.points(0.5, "gradients that are small enough stay as they are")
@pytest.mark.attested
def test_small_gradients_stay(student, rig, rng):
    before = [rng.normal(3, 4), rng.normal(5)]
    weights = rig.Weights(before)
    norm = torch.cat([gradient.flatten() for gradient in before]).norm().item()
    agree(student.clip_gradients(weights, 100.0), norm, rtol=1e-4)
    for got, expected in zip(parts(weights.now(), 2), before, strict=True):
        equal(got, expected)


@pytest.mark.points(0.5, "the evaluation loss is a mean over tokens, not over batches")
def test_every_token_weighs_the_same(student, rig, rng):
    table, bias, pairs = rng.normal(7, 7), rng.normal(7), token_batches(rng, 7, (1, 2), (3, 5))
    inputs, targets = (torch.cat([tokens.flatten() for tokens in column]) for column in zip(*pairs, strict=True))
    loss = student.estimate_loss(rig.Model(table, bias), pairs)
    agree(loss, F.cross_entropy(table[inputs] + bias, targets).item())
    expect(isinstance(loss, float), "estimate_loss should return a Python float")


@pytest.mark.points(0.5, "training takes a batch, a step and a note of the loss each time")
@pytest.mark.attested
def test_takes_one_step_a_batch(student, rig, rng):
    table, bias, pairs = rng.normal(7, 7), rng.normal(7), token_batches(rng, 7, *[(2, 3)] * 3)
    model, batches, schedule = rig.Model(table, bias), rig.Batches(pairs), rig.Schedule([0.0] * 3)
    losses = numbers(student.train(model, rig.Optimizer(model), batches, schedule, 3, 100.0), 3)
    expected = [F.cross_entropy((table[x] + bias).flatten(0, 1) / 2, y.flatten()).item() for x, y in pairs]
    agree(losses, expected, dtype=torch.float64, rtol=1e-4, atol=1e-6)
    expect(batches.drawn() == 3, "three steps should draw three batches")


### BEGIN HIDDEN TESTS
@pytest.mark.points(0.5, "the learning rate is right at every kind of step, whatever the settings")
def test_learning_rate_agrees_with_the_reference(student, reference, rng):
    warmup, decay = rng.integer(5, 20), rng.integer(40, 90)
    end, floor_ratio = warmup + decay, 0.05 + 0.05 * rng.integer(1, 5)
    steps = [0, 1, warmup - 1, warmup, warmup + 1, warmup + decay // 4, warmup + decay // 2, end - 7, end - 1, end]
    for settings in [(2.0, warmup, end), (1.5, warmup, end, floor_ratio)]:
        expected = torch.tensor([reference.learning_rate(step, *settings) for step in steps])
        agree(rates(student, steps, *settings), expected, dtype=torch.float64, rtol=1e-5, atol=0.0)


@pytest.mark.points(0.5, "the learning rate stays at the floor after the end, and needs neither warm-up nor decay")
def test_learning_rate_at_its_edges(student):
    flat = torch.full((4,), 0.4)
    agree(rates(student, [50, 51, 75, 100], 2.0, 10, 50, 0.2), flat, dtype=torch.float64, rtol=1e-5)
    agree(rates(student, [0, 20, 40], 1.0, 0, 40), [1.0, 0.55, 0.1], dtype=torch.float64, rtol=1e-5)
    agree(rates(student, [0, 3, 4], 1.0, 4, 4), [0.25, 1.0, 0.1], dtype=torch.float64, rtol=1e-5)


@pytest.mark.points(1, "all gradients are scaled together, in place, by their joint norm")
@pytest.mark.attested
def test_clips_the_joint_norm_in_place(student, reference, rig, rng):
    before = [rng.normal(3, 4, scale=3), rng.normal(5), rng.normal(2, 2, 3)]
    weights = rig.Weights(before)
    norm, after = reference.clip_gradients(before, 2.0)
    agree(student.clip_gradients(weights, 2.0), norm, rtol=1e-4)
    for now, original, expected in zip(parts(weights.now(), 3), parts(weights.original(), 3), after, strict=True):
        agree(now, expected)
        agree(original, expected)


@pytest.mark.points(0.5, "clipping reads a generator, skips missing gradients and stands gradients of zero")
@pytest.mark.attested
def test_clips_whatever_it_is_given(student, reference, rig, rng):
    before = [None, rng.normal(3, 4), None, rng.normal(6, scale=2)]
    weights = rig.Weights(before)
    norm, after = reference.clip_gradients(before, 0.5)
    agree(student.clip_gradients(weights.once(), 0.5), norm, rtol=1e-4)
    now = parts(weights.now(), 4)
    expect(now[0] is None and now[2] is None, "a missing gradient should stay missing")
    agree(now[1], after[1])
    agree(now[3], after[3])
    still = rig.Weights([torch.zeros(2, 3), None])
    agree(student.clip_gradients(still, 0.5), 0.0)
    equal(parts(still.now(), 2)[0], torch.zeros(2, 3))
    agree(student.clip_gradients(rig.Weights([None]), 0.5), 0.0)


@pytest.mark.points(0.5, "targets that do not count have no weight in the evaluation loss")
def test_evaluation_leaves_out_ignored_targets(student, reference, rig, rng):
    table, bias, pairs = rng.normal(7, 7), rng.normal(7), token_batches(rng, 7, (3, 4), (2, 3), (1, 6))
    pairs[0][1][:, 2:], pairs[2][1][0, 1:4] = -100, -100
    batches = rig.Batches(pairs)
    agree(student.estimate_loss(rig.Model(table, bias), batches), reference.estimate_loss(table, bias, pairs))


@pytest.mark.points(0.5, "evaluation changes nothing: not a mode, a weight or a gradient, and records no graph")
@pytest.mark.attested
def test_evaluation_leaves_the_model_as_found(student, rig, rng):
    table, bias, pairs = rng.normal(7, 7), rng.normal(7), token_batches(rng, 7, (2, 3), (1, 4))
    model, chance = rig.Model(table, bias), rig.random_state()
    model.set_gradients(bias + table, bias)
    for training in (False, True):
        model.train(training)
        model.set_mode("part", False)
        before = model.modes()
        number(student.estimate_loss(model, pairs))
        expect(model.modes() == before, "each module should be back in the mode it was found in")
    expect(not any(call["training"] for call in model.calls()), "the model should be evaluated in evaluation mode")
    expect(not any(call["graph"] for call in model.calls()), "evaluation needs no graph")
    expect(torch.equal(chance, rig.random_state()), "evaluation should neither set a seed nor draw from it")
    model(*pairs[0])
    expect(model.calls()[-1]["graph"], "after the evaluation graphs should be recorded again")
    found = [*parts(model.gradients_now(), 2), *parts(list(model.trainable().values()), 2)]
    for got, expected in zip(found, [bias + table, bias, table, bias], strict=True):
        equal(got, expected)


@pytest.mark.points(0.5, "an error during evaluation gets out, and the modes are still restored")
@pytest.mark.attested
def test_evaluation_restores_the_modes_after_an_error(student, rig, rng):
    model, pairs = rig.Model(rng.normal(7, 7), rng.normal(7)), token_batches(rng, 7, (2, 3), (1, 4))
    before = model.modes()
    with rejects(1):
        student.estimate_loss(model, rig.Batches(pairs, fails_after=1))
    expect(model.modes() == before, "after an error each module should be back in the mode it was found in")


@pytest.mark.points(1, "losses and weights of a whole run agree with the reference")
def test_run_agrees_with_the_reference(student, reference, rig, rng):
    table, bias, pairs = rng.normal(7, 7), rng.normal(7), token_batches(rng, 7, *[(2, 3)] * 6)
    pairs[1][1][0, 1:] = -100
    steps = [0.5, 2.0, 3.0, 1.0, 2.5, 1.5]
    model = rig.Model(table, bias)
    model.eval()
    optimizer, batches = rig.Optimizer(model), rig.Batches(pairs)
    losses = numbers(student.train(model, optimizer, batches, rig.Schedule(steps), 6, 100.0), 6)
    expected, *final = reference.train(table, bias, pairs, steps.__getitem__, 100.0)
    agree(losses, expected, dtype=torch.float64, rtol=1e-4, atol=1e-5)
    for got, weight in zip(parts(list(model.trainable().values()), 2), final, strict=True):
        agree(got, weight, rtol=1e-4, atol=1e-4)


@pytest.mark.points(0.5, "gradients are clipped between the backward pass and the step")
def test_run_clips_before_each_step(student, reference, rig, rng):
    table, bias, pairs = rng.normal(7, 7, scale=3), rng.normal(7), token_batches(rng, 7, *[(2, 3)] * 4)
    model = rig.Model(table, bias)
    student.train(model, rig.Optimizer(model), rig.Batches(pairs), rig.Schedule([2.0] * 4), 4, 0.05)
    _, *final = reference.train(table, bias, pairs, lambda step: 2.0, 0.05)
    for got, weight in zip(parts(list(model.trainable().values()), 2), final, strict=True):
        agree(got, weight, rtol=1e-4, atol=1e-4)


@pytest.mark.points(0.5, "each step has its own batch, its own rate in every group, and training mode")
@pytest.mark.attested
def test_run_uses_what_it_was_given(student, rig, rng):
    pairs, steps = token_batches(rng, 7, (2, 3), (1, 4), (3, 2), (2, 5)), [0.25, 0.5, 0.75, 1.0]
    model = rig.Model(rng.normal(7, 7), rng.normal(7))
    model.eval()
    optimizer, batches, chance = rig.Optimizer(model), rig.Batches(pairs), rig.random_state()
    numbers(student.train(model, optimizer, batches, rig.Schedule(steps), 4, 1.0), 4)
    expect(optimizer.rates() == [[rate, rate] for rate in steps], "a step should use its rate in every group")
    expect(batches.drawn() == 4, "each step should draw one batch")
    shapes = [call["shape"] for call in model.calls()]
    expect(shapes == [list(inputs.shape) for inputs, _ in pairs], "each batch should be used once, in order")
    expect(all(call["training"] for call in model.calls()), "the model should train in training mode")
    expect(torch.equal(chance, rig.random_state()), "training should neither set a seed nor draw from it")


### END HIDDEN TESTS
