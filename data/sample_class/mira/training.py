"""Training helpers. The modes are put back by a context manager."""

from contextlib import contextmanager
from math import cos, pi

import torch


def learning_rate(step, peak, warmup_steps, total_steps, floor_ratio=0.1):
    if step < warmup_steps:
        return peak * (step + 1) / warmup_steps
    done = 1.0 if step >= total_steps else (step - warmup_steps) / (total_steps - warmup_steps)
    return peak * (floor_ratio + (1 - floor_ratio) * (1 + cos(pi * done)) / 2)


def clip_gradients(parameters, max_norm):
    grads = [p.grad for p in parameters if p.grad is not None]
    if not grads:
        return 0.0
    norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in grads])).item()
    if norm > max_norm:
        torch._foreach_mul_(grads, max_norm / norm)
    return norm


@contextmanager
def evaluating(model):
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode


def estimate_loss(model, batches):
    losses, counts = [], []
    with evaluating(model), torch.inference_mode():
        for inputs, targets in batches:
            losses.append(model(inputs, targets)[1].item())
            counts.append(int((targets != -100).sum()))
    return sum(loss * count for loss, count in zip(losses, counts)) / sum(counts)


def train(model, optimizer, next_batch, schedule, total_steps, max_norm):
    model.train()
    history = []
    for step in range(total_steps):
        inputs, targets = next_batch()
        for group in optimizer.param_groups:
            group["lr"] = schedule(step)
        optimizer.zero_grad(set_to_none=True)
        loss = model(inputs, targets)[1]
        loss.backward()
        clip_gradients(model.parameters(), max_norm)
        optimizer.step()
        history.append(loss.item())
    return history
