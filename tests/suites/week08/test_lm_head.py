"""Checks of `lm_head`: vocabulary scores, the loss, the whole model, and Week 8's trace through all own parts."""

import math

import pytest
import torch
from torch.nn import functional as F

from autograder.suite.checking import agree, expect, gradients, has_state, leaves_unchanged, parts, rejects, tensor


def shapes(vocab_size, context_length, model_dim, num_layers):
    """Names and shapes of a model's parameters."""
    V, L, C = vocab_size, context_length, model_dim
    block = {
        "ln1.weight": (C,),
        "ln1.bias": (C,),
        "attention.qkv.weight": (3 * C, C),
        "attention.output.weight": (C, C),
        "ln2.weight": (C,),
        "ln2.bias": (C,),
        "ffn.expand.weight": (4 * C, C),
        "ffn.expand.bias": (4 * C,),
        "ffn.project.weight": (C, 4 * C),
        "ffn.project.bias": (C,),
    }
    return {
        "token_embedding.weight": (V, C),
        "position_embedding.weight": (L, C),
        **{f"blocks.{layer}.{name}": shape for layer in range(num_layers) for name, shape in block.items()},
        "final_norm.weight": (C,),
        "final_norm.bias": (C,),
        "lm_head.weight": (V, C),
        "lm_head.bias": (V,),
    }


def build(module, state, num_heads, num_layers):
    """A MiniGPT of this module with these weights, in evaluation mode."""
    V, C = state["token_embedding.weight"].shape
    L = state["position_embedding.weight"].shape[0]
    model = module.MiniGPT(V, L, C, num_heads, num_layers, 0.0)
    model.load_state_dict(state)
    model.eval()
    return model


def course_state(example):
    """The weights of Week 8's two-prompt trace as a state dict."""
    renamed = {
        "token_embedding.weight": "token_table",
        "position_embedding.weight": "position_table",
        "lm_head.weight": "output_weight",
        "lm_head.bias": "output_bias",
    }
    return {name: example.inputs[renamed.get(name, name)] for name in shapes(5, 2, 4, 1)}


STAGES = ["residual_0", "ln1", "attention_update", "residual_after_attention", "ln2", "ffn_update"]
STAGES += ["residual_after_ffn", "final_hidden", "logits"]


def stages(rig, model, token_ids):
    """What the parts of a one-block model make of these tokens, stage by stage in course order."""
    found = rig.stages(model, token_ids)
    expect(isinstance(found, dict) and list(found) == STAGES, "the model's parts could not be run one by one")
    for name, stage in found.items():
        yield name, tensor(stage, (*token_ids.shape, 5 if name == "logits" else 4))
    yield "probabilities", found["logits"].softmax(dim=-1)


@pytest.mark.points(1, "scores the candidates of Week 8 §13")
def test_scores_the_candidates(student, trace, rng):
    example = trace("candidate_scores")
    example.agrees("logits", student.vocabulary_logits(*example.inputs.values()))
    hidden, weight, bias = rng.normal(2, 3, 4), rng.weight(7, 4), rng.shifts(7)
    agree(student.vocabulary_logits(hidden, weight, bias), F.linear(hidden, weight, bias))


@pytest.mark.points(0.5, "equal scores cost the logarithm of the vocabulary size, perfect scores cost nothing")
def test_loss_by_hand(student, rng):
    targets = rng.integers(7, 2, 3)
    agree(student.next_token_loss(torch.zeros(2, 3, 7), targets), torch.tensor(math.log(7)))
    agree(student.next_token_loss(40 * F.one_hot(targets, 7).float(), targets), torch.tensor(0.0))


@pytest.mark.points(1, "the model owns tables, blocks, a final norm and a head with a bias")
def test_owns_its_parts(student):
    has_state(student.MiniGPT(11, 8, 12, 3, 2, 0.1), shapes(11, 8, 12, 2))


@pytest.mark.points(0.5, "reads up to context_length tokens and refuses more")
def test_refuses_too_many_tokens(student, rng):
    model = build(student, rng.state(shapes(11, 8, 12, 1)), 3, 1)
    tensor(parts(model(rng.integers(11, 2, 8)), 2)[0], (2, 8, 11))
    with rejects(9, 8):
        model(rng.integers(11, 2, 9))


@pytest.mark.points(2, "your own parts together give the last position of Week 8's two prompts")
def test_reproduces_the_two_prompts(own, rig, trace):
    example = trace("two_prompts")
    model = build(own, course_state(example), num_heads=2, num_layers=1)
    for name, stage in stages(rig, model, example.inputs["token_ids"]):
        if f"{name}_last" in example.values:
            gap = (stage[:, -1].double() - example.value(f"{name}_last")).abs().max().item()
            expect(gap < 6e-5, f"`{name}` is the first stage that differs from {example.where}")


### BEGIN HIDDEN TESTS
@pytest.mark.points(1, "the loss is the mean over every position of every row")
def test_loss_agrees_with_the_reference(student, reference, rng):
    logits, targets = rng.normal(3, 4, 7, scale=2), rng.integers(7, 3, 4)
    agree(student.next_token_loss(logits, targets), reference.next_token_loss(logits, targets))
    got = gradients(student.next_token_loss, logits, targets, along=torch.tensor(1.0))
    agree(got.arguments[0], reference.loss_gradient(logits, targets))


