"""Sampling. The draw is a search in the cumulative probabilities."""

import torch
import torch.nn.functional as F


def temperature_probabilities(logits, temperature):
    if temperature < 0:
        raise ValueError(f"a temperature of {temperature} makes no sense")
    if temperature == 0:
        best = logits.argmax(-1, keepdim=True)
        return torch.zeros_like(logits).scatter_(-1, best, 1.0)
    return F.softmax(logits.div(temperature), dim=-1)


def sample_next(logits, temperature, generator):
    cumulative = temperature_probabilities(logits, temperature).double().cumsum(-1)
    point = torch.rand(logits.size(0), 1, generator=generator, dtype=torch.float64) * cumulative[:, -1:]
    return torch.searchsorted(cumulative, point, right=True).clamp(max=logits.size(-1) - 1)


@torch.no_grad()
def generate(model, token_ids, max_new_tokens, context_length, temperature=1.0, generator=None):
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    text = token_ids.clone()
    try:
        for _ in range(max_new_tokens):
            logits = model(text[:, -context_length:])[0]
            text = torch.hstack([text, sample_next(logits[:, -1], temperature, generator)])
    finally:
        for module, mode in modes:
            module.training = mode
    return text
