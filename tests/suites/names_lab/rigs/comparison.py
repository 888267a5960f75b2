"""Models for the checks of `comparison`: one whose loss can be recomputed, and some that are there to be counted."""

import torch
from torch import nn


class HalfInTraining(nn.Module):
    """Halves its input in training mode: what dropout is good for here, without the chance."""

    def forward(self, x):
        return x / 2 if self.training else x


class Model(nn.Module):
    """The scores at a place are a row of `table`, chosen by the sum of all tokens up to there.

    Its own loss is of no use: it is always 100.
    """

    def __init__(self, table, fails_after=None):
        super().__init__()
        self.table = nn.Parameter(table.clone())
        self.halver = HalfInTraining()
        self.part = nn.Sequential(nn.Identity())
        self.fails_after = fails_after
        self._calls = []

    def forward(self, token_ids, targets=None):
        """token_ids [B,T] -> (logits [B,T,V], 100 with targets, or None)."""
        if len(self._calls) == self.fails_after:
            raise ValueError(f"the model stops at call {self.fails_after}")
        self._calls.append(
            {"training": self.training, "graph": torch.is_grad_enabled(), "shape": list(token_ids.shape)}
        )
        chosen = token_ids.cumsum(dim=1) % len(self.table)
        return self.halver(self.table[chosen]), None if targets is None else torch.tensor(100.0)

    def calls(self):
        """One entry for each forward pass: the mode, whether a graph was recorded, the shape of the rows."""
        return self._calls

    def modes(self):
        """{name of the module: is it in training mode?}; the model itself has the name ""."""
        return {name: module.training for name, module in self.named_modules()}

    def set_mode(self, name, training):
        """Set the mode of one sub-module and of nothing else."""
        self.get_submodule(name).training = training


class MiniGPT(nn.Module):
    """The parts of Week 8's MiniGPT under their names, to be counted and not to be run. Day 3's variant has a bias in
    the output projections."""

    def __init__(self, vocab_size, context_length, model_dim, num_layers, output_bias):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, model_dim)
        self.position_embedding = nn.Embedding(context_length, model_dim)
        self.blocks = nn.ModuleList(_block(model_dim, output_bias) for _ in range(num_layers))
        self.final_norm = nn.LayerNorm(model_dim)
        self.lm_head = nn.Linear(model_dim, vocab_size)


def _block(model_dim, output_bias):
    attention = {
        "qkv": nn.Linear(model_dim, 3 * model_dim, bias=False),
        "output": nn.Linear(model_dim, model_dim, bias=output_bias),
    }
    ffn = {"expand": nn.Linear(model_dim, 4 * model_dim), "project": nn.Linear(4 * model_dim, model_dim)}
    parts = {"ln1": nn.LayerNorm(model_dim), "attention": nn.ModuleDict(attention)}
    return nn.ModuleDict({**parts, "ln2": nn.LayerNorm(model_dim), "ffn": nn.ModuleDict(ffn)})


def difference(breakdown, compare, one, other):
    """What one function makes of the other's answers for two models."""
    return compare(breakdown(one), breakdown(other))


### BEGIN HIDDEN TESTS
class Chance:
    """Starts PyTorch's global generator again and again, and looks where it is later."""

    def __init__(self):
        self._later = []

    def begin(self, seed):
        torch.manual_seed(seed)

    def look(self):
        self._later.append(torch.get_rng_state())

    def is_always_the_same(self):
        """Was it in the same state at every look? Then somebody has set a seed in between."""
        return all(torch.equal(state, self._later[0]) for state in self._later)


class Shared(nn.Module):
    """A head that shares the table's weight, a part that is not trained, and a buffer, which is no parameter."""

    def __init__(self, vocab_size, model_dim):
        super().__init__()
        self.table = nn.Embedding(vocab_size, model_dim)
        self.layers = nn.Sequential(nn.Linear(model_dim, 3), nn.Tanh(), nn.Linear(3, model_dim))
        self.head = nn.Linear(model_dim, vocab_size)
        self.head.weight = self.table.weight
        self.layers[0].weight.requires_grad_(False)
        self.register_buffer("mask", torch.ones(5, 5))
        self.norm = nn.BatchNorm1d(model_dim)


### END HIDDEN TESTS
