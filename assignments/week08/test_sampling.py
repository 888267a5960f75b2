"""Checks of `sampling`: probabilities at a temperature, the draw, and the loop that writes.

The rig's writer puts nearly all probability on one token that depends on the whole window: its text can be recomputed.
"""

import math

import pytest
import torch
from torch.nn import functional as F

from selfcheck.checking import agree, equal, rejects

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
