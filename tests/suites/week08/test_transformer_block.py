"""Checks of `transformer_block`: the residual addition, and the block built from norms, attention and feed-forward."""

import pytest
import torch

from autograder.suite.checking import agree, equal, expect, gradients, has_state, leaves_unchanged, rejects, tensor


def shapes(model_dim):
    """Names and shapes of a block's parameters."""
    C = model_dim
    return {
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


def build(student, state, num_heads, dropout=0.0):
    """The student's block with these weights, in evaluation mode."""
    block = student.TransformerBlock(state["ln1.weight"].shape[0], num_heads, dropout)
    block.load_state_dict(state)
    block.eval()
    return block


def silenced(state, *branches):
    """The same weights, but these branches (`attention`, `ffn`) give zeros."""
    last = {"attention": ["attention.output.weight"], "ffn": ["ffn.project.weight", "ffn.project.bias"]}
    silent = [name for branch in branches for name in last[branch]]
    return {name: entry * 0 if name in silent else entry for name, entry in state.items()}


@pytest.mark.points(1, "adds the update of Week 8 §7 to its stream")
def test_reproduces_the_residual_addition(student, trace):
    example = trace("residual_addition")
    after = student.add_residual(example.inputs["x"], example.inputs["update"])
    example.agrees("residual_after_attention", after)


@pytest.mark.points(0.5, "refuses an update that would have to be stretched")
def test_refuses_one_row_for_all_positions(student, rng):
    x, one_row = rng.normal(2, 5, 12), rng.normal(2, 1, 12)
    with rejects(5, 1):
        student.add_residual(x, one_row)


@pytest.mark.points(1, "a block owns two norms, attention and a feed-forward network")
def test_owns_the_four_parts(student):
    has_state(student.TransformerBlock(12, 3, 0.1), shapes(12))


@pytest.mark.points(1, "with both branches silent the stream passes as it is, in training too")
def test_silent_branches_leave_the_stream_alone(student, rng):
    block = build(student, silenced(rng.state(shapes(12)), "attention", "ffn"), 3, dropout=0.5)
    x = rng.normal(2, 5, 12, scale=3, shift=1)
    equal(block(x), x)
    block.train()
    equal(block(x), x)


@pytest.mark.points(1.5, "gives the last position of Week 8 §10, for both prompts")
def test_reproduces_the_block_of_the_course(student, trace):
    example = trace("block_final_row")
    state = {name: value for name, value in example.inputs.items() if name in shapes(4)}
    x = tensor(build(student, state, num_heads=2)(example.inputs["residual_0"]), (2, 2, 4))
    example.agrees("residual_after_ffn_last", x[:, -1])


### BEGIN HIDDEN TESTS
@pytest.mark.points(2, "agrees with the reference for weights of every kind")
def test_agrees_with_the_reference(student, reference, rng):
    state, x = rng.state(shapes(12)), rng.normal(2, 5, 12, scale=3, shift=1)
    block = build(student, state, 3)
    for stream in (x, x / 1000):  # in a small stream the norms' ε counts
        agree(block(stream), reference.transformer_block(state, stream, 3), rtol=1e-4, atol=1e-4)


@pytest.mark.points(1, "other sizes, a single position and double precision work too")
def test_works_at_other_sizes_and_in_double_precision(student, reference, rng):
    state = rng.state(shapes(10))
    block = build(student, state, 2)
    x = rng.normal(3, 1, 10, scale=3)
    agree(block(x), reference.transformer_block(state, x, 2), rtol=1e-4, atol=1e-4)
    block.double()
    x = rng.normal(3, 7, 10, scale=3, dtype=torch.float64)
    agree(block(x), reference.transformer_block(state, x, 2), dtype=torch.float64)


@pytest.mark.points(1, "gradients reach the stream and every parameter")
def test_gradients_reach_every_parameter(student, reference, rng):
    state, x, along = rng.state(shapes(12)), rng.normal(2, 5, 12, scale=3), rng.normal(2, 5, 12)
    from_x, from_parameters = reference.block_gradients(state, x, 3, along)
    got = gradients(build(student, state, 3), x, along=along)
    agree(got.arguments[0], from_x, rtol=1e-3, atol=1e-3)
    for name, expected in from_parameters.items():
        agree(got.parameters.get(name), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.points(0.5, "a position depends on its own row and on the positions before it only")
def test_ignores_later_positions_and_other_rows(student, rng):
    block, x = build(student, rng.state(shapes(12)), 3), rng.normal(2, 5, 12)
    other = x.clone()
    other[0, 3:], other[1] = rng.normal(2, 12), rng.normal(5, 12)
    before, after = tensor(block(x), (2, 5, 12)), tensor(block(other), (2, 5, 12))
    agree(after[0, :3], before[0, :3])
    expect(not torch.allclose(after[0, 3:], before[0, 3:], atol=1e-3), "a changed position should change its output")


@pytest.mark.points(1, "adds entry by entry, and refuses every pair of different shapes")
def test_adds_tensors_of_one_shape_only(student, reference, rng):
    x, update = rng.normal(3, 4, 6), rng.normal(3, 4, 6)
    agree(student.add_residual(x, update), reference.add_residual(x, update))
    double = x.double()
    agree(student.add_residual(double, double), 2 * double, dtype=torch.float64)
    for shape in [(6,), (3, 4, 1), (1, 4, 6), (4, 6), (3, 4, 5), (3, 4), (1, 3, 4, 6)]:
        with rejects():
            student.add_residual(x, rng.normal(*shape))
        with rejects():
            student.add_residual(rng.normal(*shape), update)


@pytest.mark.points(0.5, "the tensors handed in stay as they were")
@pytest.mark.attested
def test_leaves_its_arguments_unchanged(student, rng):
    x, update = rng.normal(2, 5, 12), rng.normal(2, 5, 12)
    leaves_unchanged(student.add_residual, x, update)
    leaves_unchanged(build(student, rng.state(shapes(12)), 3), x)


@pytest.mark.points(0.5, "dropout reaches both branches, in training only")
def test_hands_dropout_to_both_branches(student, reference, rng):
    state, x = rng.state(shapes(12)), rng.normal(2, 5, 12)
    block = build(student, state, 3, dropout=1.0)
    agree(block(x), reference.transformer_block(state, x, 3), rtol=1e-4, atol=1e-4)
    block.train()
    equal(block(x), x)


@pytest.mark.points(0.5, "an update is dropped once, by chance that the block leaves alone")
def test_drops_an_update_once(student, rng):
    """Zeros among 1500 entries of one update: a share of 0.5, or 0.514 where attention also loses weights.

    The bound is 5.9 standard errors (0.0127 and 0.0146) away from both, a false alarm in under 1 of 100,000,000 runs;
    what is dropped twice has a share of 0.75.
    """
    state, x = rng.state(shapes(12)), rng.normal(25, 5, 12)
    for silent in ("attention", "ffn"):
        block = build(student, silenced(state, silent), 3, dropout=0.5)
        block.train()
        once, again = tensor(block(x), (25, 5, 12)), tensor(block(x), (25, 5, 12))
        zeros = (once == x).double().mean().item()
        expect(abs(zeros - 0.5) < 0.1, "an update is dropped more than once, or not at all")
        expect(not torch.equal(once, again), "two training passes should drop different entries: do not set a seed")


### END HIDDEN TESTS
