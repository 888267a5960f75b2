"""Checks of `transformer_block`: the residual addition, and the block built from norms, attention and feed-forward."""

import pytest

from selfcheck.checking import equal, has_state, rejects, tensor


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
