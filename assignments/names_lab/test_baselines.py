"""Checks of `baselines`: counted and learned bigrams, windows, and the MLP that reads them."""

import math

import pytest
import torch

from selfcheck.checking import agree, equal, expect, has_state, parts, tensor


def mlp_shapes(vocab_size, window, embedding_dim, hidden_dim):
    """Names and shapes of an MLP's parameters."""
    return {
        "embedding.weight": (vocab_size, embedding_dim),
        "hidden.weight": (hidden_dim, window * embedding_dim),
        "hidden.bias": (hidden_dim,),
        "output.weight": (vocab_size, hidden_dim),
        "output.bias": (vocab_size,),
    }


def build_mlp(student, state, window):
    """An MLP with these weights."""
    V, E = state["embedding.weight"].shape
    model = student.MLPLanguageModel(V, window, E, len(state["hidden.bias"]))
    model.load_state_dict(state)
    return model


@pytest.mark.points(1.5, "counts which token follows which, without the padding")
def test_counts_by_hand(student):
    inputs, targets = torch.tensor([[0, 1, 2], [0, 2, 0]]), torch.tensor([[1, 2, 0], [2, 0, -100]])
    equal(student.bigram_counts(inputs, targets, 3), torch.tensor([[0, 1, 1], [0, 0, 1], [2, 0, 0]]))


@pytest.mark.points(1, "smoothed counts become logarithms of probabilities, each row by itself")
def test_log_probabilities_by_hand(student):
    counts = torch.tensor([[0, 1, 1], [0, 0, 1], [2, 0, 0]])
    expected = [[1 / 5, 2 / 5, 2 / 5], [1 / 4, 1 / 4, 2 / 4], [3 / 5, 1 / 5, 1 / 5]]
    agree(student.bigram_log_probabilities(counts), [[math.log(p) for p in row] for row in expected])


@pytest.mark.points(1.5, "the learned bigram is a table, and its scores are rows of it")
def test_bigram_is_a_table(student, rng, trace):
    example = trace("parameter_counts")
    V = example.inputs["vocab_size"].item()
    model = student.NeuralBigram(V)
    has_state(model, {"table.weight": (V, V)})
    expect(example.value("bigram").item() == V * V, "the table should have the course's number of parameters")
    table, token_ids = rng.normal(V, V), rng.integers(V, 2, 5)
    model.load_state_dict({"table.weight": table})
    logits, loss = parts(model(token_ids), 2)
    equal(logits, table[token_ids])
    expect(loss is None, "without targets the loss should be None")


@pytest.mark.points(1.5, "a window ends at its own place and begins with boundaries")
def test_windows_by_hand(student):
    token_ids = torch.tensor([[0, 5, 6, 7], [0, 8, 9, 1]])
    expected = [[[0, 0], [0, 5], [5, 6], [6, 7]], [[0, 0], [0, 8], [8, 9], [9, 1]]]
    equal(student.windows(token_ids, 2), torch.tensor(expected))


@pytest.mark.points(1.5, "the MLP owns an embedding, a hidden layer and an output layer, of the course's size")
def test_mlp_owns_its_parts(student, trace):
    example = trace("parameter_counts")
    sizes = [example.inputs[name].item() for name in ("vocab_size", "window", "embedding_dim", "hidden_dim")]
    shapes = mlp_shapes(*sizes)
    model = student.MLPLanguageModel(*sizes)
    has_state(model, shapes)
    count = sum(tensor(weight).numel() for weight in model.trainable().values())
    agree(count, example.value("mlp").item(), rtol=0.0, atol=0.0)


@pytest.mark.points(1, "the MLP reads its window and nothing beyond it")
def test_mlp_reads_its_window_only(student, rng):
    model = build_mlp(student, rng.state(mlp_shapes(11, 3, 4, 6)), 3)
    token_ids = rng.integers(11, 2, 7)
    other = token_ids.clone()
    other[:, :2], other[:, 5:] = (other[:, :2] + 1) % 11, (other[:, 5:] + 1) % 11
    before, after = (tensor(parts(model(ids), 2)[0], (2, 7, 11)) for ids in (token_ids, other))
    agree(after[:, 4], before[:, 4])
