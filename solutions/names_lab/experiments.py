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
    ### BEGIN SOLUTION
    found = [(module, module.training) for module in model.modules()]
    seen: list[torch.Tensor] = []
    hooks = [block.attention.qkv.register_forward_hook(lambda *call: seen.append(call[-1])) for block in model.blocks]
    model.eval()
    try:
        with torch.no_grad():
            model(token_ids[None])
    finally:
        for hook in hooks:
            hook.remove()
        for module, mode in found:
            module.training = mode

    hidden = torch.ones(len(token_ids), len(token_ids), dtype=torch.bool).triu(1)
    maps = []
    for block, qkv in zip(model.blocks, seen, strict=True):
        heads = qkv[0].unflatten(-1, (3, block.attention.num_heads, -1))  # [T,3C] -> [T,3,H,D]
        q, k = heads[:, 0].transpose(0, 1), heads[:, 1].transpose(0, 1)  # [H,T,D] each
        scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])  # [H,T,T]
        maps.append(scores.masked_fill(hidden, -math.inf).softmax(dim=-1))
    return torch.stack(maps)  # [num_layers,H,T,T]
    ### END SOLUTION


def model_size(vocab_size: int, context_length: int, model_dim: int, num_layers: int, output_bias: bool = False) -> int:
    """How many parameters a MiniGPT has, from its sizes alone (exercise 2).

    Args:
        output_bias: do the output projections of the attention have a bias? In Week 8 they have none, in Day 3 they do.

    Returns:
        The number of parameters: both tables, every block, the final norm, and the head with its bias.
    """
    # TODO: Which parts grow with the square of model_dim? Does the number of heads matter?
    ### BEGIN SOLUTION
    V, L, C = vocab_size, context_length, model_dim
    attention = 4 * C * C + (C if output_bias else 0)
    feed_forward = 8 * C * C + 5 * C
    norms = 4 * C
    return V * C + L * C + num_layers * (attention + feed_forward + norms) + 2 * C + C * V + V
    ### END SOLUTION


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
    ### BEGIN SOLUTION
    if temperature <= 0:
        raise ValueError(f"the temperature must be above 0, got {temperature}")
    log_p = F.log_softmax(logits / temperature, dim=-1)
    return -(log_p.exp() * log_p).sum(dim=-1).mean().item()
    ### END SOLUTION


def share_of_novel(written: list[str], known: list[str]) -> float:
    """Which share of the names that a model wrote is not in the list that it learned from (exercise 3).

    Args:
        written: at least one name. A name that was written twice counts twice.
        known: the names of the training part, in any number.

    Raises:
        ValueError: nothing was written.
    """
    # TODO: A model writes "anna" three times and "xq" once, and "anna" is known. What is the share?
    ### BEGIN SOLUTION
    if not written:
        raise ValueError("no name was written, so there is no share")
    known_names = set(known)
    return sum(name not in known_names for name in written) / len(written)
    ### END SOLUTION


def generalization_gap(model: nn.Module, training: Examples, validation: Examples) -> float:
    """How much worse a model is on names that it was not trained on (exercise 4).

    Args:
        model: see `comparison.evaluate`.
        training, validation: inputs and targets of the two parts.

    Returns:
        Validation loss minus training loss, both from `evaluate`: of the same finished model, without dropout.
    """
    # TODO: The losses printed while training were measured with dropout, and along the way. May you subtract those?
    ### BEGIN SOLUTION
    return evaluate(model, *validation) - evaluate(model, *training)
    ### END SOLUTION


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
    ### BEGIN SOLUTION
    found = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            logits, _ = model(inputs)
            losses = F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=IGNORED, reduction="none")  # [N,T]
    finally:
        for module, mode in found:
            module.training = mode
    counts = (targets != IGNORED).sum(dim=0)
    return losses.double().sum(dim=0) / counts.clamp(min=1)  # [T]
    ### END SOLUTION


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
    ### BEGIN SOLUTION
    n = len(sizes)
    if n < 3:
        raise ValueError(f"{n} points do not show how well a line fits")
    x, y = torch.tensor(sizes, dtype=torch.float64).log(), torch.tensor(losses, dtype=torch.float64).log()
    x, y = x - x.mean(), y - y.mean()
    slope = (x @ y / (x @ x)).item()
    rest = y - slope * x
    error = math.sqrt((rest @ rest / (n - 2) / (x @ x)).item())
    return slope, slope - T_95[n - 3] * error, slope + T_95[n - 3] * error
    ### END SOLUTION