@pytest.mark.points(0.5, "targets that do not count change neither the sum nor the number of terms")
def test_ignored_targets_do_not_count(student, reference, rng):
    logits, targets = rng.normal(3, 4, 7, scale=2), rng.integers(6, 3, 4)
    targets[0, 2:], targets[2] = -100, -100
    agree(student.next_token_loss(logits, targets), reference.next_token_loss(logits, targets))
    targets[targets == -100] = 6
    agree(student.next_token_loss(logits, targets, ignore_index=6), reference.next_token_loss(logits, targets, 6))


@pytest.mark.points(0.5, "the loss stands scores in the thousands, and double precision")
def test_loss_stands_large_scores(student, reference, rng):
    logits, targets = rng.normal(3, 4, 7, scale=2), rng.integers(7, 3, 4)
    agree(student.next_token_loss(1000 * logits, targets), reference.next_token_loss(1000 * logits, targets))
    double = logits.double()
    agree(student.next_token_loss(double, targets), reference.next_token_loss(double, targets), dtype=torch.float64)


@pytest.mark.points(1, "the model's scores agree with the reference")
def test_model_agrees_with_the_reference(student, reference, rng):
    state, token_ids = rng.state(shapes(11, 8, 12, 2)), rng.integers(11, 2, 5)
    logits, loss = parts(build(student, state, 3, 2)(token_ids), 2)
    agree(logits, reference.mini_gpt_logits(state, token_ids, 3, 2), rtol=1e-4, atol=1e-4)
    expect(loss is None, "without targets the loss should be None")


@pytest.mark.points(0.5, "with targets the model returns its loss, padding left out, and gradients flow through it")
def test_model_returns_its_loss(student, reference, rng):
    state, token_ids, targets = rng.state(shapes(11, 8, 12, 1)), rng.integers(11, 3, 8), rng.integers(11, 3, 8)
    targets[1, 5:] = -100
    model = build(student, state, 3, 1)
    logits, loss = parts(model(token_ids, targets), 2)
    expected = reference.mini_gpt_logits(state, token_ids, 3, 1)
    agree(logits, expected, rtol=1e-4, atol=1e-4)
    agree(loss, reference.next_token_loss(expected, targets))
    got = gradients(model, token_ids, targets, along=(None, torch.tensor(1.0)))
    agree(got.parameters.get("lm_head.bias"), reference.loss_gradient(expected, targets).sum(dim=(0, 1)))


@pytest.mark.points(0.5, "every parameter of every block gets its gradient")
def test_gradients_reach_every_block(student, reference, rng):
    state, token_ids, along = rng.state(shapes(11, 8, 12, 2)), rng.integers(11, 2, 5), rng.normal(2, 5, 11)
    expected = reference.mini_gpt_gradients(state, token_ids, 3, 2, along)
    got = gradients(build(student, state, 3, 2), token_ids, along=(along, None))
    for name in expected:
        agree(got.parameters.get(name), expected[name], rtol=1e-3, atol=1e-3)


@pytest.mark.points(0.5, "dropout acts inside the blocks and nowhere else")
def test_hands_dropout_to_the_blocks_only(student, reference, rng):
    state, token_ids = rng.state(shapes(11, 8, 12, 1)), rng.integers(11, 2, 5)
    model = student.MiniGPT(11, 8, 12, 3, 1, 1.0)
    model.load_state_dict(state)
    model.train()
    logits, _ = parts(model(token_ids), 2)
    agree(logits, reference.mini_gpt_logits(state, token_ids, 3, num_layers=0), rtol=1e-4, atol=1e-4)
    chance = student.MiniGPT(11, 8, 12, 3, 1, 0.5)
    once, again = (tensor(parts(chance(token_ids), 2)[0], (2, 5, 11)) for _ in range(2))
    expect(not torch.equal(once, again), "two training passes should drop different entries: do not set a seed")


@pytest.mark.points(0.5, "scores and targets handed in stay as they were")
@pytest.mark.attested
def test_leaves_its_arguments_unchanged(student, rng):
    targets = rng.integers(7, 3, 4)
    leaves_unchanged(student.next_token_loss, rng.normal(3, 4, 7), targets, int(targets[0, 0]))
    leaves_unchanged(student.vocabulary_logits, rng.normal(2, 3, 4), rng.weight(7, 4), rng.shifts(7))
    model, targets = build(student, rng.state(shapes(7, 8, 4, 1)), 2, 1), rng.integers(7, 3, 4)
    targets[1, 2:] = -100
    leaves_unchanged(model, rng.integers(7, 3, 4), targets)


@pytest.mark.points(1, "your own parts give every stage of Week 8's two prompts, at both positions")
def test_every_stage_of_the_two_prompts(own, rig, reference, trace):
    example = trace("two_prompts")
    state, token_ids = course_state(example), example.inputs["token_ids"]
    expected = reference.mini_gpt_stages(state, token_ids, 2, 1)
    for name, stage in stages(rig, build(own, state, 2, 1), token_ids):
        gap = (stage.double() - expected[name]).abs().max().item()
        expect(gap < 1e-5, f"`{name}` is the first stage that differs")


@pytest.mark.points(1, "your own parts agree with the reference on longer prompts and weights of every kind")
def test_own_parts_together(own, reference, rng):
    state, token_ids = rng.state(shapes(11, 8, 12, 2)), rng.integers(11, 3, 5)
    logits, _ = parts(build(own, state, 3, 2)(token_ids), 2)
    agree(logits, reference.mini_gpt_logits(state, token_ids, 3, 2), rtol=1e-4, atol=1e-4)


### END HIDDEN TESTS
