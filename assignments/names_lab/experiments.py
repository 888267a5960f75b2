"""What an experiment measures, as numbers that can be checked before they are drawn (Day 3 ch. 10).

A model here is anything that is called like MiniGPT: `model(token_ids)` gives `(logits [B,T,V], loss or None)`.
`attention_maps` also looks into it: `model.blocks` holds blocks with an `attention` that has `qkv` and `num_heads`, as
in Week 8. Day 3 writes d_model for `model_dim` and n_layers for `num_layers`.

Axes: B rows, T places, V vocab_size, C model_dim, H num_heads, D = C/H.
"""

import math

import torch
from comparison import evaluate
from torch import nn
from torch.nn import functional as F

IGNORED = -100  # a target that does not count
Examples = tuple[torch.Tensor, torch.Tensor]  # inputs [N,T], targets [N,T]

# Student's t: 95 of 100 intervals of this many standard errors hold the truth, by the degrees of freedom from 1 on.
T_95 = [12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.306, 2.26216, 2.22814]


def attention_maps(model: nn.Module, token_ids: torch.Tensor) -> torch.Tensor:
    """The attention weights of every head in every block while the model reads one row (exercise 1).

    Args:
        model: with `blocks`; `block.attention.qkv` gives [1,T,3C], the queries first, then the keys, then the values.
        token_ids: [T] int64.

    Returns:
        [num_layers,H,T,T]: entry (l, h, t, s) is how much place t reads of place s, in head h of block l. Rows sum to
        1, and no place reads a later one.

    The model runs once, in evaluation mode and without a graph. Afterwards every module is in the mode it was found in,
    and no hook is left on the model, also when it raises an error.
    """
    # TODO: Which module's output holds queries and keys, and how can you see it while the model runs?
    # TODO: What has to be taken away again afterwards, whatever happens?
    raise NotImplementedError("attention_maps")


def model_size(vocab_size: int, context_length: int, model_dim: int, num_layers: int, output_bias: bool = False) -> int:
    """How many parameters a MiniGPT has, from its sizes alone (exercise 2).

    Args:
        output_bias: do the output projections of the attention have a bias? In Week 8 they have none, in Day 3 they do.

    Returns:
        The number of parameters: both tables, every block, the final norm, and the head with its bias.
    """
    # TODO: Which parts grow with the square of model_dim? Does the number of heads matter?
    raise NotImplementedError("model_size")


def mean_entropy(logits: torch.Tensor, temperature: float) -> float:
    """How undecided a model is at a temperature: the mean entropy of its next-token probabilities (exercise 3).

    Args:
        logits: [N,V], the scores at N places; must work for scores in the thousands too.
        temperature: above 0.

    Returns:
        The mean over the places of the entropy of softmax(logits / temperature), in nats, as a float.

    Raises:
        ValueError: the temperature is not above 0; the text names it.
    """
    # TODO: What is the entropy of V equal probabilities, and what of a certain one? Is 0 * log 0 a number?
    raise NotImplementedError("mean_entropy")


def share_of_novel(written: list[str], known: list[str]) -> float:
    """Which share of the names that a model wrote is not in the list that it learned from (exercise 3).

    Args:
        written: at least one name. A name that was written twice counts twice.
        known: the names of the training part, in any number.

    Raises:
        ValueError: nothing was written.
    """
    # TODO: A model writes "anna" three times and "xq" once, and "anna" is known. What is the share?
    raise NotImplementedError("share_of_novel")


def generalization_gap(model: nn.Module, training: Examples, validation: Examples) -> float:
    """How much worse a model is on names that it was not trained on (exercise 4).

    Args:
        model: see `comparison.evaluate`.
        training, validation: inputs and targets of the two parts.

    Returns:
        Validation loss minus training loss, both from `evaluate`: of the same finished model, without dropout.
    """
    # TODO: The losses printed while training were measured with dropout, and along the way. May you subtract those?
    raise NotImplementedError("generalization_gap")


def loss_by_place(model: nn.Module, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Mean loss at each place of a name: where do positions help a model, and where does it guess (exercise 5)?

    Args:
        model: called as `model(inputs)`, without targets.
        inputs, targets: [N,T] int64. A target of -100 does not count.

    Returns:
        [T] float64: the mean negative log-likelihood of the targets that count at that place; 0 where none counts.

    The model runs in evaluation mode and no graph is recorded. Afterwards every module is in the mode it was found in.
    """
    # TODO: Fewer and fewer names reach the later places. By what do you divide at each of them?
    raise NotImplementedError("loss_by_place")


def scaling_fit(sizes: list[int], losses: list[float]) -> tuple[float, float, float]:
    """The slope of loss against size on two logarithmic axes, and the interval it lies in (exercise 6).

    A straight line is put through the points (log size, log loss) by least squares.

    Args:
        sizes: n numbers of parameters, at least 3, not all equal.
        losses: n losses.

    Returns:
        (slope, low, high): low and high are T_95[n - 3] standard errors of the slope away from it; the standard error
        uses n - 2 degrees of freedom.

    Raises:
        ValueError: there are fewer than 3 points; the text says how many.
    """
    # TODO: A line through two points always fits. What does that say about its slope?
    # TODO: How far do the points lie from the line, and how much does the spread of the sizes help?
    raise NotImplementedError("scaling_fit")
