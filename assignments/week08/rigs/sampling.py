"""Models for the checks of `sampling` that need no training and write down what they were shown."""

import torch
from torch import nn
from torch.nn import functional as F


class OneFurtherInTraining(nn.Module):
    """Shifts the choice by one token in training mode, as dropout would disturb it, but without chance."""

    def forward(self, choice):
        return choice + 1 if self.training else choice


class Writer(nn.Module):
    """At each position, nearly all probability is on one token, computed from everything in the window up to there."""

    def __init__(self, vocab_size, fails_after=None):
        super().__init__()
        self.vocab_size, self.fails_after = vocab_size, fails_after
        self.strength = nn.Parameter(torch.tensor(50.0))
        self.further = OneFurtherInTraining()
        self._calls = []

    def forward(self, token_ids, targets=None):
        """token_ids [B,T] -> (logits [B,T,V], None)."""
        if len(self._calls) == self.fails_after:
            raise ValueError(f"the model stops at call {self.fails_after}")
        self._calls.append(
            {"training": self.training, "graph": torch.is_grad_enabled(), "shape": list(token_ids.shape)}
        )
        lengths = torch.arange(1, token_ids.shape[1] + 1)
        choice = self.further((token_ids * lengths).cumsum(dim=1) + 3 * lengths)
        return self.strength * F.one_hot(choice % self.vocab_size, self.vocab_size).float(), None

    def calls(self):
        """One entry for each forward pass: the mode, whether a graph was recorded, the shape of the window."""
        return self._calls

    def modes(self):
        return {name: module.training for name, module in self.named_modules()}


class Steady(nn.Module):
    """The same scores at the last position of every window, whatever it holds; other positions say the opposite."""

    def __init__(self, scores):
        super().__init__()
        self.scores = nn.Parameter(scores.clone())

    def forward(self, token_ids, targets=None):
        signs = -torch.ones(token_ids.shape)
        signs[:, -1] = 1
        return signs[..., None] * self.scores, None


def Generator(seed):
    """A seeded torch.Generator; with a capital letter, like the classes, because it makes an object."""
    return torch.Generator().manual_seed(seed)


def state(generator):
    """The generator's state as a tensor of bytes."""
    return generator.get_state()
