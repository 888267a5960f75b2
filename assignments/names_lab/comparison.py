"""A fair comparison: one loss for every model, what the parameters are spent on, and how sure a mean is (Day 3 ch. 9).

A model here is anything that is called like MiniGPT: `model(token_ids)` gives `(logits [B,T,V], loss or None)`. All
models are measured on the same rows, as `make_examples` makes them, so that the numbers can stand in one table. Day 3
measures a few random batches with each model's own loss; here every prediction of the whole part counts, once.

Axes: N rows, T places, V vocab_size.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

IGNORED = -100  # a target that does not count


def evaluate(model: nn.Module, inputs: torch.Tensor, targets: torch.Tensor, batch_size: int = 512) -> float:
    """Mean negative log-likelihood, in nats, of every target that counts.

    Args:
        model: called as `model(rows)`, without targets; its own loss plays no part.
        inputs, targets: [N,T] int64, all rows of one part. A target of -100 does not count.
        batch_size: how many rows the model gets at a time. The result does not depend on it.

    Returns:
        The sum over all targets that count, divided by their number, as a float.

    Raises:
        ValueError: no target counts.

    The model runs in evaluation mode and no graph is recorded. Afterwards the model and each of its sub-modules is
    back in the mode it was found in, also when the model raises an error.
    """
    # TODO: Two batches hold 100 predictions and 3. What is their mean loss, and when do you divide?
    # TODO: What does dropout do to a model that is being measured?
    raise NotImplementedError("evaluate")


def parameter_breakdown(model: nn.Module) -> dict[str, int]:
    """How many parameters each kind of part has.

    Returns:
        The number of parameters by part, in the order of the model. A part is called by the path to the module that
        holds the parameters, with `*` for every number in it, so that the same part of all blocks is one entry:
        `blocks.*.attention.qkv`. Weights and biases of a part count together, trained or not; a parameter that two
        parts share counts once, for the first. The values add up to the size of the model.
    """
    # TODO: `blocks.2.ffn.expand.bias` is the name of a parameter. Which of its words name the part?
    # TODO: What else does a state dict hold besides parameters?
    raise NotImplementedError("parameter_breakdown")


def breakdown_difference(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    """Where two models of the same plan differ in size.

    Args:
        one, other: from `parameter_breakdown`. A part that is missing has no parameters.

    Returns:
        For each part whose numbers differ: how many parameters more `other` has, below 0 where it has fewer.
    """
    # TODO: Which parts do you have to look at, if either model may have some that the other lacks?
    raise NotImplementedError("breakdown_difference")


def mean_and_error(losses: list[float]) -> tuple[float, float]:
    """The mean of a few runs that differ in their seed only, and the standard error of that mean.

    Args:
        losses: n of them, at least 2.

    Returns:
        (mean, error): the error is the sample standard deviation, with n - 1, over the root of n.

    Raises:
        ValueError: there are fewer than 2; the text says how many.
    """
    # TODO: You run a hundred seeds instead of three. Which of the two should become smaller, the spread or the error?
    raise NotImplementedError("mean_and_error")
