"""Models for the checks of `experiments`, small enough to be recomputed, that write down how they were used."""

import torch
from torch import nn
from torch.nn import functional as F


class HalfInTraining(nn.Module):
    """Halves its input in training mode: what dropout is good for here, without the chance."""

    def forward(self, x):
        return x / 2 if self.training else x


class Watched(nn.Module):
    """What the models here have in common: they note their calls, tell their modes, and may fail."""

    def __init__(self, fails=False):
        super().__init__()
        self.halver = HalfInTraining()
        self.part = nn.Sequential(nn.Identity())
        self.fails = fails
        self._calls = []

    def note(self, token_ids):
        self._calls.append(
            {"training": self.training, "graph": torch.is_grad_enabled(), "shape": list(token_ids.shape)}
        )
        if self.fails:
            raise ValueError("the model stops at call 1")

    def calls(self):
        """One entry for each forward pass: the mode, whether a graph was recorded, the shape of the rows."""
        return self._calls

    def modes(self):
        """{name of the module: is it in training mode?}; the model itself has the name ""."""
        return {name: module.training for name, module in self.named_modules()}

    def set_mode(self, name, training):
        """Set the mode of one sub-module and of nothing else."""
        self.get_submodule(name).training = training

    def hooks(self):
        """How many hooks hang on the model and its parts."""
        kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks")
        return sum(len(getattr(module, kind)) for module in self.modules() for kind in kinds)


class Attention(nn.Module):
    def __init__(self, model_dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(model_dim, 3 * model_dim, bias=False)
        self.output = nn.Linear(model_dim, model_dim, bias=False)

    def forward(self, x):
        """x [B,T,C] -> [B,T,C], causal, by torch's own attention."""
        split = (part.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        heads = F.scaled_dot_product_attention(*split, is_causal=True)
        return self.output(heads.transpose(1, 2).flatten(2))


class Block(nn.Module):
    """Attention with a residual; tanh stands in the place of the norm."""

    def __init__(self, model_dim, num_heads):
        super().__init__()
        self.attention = Attention(model_dim, num_heads)

    def forward(self, x):
        return x + self.attention(torch.tanh(x))


class Model(Watched):
    """Embeddings and blocks of attention; the scores are the last stream."""

    def __init__(self, vocab_size, context_length, model_dim, num_heads, num_layers, fails=False):
        super().__init__(fails)
        self.token_embedding = nn.Embedding(vocab_size, model_dim)
        self.position_embedding = nn.Embedding(context_length, model_dim)
        self.blocks = nn.ModuleList(Block(model_dim, num_heads) for _ in range(num_layers))

    def forward(self, token_ids, targets=None):
        x = self.halver(self.token_embedding(token_ids) + self.position_embedding.weight[: token_ids.shape[1]])
        for block in self.blocks:
            x = block(x)
        self.note(token_ids)
        return x, None


class Table(Watched):
    """The scores at a place are a row of `table`, chosen by the sum of all tokens up to there."""

    def __init__(self, table, fails=False):
        super().__init__(fails)
        self.table = nn.Parameter(table.clone())

    def forward(self, token_ids, targets=None):
        self.note(token_ids)
        return self.halver(self.table[token_ids.cumsum(dim=1) % len(self.table)]), None
