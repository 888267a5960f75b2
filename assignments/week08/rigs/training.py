"""Spies for the checks of `training`: a model, an optimizer, batches and a schedule that write down how they were used.

Nothing in them is random, so every loss and weight can be recomputed outside.
"""

import torch
from torch import nn
from torch.nn import functional as F


class HalfInTraining(nn.Module):
    """Halves its input in training mode: what dropout is good for here, without the chance."""

    def forward(self, x):
        return x / 2 if self.training else x


class Model(nn.Module):
    """The scores of the next token depend on the present token only: a row of `table`, plus `bias`."""

    def __init__(self, table, bias):
        super().__init__()
        self.table = nn.Parameter(table.clone())
        self.bias = nn.Parameter(bias.clone())
        self.halver = HalfInTraining()
        self.part = nn.Sequential(nn.Identity())
        self._calls = []

    def forward(self, inputs, targets=None):
        """inputs [B,T], targets [B,T] or None -> (logits [B,T,V], mean loss over targets other than -100, or None)."""
        self._calls.append({"training": self.training, "graph": torch.is_grad_enabled(), "shape": list(inputs.shape)})
        logits = self.halver(self.table[inputs] + self.bias)
        loss = None if targets is None else F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits, loss

    def calls(self):
        """One entry for each forward pass: the mode, whether a graph was recorded, the shape of the inputs."""
        return self._calls

    def modes(self):
        """{name of the module: is it in training mode?}; the model itself has the name ""."""
        return {name: module.training for name, module in self.named_modules()}

    def set_mode(self, name, training):
        """Set the mode of one sub-module and of nothing else."""
        self.get_submodule(name).training = training

    def set_gradients(self, table, bias):
        self.table.grad, self.bias.grad = table.clone(), bias.clone()

    def gradients_now(self):
        return [self.table.grad, self.bias.grad]


class Optimizer:
    """weight -= lr * gradient, with one parameter group for each parameter and a learning rate of 0 to start with."""

    def __init__(self, model):
        self.param_groups = [{"params": [parameter], "lr": 0.0} for parameter in model.parameters()]
        self._rates = []

    def zero_grad(self, set_to_none=True):
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none:
                    parameter.grad = None
                elif parameter.grad is not None:
                    parameter.grad.zero_()

    @torch.no_grad()
    def step(self):
        self._rates.append([float(group["lr"]) for group in self.param_groups])
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.sub_(group["lr"] * parameter.grad)

    def rates(self):
        """The learning rate of each group at each step taken."""
        return self._rates


class Batches:
    """A list of batches to be called for the next one, or to be iterated over once; counts what was handed out."""

    def __init__(self, batches, fails_after=None):
        self._batches, self._fails_after, self._drawn = list(batches), fails_after, 0

    def __call__(self):
        self._drawn += 1
        return self._batches[min(self._drawn, len(self._batches)) - 1]

    def __iter__(self):
        return self

    def __next__(self):
        if self._drawn == self._fails_after:
            raise ValueError(f"batch {self._drawn} could not be read")
        if self._drawn == len(self._batches):
            raise StopIteration
        self._drawn += 1
        return self._batches[self._drawn - 1]

    def drawn(self):
        return self._drawn


class Schedule:
    """`schedule(step)` is entry `step` of a list."""

    def __init__(self, rates):
        self._rates = list(rates)

    def __call__(self, step):
        return self._rates[min(max(int(step), 0), len(self._rates) - 1)]


class Weights:
    """Parameters with given gradients; a gradient may be None."""

    def __init__(self, gradients):
        self._gradients = [None if gradient is None else gradient.clone() for gradient in gradients]
        self._parameters = []
        for gradient in self._gradients:
            parameter = nn.Parameter(torch.full((2, 3), 7.0) if gradient is None else torch.full_like(gradient, 7.0))
            parameter.grad = gradient
            self._parameters.append(parameter)

    def __iter__(self):
        return iter(self._parameters)

    def once(self):
        """The same parameters, to be read once: a generator."""
        return (parameter for parameter in self._parameters)

    def now(self):
        """What each parameter's `grad` holds now."""
        return [parameter.grad for parameter in self._parameters]

    def original(self):
        """What the gradient tensors that were there at the start hold now."""
        return self._gradients


def random_state():
    """The state of PyTorch's global generator, as a tensor of bytes."""
    return torch.get_rng_state()
