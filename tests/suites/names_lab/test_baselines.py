"""Checks of `baselines`: counted and learned bigrams, windows, and the MLP that reads them."""

import math

import pytest
import torch

from autograder.suite.checking import (
    agree,
    equal,
    expect,
    gradients,
    has_state,
    leaves_unchanged,
    parts,
    rejects,
    tensor,
)


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


### BEGIN HIDDEN TESTS
def some_rows(rng, vocab_size, N, T):
    """Inputs and targets [N,T] at random, the targets of each row ignored from some place on."""
    inputs, targets = rng.integers(vocab_size, N, T), rng.integers(vocab_size, N, T)
    ends = rng.integers(T, N) + 1
    targets[torch.arange(T) >= ends[:, None]] = -100
    return inputs, targets


@pytest.mark.points(2, "counts agree with the reference, whichever tokens occur")
def test_counts_agree_with_the_reference(student, reference, rng):
    for V, N, T in ((5, 40, 6), (27, 9, 7)):
        inputs, targets = some_rows(rng, V, N, T)
        equal(student.bigram_counts(inputs, targets, V), reference.bigram_counts(inputs, targets, V))
    inputs, targets = some_rows(rng, 4, 6, 3)
    equal(student.bigram_counts(inputs, targets, 9), reference.bigram_counts(inputs, targets, 9))


@pytest.mark.points(1.5, "log-probabilities agree with the reference for any smoothing, and none is an error")
def test_log_probabilities_agree_with_the_reference(student, reference, rng):
    counts = rng.integers(30, 7, 7) * (rng.integers(3, 7, 7) > 0)
    counts[4] = 0
    for smoothing in (1.0, 0.5, 0.01, 3.0):
        expected = reference.bigram_log_probabilities(counts, smoothing)
        agree(student.bigram_log_probabilities(counts, smoothing), expected)
    with rejects(0):
        student.bigram_log_probabilities(counts, 0)
    with rejects(-0.5):
        student.bigram_log_probabilities(counts, -0.5)


@pytest.mark.points(1, "with targets the learned bigram returns their mean loss, and its rows get their gradients")
def test_bigram_returns_its_loss(student, reference, rng):
    (inputs, targets), table = some_rows(rng, 6, 8, 5), rng.normal(6, 6, scale=2)
    model = student.NeuralBigram(6)
    model.load_state_dict({"table.weight": table})
    logits, loss = parts(model(inputs, targets), 2)
    equal(logits, table[inputs])
    agree(loss, torch.tensor(reference.mean_loss(table[inputs], targets)))
    along = rng.normal(8, 5, 6)
    expected = torch.zeros(6, 6).index_add(0, inputs.flatten(), along.flatten(0, 1))
    agree(gradients(model, inputs, along=(along, None)).parameters.get("table.weight"), expected)


@pytest.mark.points(1.5, "windows agree with the reference, longer than the rows too")
def test_windows_agree_with_the_reference(student, reference, rng):
    for B, T, window in ((3, 7, 4), (2, 5, 1), (4, 3, 8)):
        token_ids = rng.integers(20, B, T) + 1
        equal(student.windows(token_ids, window), reference.windows(token_ids, window))


@pytest.mark.points(2.5, "the MLP's scores agree with the reference")
def test_mlp_agrees_with_the_reference(student, reference, rng):
    for B, T, V, window, E in ((3, 7, 11, 4, 5), (2, 4, 9, 8, 3)):
        state, token_ids = rng.state(mlp_shapes(V, window, E, 13)), rng.integers(V - 1, B, T) + 1
        logits, loss = parts(build_mlp(student, state, window)(token_ids), 2)
        agree(logits, reference.mlp_logits(state, token_ids, window))
        expect(loss is None, "without targets the loss should be None")


@pytest.mark.points(1, "with targets the MLP returns the mean loss of those that count")
def test_mlp_returns_its_loss(student, reference, rng):
    state = rng.state(mlp_shapes(11, 3, 4, 6))
    inputs, targets = some_rows(rng, 11, 5, 6)
    logits, loss = parts(build_mlp(student, state, 3)(inputs, targets), 2)
    expected = reference.mlp_logits(state, inputs, 3)
    agree(logits, expected)
    agree(loss, torch.tensor(reference.mean_loss(expected, targets)))


@pytest.mark.points(1.5, "every parameter of the MLP gets its gradient")
def test_mlp_gradients(student, reference, rng):
    state, token_ids, along = rng.state(mlp_shapes(11, 3, 4, 6)), rng.integers(11, 2, 5), rng.normal(2, 5, 11)
    expected = reference.mlp_gradients(state, token_ids, 3, along)
    got = gradients(build_mlp(student, state, 3), token_ids, along=(along, None))
    for name in expected:
        agree(got.parameters.get(name), expected[name], rtol=1e-3, atol=1e-4)


@pytest.mark.points(1, "what is handed in stays as it was")
@pytest.mark.attested
def test_leaves_its_arguments_unchanged(student, rng):
    inputs, targets = some_rows(rng, 7, 4, 5)
    leaves_unchanged(student.bigram_counts, inputs, targets, 7)
    leaves_unchanged(student.bigram_log_probabilities, rng.integers(9, 7, 7), 0.5)
    leaves_unchanged(student.windows, inputs, 3)
    leaves_unchanged(build_mlp(student, rng.state(mlp_shapes(7, 3, 4, 6)), 3), inputs, targets)


### END HIDDEN TESTS
