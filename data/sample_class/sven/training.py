"""Training a language model: learning rate, clipping, evaluation, the loop (Week 8 §14 and §16, Day 3 ch. 8).

A model here is anything that is called like MiniGPT: `model(inputs, targets)` gives `(logits, loss)`, where the loss
is the mean over the targets that count. A target of -100 does not count. Day 3 calls `learning_rate` get_lr,
`warmup_steps` warmup_iters and `total_steps` max_iters.
"""

import math
from collections.abc import Callable, Iterable

import torch
from torch import nn

Batch = tuple[torch.Tensor, torch.Tensor]  # inputs [B,T], targets [B,T]


def learning_rate(step: int, peak: float, warmup_steps: int, total_steps: int, floor_ratio: float = 0.1) -> float:
    """Learning rate of one step: a linear warm-up, then half a cosine wave down to a floor.

    Args:
        step: counted from 0.
        peak: the highest rate. The warm-up rate is peak * (step + 1) / warmup_steps, so even step 0 moves.
        warmup_steps: length of the warm-up; 0 means none, and step 0 starts at the peak.
        total_steps: the step at which the cosine has come down to the floor, floor_ratio * peak. From there on the
            rate stays at the floor.
        floor_ratio: the floor as a share of the peak.
    """
    # TODO: How far through the decay is this step, as a number from 0 to 1? What if it is past the end?
    # TODO: What would divide by zero, and for which arguments?
    raise NotImplementedError("learning_rate")


def clip_gradients(parameters: Iterable[nn.Parameter], max_norm: float) -> float:
    """Scale all gradients together so that their joint L2 norm is at most `max_norm`.

    Args:
        parameters: any iterable, also a generator such as `model.parameters()`. A parameter whose `grad` is None
            takes no part.
        max_norm: the largest norm to let through, above 0.

    Returns:
        The norm before clipping, as a float (0.0 when there is no gradient at all).

    The gradient tensors are changed in place, all by one factor; gradients that are small enough stay as they are.
    """
    # TODO: How often may you read a generator? How many norms are there when a model has fifty parameters?
    raise NotImplementedError("clip_gradients")


def estimate_loss(model: nn.Module, batches: Iterable[Batch]) -> float:
    """Mean loss per token over all batches, without touching the model.

    Args:
        model: called as `model(inputs, targets)`, gives `(logits, loss)`, the loss a mean over the targets that count.
        batches: any iterable of `(inputs, targets)`, each [B,T] int64, read once. Batches may differ in size, and a
            target of -100 does not count; each batch has at least one target that does.

    Returns:
        A float: every counting target of every batch weighs the same, whichever batch it came in.

    The model runs in evaluation mode and no graph is recorded. Afterwards the model and each of its sub-modules is
    back in the mode it was found in, also when a batch or the model raises an error.
    """
    # TODO: A batch of 2 tokens and a batch of 200 have one mean loss each. Why not average the two means?
    # TODO: Which part of Python runs its last lines even after an error?
    raise NotImplementedError("estimate_loss")


def train(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    next_batch: Callable[[], Batch],
    schedule: Callable[[int], float],
    total_steps: int,
    max_norm: float,
) -> list[float]:
    """Take `total_steps` optimizer steps, each on a fresh batch.

    Args:
        model: called as `model(inputs, targets)`, gives `(logits, loss)`.
        optimizer: holds the model's parameters; its rate is `group["lr"]` of each group in `optimizer.param_groups`.
        next_batch: called once a step, gives `(inputs, targets)`.
        schedule: `schedule(step)` is the learning rate of that step, steps counted from 0.
        total_steps: number of steps.
        max_norm: bound for `clip_gradients`, applied between the backward pass and the step.

    Returns:
        One Python float a step: the loss on that step's batch, before the step changed the weights.

    The model trains in training mode, in whichever mode it was found.
    """
    # TODO: Write the seven things that happen in one step on paper first. Which two must never change places?
    # TODO: What does a list of loss tensors keep alive that a list of floats does not?
    raise NotImplementedError("train")
