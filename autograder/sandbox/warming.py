"""Walk the paths of torch that are built when they are first needed, so that a fork finds them built.

Whatever a small GPT does is done here once, in both precisions: modules, masks, gradients, an optimizer, sampling.
"""

from __future__ import annotations

import copy

import torch
from torch import nn
from torch.nn import functional as F

from autograder.sandbox.operations import OperatorLog


class _Part(nn.Module):
    """A bit of everything that students' modules are made of."""

    mask: torch.Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.table = nn.Embedding(7, size)
        self.scale = nn.Parameter(torch.ones(size))
        self.heads = nn.ModuleList([nn.Linear(size, 2 * size), nn.Linear(2 * size, size, bias=False)])
        self.rest = nn.Sequential(nn.LayerNorm(size), nn.GELU(), nn.ReLU(), nn.Dropout(0.1))
        self.register_buffer("mask", torch.ones(8, 8, dtype=torch.bool).tril(), persistent=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """[B,T] -> [B,T,C]"""
        x = self.table(ids) + self.table(torch.arange(ids.shape[1]))
        q = x.view(*x.shape[:2], 2, -1).transpose(1, 2)  # [B,H,T,D]
        scores = (q @ q.transpose(-2, -1)) * q.shape[-1] ** -0.5
        hidden = ~self.mask[: ids.shape[1], : ids.shape[1]]
        scores = torch.where(hidden, scores, scores.masked_fill(hidden, float("-inf")))
        weights = F.dropout(torch.softmax(scores.masked_fill(hidden, -1e9), dim=-1), 0.1, self.training)
        mixed = (weights @ q).transpose(1, 2).reshape(x.shape).contiguous()
        mean = mixed.mean(dim=-1, keepdim=True)
        spread = ((mixed - mean) ** 2).mean(dim=-1, keepdim=True) + mixed.var(dim=-1, keepdim=True, unbiased=False)
        x = x + self.scale * (mixed - mean) / torch.sqrt(spread + 1e-5)
        for layer in self.heads:
            x = layer(x)
        x = 0.5 * x * (1.0 + torch.erf(x / 2**0.5)) + torch.tanh(x) + torch.exp(-x.abs()).log1p()
        rest: torch.Tensor = self.rest(x)
        return rest


def warm() -> None:
    """Do it, on one thread."""
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.RMSprop, torch.optim.Adagrad):
        kind(nn.Linear(2, 2).parameters(), lr=0.1)  # torch wraps the step of a kind when it is first made
    for dtype in (torch.float32, torch.float64):
        for _ in range(2):
            _learn(dtype)
        _attend(dtype)
    _sample()
    with OperatorLog():  # torch makes an object of each operator that is first seen here
        _learn(torch.float32)
        _attend(torch.float32)


def _learn(dtype: torch.dtype) -> None:
    model = _Part(8).to(dtype)
    model.load_state_dict(copy.deepcopy(model).state_dict())
    optimizer = torch.optim.AdamW(model.parameters())
    ids = torch.tensor([[0, 1, 2], [3, 4, 5]])
    logits = model(ids) @ model.table.weight.T
    torch.autograd.backward(F.cross_entropy(logits.flatten(0, 1), torch.tensor([1, 2, -100, 4, 5, 6])))
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    model.eval()
    with torch.no_grad():
        model(ids)
    torch.autograd.grad(model(ids).sum(), list(model.parameters()), allow_unused=True)
    str(logits)


def _attend(dtype: torch.dtype) -> None:
    q = torch.randn(1, 2, 4, 4, dtype=dtype, requires_grad=True)
    torch.autograd.backward(F.scaled_dot_product_attention(q, q, q, is_causal=True).sum())
    F.scaled_dot_product_attention(q, q, q, attn_mask=torch.ones(4, 4, dtype=torch.bool).tril())
    F.gelu(q), F.layer_norm(q, (4,)), torch.einsum("bhij,bhkj->bhik", q, q)


def _sample() -> None:
    dice = torch.Generator().manual_seed(1)
    logits = torch.randn(2, 5, generator=dice)
    kept = torch.topk(logits, 3).values
    chances = torch.softmax(logits.masked_fill(logits < kept[:, -1:], float("-inf")) / 0.8, dim=-1)
    chosen = torch.multinomial(chances, 1, generator=dice)
    torch.cat([torch.zeros(2, 1, dtype=torch.long), chosen], dim=1).tolist()
    logits.sort(dim=-1, descending=True), logits.argmax(dim=-1), chances.cumsum(dim=-1), logits.log_softmax(dim=-1)
    chances.gather(1, chosen), torch.isfinite(logits).all(), torch.logsumexp(logits, dim=-1), torch.randperm(4)
