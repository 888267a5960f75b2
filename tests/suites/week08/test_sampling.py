"""Checks of `sampling`: probabilities at a temperature, the draw, and the loop that writes.

The rig's writer puts nearly all probability on one token that depends on the whole window: its text can be recomputed.
"""

import math

import pytest
import torch
from torch.nn import functional as F

from autograder.suite.checking import agree, equal, expect, leaves_unchanged, rejects, tensor

LOGITS = [[math.log(1), math.log(4), math.log(16)], [math.log(9), math.log(1), math.log(1)]]


@pytest.mark.points(1, "temperature sharpens or flattens the scores, each row by itself")
def test_temperature_by_hand(student):
    logits = torch.tensor(LOGITS)
    agree(student.temperature_probabilities(logits, 1.0), [[1 / 21, 4 / 21, 16 / 21], [9 / 11, 1 / 11, 1 / 11]])
    agree(student.temperature_probabilities(logits, 2.0), [[1 / 7, 2 / 7, 4 / 7], [3 / 5, 1 / 5, 1 / 5]])
    agree(student.temperature_probabilities(logits[:1], 0.5), [[1 / 273, 16 / 273, 256 / 273]])


@pytest.mark.points(0.5, "temperature 0 is the highest score, below 0 is an error")
def test_temperature_at_its_edge(student):
    logits = torch.tensor(LOGITS)
    agree(student.temperature_probabilities(logits, 0.0), [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    with rejects(-0.5):
        student.temperature_probabilities(logits, -0.5)


@pytest.mark.points(0.5, "draws one token a row, and a certain token for sure")
def test_draws_one_token_a_row(student, rig, rng):
    certain = rng.integers(7, 5, 1)
    logits = 200 * F.one_hot(certain[:, 0], 7).float() - 100
    equal(student.sample_next(logits, 1.0, rig.Generator(rng.seed())), certain)
    equal(student.sample_next(logits / 100, 0.0, rig.Generator(rng.seed())), certain)


@pytest.mark.points(1, "continues every prompt by the tokens asked for, and keeps the prompt")
def test_continues_every_prompt(student, rig):
    model, prompts = rig.Writer(10), torch.tensor([[1, 2], [4, 0]])
    # After a window of n tokens the writer says (1 * first + 2 * second + ... + 3 * n) mod 10.
    equal(student.generate(model, prompts, 2, 8), torch.tensor([[1, 2, 1, 7], [4, 0, 0, 3]]))
    equal(student.generate(model, prompts, 0, 8), prompts)


### BEGIN HIDDEN TESTS
def shares(tokens, vocab_size):
    """How often each token came up, as a share of all [V]."""
    return F.one_hot(tokens.flatten().clamp(0, vocab_size - 1), vocab_size).double().mean(dim=0)


def close_enough(got, expected, draws):
    """Is each share within five standard errors of its probability?"""
    return bool(((got - expected).abs() < 5 * (expected * (1 - expected) / draws).sqrt()).all())


@pytest.mark.points(0.5, "probabilities agree with the reference at cold and at hot")
def test_probabilities_agree_with_the_reference(student, reference, rng):
    close, tied = 2e-3 * rng.permutation(7).double()[None], torch.tensor([[1.0, 3.0, 0.0, 3.0]])
    cases = [(rng.normal(4, 7, scale=3), temperature) for temperature in (0.3, 0.7, 1.9)]
    for logits, temperature in [*cases, (rng.normal(1, 7, scale=3, dtype=torch.float64), 0.7), (close, 0)]:
        expected = reference.temperature_probabilities(logits, temperature)
        agree(student.temperature_probabilities(logits, temperature), expected, dtype=logits.dtype)
    agree(tensor(student.temperature_probabilities(tied, 0), (1, 4)).sum(dim=-1), [1.0])


@pytest.mark.points(0.5, "scores in the thousands are fine, and the scores stay as they were")
@pytest.mark.attested
def test_stands_large_scores(student, reference, rig, rng):
    logits = rng.normal(4, 7, scale=1e4)
    for temperature in (0.1, 1.0, 50.0):
        expected = reference.temperature_probabilities(logits, temperature)
        agree(student.temperature_probabilities(logits, temperature), expected, rtol=1e-3)
    hot = 1000 + 300.0 * rng.permutation(7).float()[None]
    agree(student.temperature_probabilities(hot, 300.0), reference.temperature_probabilities(hot, 300.0))
    leaves_unchanged(student.temperature_probabilities, logits, 0.5)
    leaves_unchanged(student.sample_next, logits, 0.0, rig.Generator(rng.seed()))


@pytest.mark.points(1, "tokens come up as often as their probabilities say, in every row")
def test_draws_by_the_probabilities(student, reference, rig, rng):
    """Six shares within five standard errors of 4000 draws: false alarm in fewer than 1 of 100,000 runs."""
    logits = torch.tensor([[0.0, 0.8, 1.6], [1.5, 0.0, 0.9]])
    expected = reference.temperature_probabilities(logits, 1.5)
    drawn = student.sample_next(logits.repeat(4000, 1), 1.5, rig.Generator(rng.seed()))
    drawn = tensor(drawn, (8000, 1), torch.int64)
    expect(bool(((drawn >= 0) & (drawn < 3)).all()), "a token outside the vocabulary was drawn")
    for row in (0, 1):
        expect(close_enough(shares(drawn[row::2], 3), expected[row], 4000), "tokens come up too often or too rarely")


@pytest.mark.points(0.5, "all chance comes from the given generator")
def test_draws_from_the_given_generator(student, rig, rng):
    """Two sequences of 60 draws among 7 tokens are equal by chance in 1 of 10^50 runs."""
    logits, seed = torch.zeros(60, 7), rng.seed()
    generator = rig.Generator(seed)
    before = rig.state(generator)
    first = tensor(student.sample_next(logits, 1.0, generator), (60, 1), torch.int64)
    expect(not torch.equal(before, rig.state(generator)), "drawing should use the given generator")
    second = tensor(student.sample_next(logits, 1.0, generator), (60, 1), torch.int64)
    expect(not torch.equal(first, second), "the next draw from the same generator should be a new one")
    equal(student.sample_next(logits, 1.0, rig.Generator(seed)), first)


@pytest.mark.points(0.5, "the model reads the last context_length tokens, the text keeps them all")
@pytest.mark.attested
def test_reads_the_last_tokens_only(student, reference, rig, rng):
    for length in (3, 7):
        model, prompts = rig.Writer(11), rng.integers(11, 3, length)
        equal(student.generate(model, prompts, 5, 4), reference.continued(prompts, 5, 4, 11))
        windows = [[3, min(length + step, 4)] for step in range(5)]
        expect([call["shape"] for call in model.calls()] == windows, "the windows have the wrong lengths")
        leaves_unchanged(student.generate, rig.Writer(11), prompts, 3, 4)


@pytest.mark.points(0.5, "writing happens in evaluation mode without a graph; afterwards the mode is as before")
@pytest.mark.attested
def test_writes_in_evaluation_mode(student, reference, rig, rng):
    model, prompts = rig.Writer(11), rng.integers(11, 2, 3)
    for mode in (True, False):
        model.train(mode)
        equal(student.generate(model, prompts, 3, 8), reference.continued(prompts, 3, 8, 11))
        expect(set(model.modes().values()) == {mode}, "the model should be back in the mode it was found in")
    expect(not any(call["training"] for call in model.calls()), "the model should write in evaluation mode")
    expect(not any(call["graph"] for call in model.calls()), "writing needs no graph")


@pytest.mark.points(0.5, "an error of the model gets out, and its mode is still restored")
@pytest.mark.attested
def test_restores_the_mode_after_an_error(student, rig, rng):
    model = rig.Writer(11, fails_after=2)
    with rejects(2):
        student.generate(model, rng.integers(11, 2, 3), 4, 8)
    expect(set(model.modes().values()) == {True}, "after an error the model should be back in the mode it was found in")


@pytest.mark.points(0.5, "the temperature reaches every draw")
def test_passes_the_temperature_on(student, reference, rig, rng):
    """Three shares within five standard errors of 4000 draws: false alarm in fewer than 1 of 100,000 runs."""
    scores, prompts = torch.tensor([4.0, 2.0, 0.0]), rng.integers(3, 2000, 1)
    model = rig.Steady(scores)
    new = tensor(student.generate(model, prompts, 2, 8, temperature=2.5), (2000, 3), torch.int64)[:, 1:]
    expected = reference.temperature_probabilities(scores[None], 2.5)[0]
    expect(close_enough(shares(new, 3), expected, 4000), "the new tokens do not follow the temperature")
    greedy = student.generate(model, prompts[:4], 2, 8, temperature=0)
    equal(greedy, torch.cat([prompts[:4], torch.zeros(4, 2, dtype=torch.int64)], dim=1))


@pytest.mark.points(0.5, "the given generator reaches every draw, and no seed is set")
def test_passes_the_generator_on(student, rig, rng):
    """Two columns of 60 draws among 7 tokens are equal by chance in 1 of 10^50 runs."""
    model, prompts, seed = rig.Steady(torch.zeros(7)), rng.integers(7, 60, 1), rng.seed()
    seeded = student.generate(model, prompts, 2, 8, generator=rig.Generator(seed))
    new = tensor(seeded, (60, 3), torch.int64)[:, 1:]
    expect(not torch.equal(new[:, 0], new[:, 1]), "each new token should be a draw of its own")
    equal(student.generate(model, prompts, 2, 8, generator=rig.Generator(seed)), seeded)
    first, second = (tensor(student.generate(model, prompts, 1, 8), (60, 2), torch.int64) for _ in range(2))
    expect(not torch.equal(first, second), "without a generator two texts should differ: do not set a seed")


### END HIDDEN TESTS
