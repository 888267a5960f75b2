import math

import torch


def learning_rate(step, peak, warmup_steps, total_steps, floor_ratio=0.1):
    if step < warmup_steps:
        return peak * (step + 1) / warmup_steps
    if step > total_steps:
        return floor_ratio * peak
    x = (step - warmup_steps) / max(1, total_steps - warmup_steps)
    if total_steps == warmup_steps:
        x = 1
    return floor_ratio * peak + (1 - floor_ratio) * peak * 0.5 * (1 + math.cos(math.pi * x))


def clip_gradients(parameters, max_norm):
    grads = [p.grad for p in parameters if p.grad is not None]
    norm = math.sqrt(sum(g.pow(2).sum().item() for g in grads))
    if norm > max_norm:
        for g in grads:
            g.div_(norm / max_norm)
    return norm


def estimate_loss(model, batches):
    modes = {m: m.training for m in model.modules()}
    model.eval()
    total, count = 0.0, 0
    try:
        with torch.no_grad():
            for inputs, targets in batches:
                n = (targets >= 0).sum().item()
                total, count = total + n * model(inputs, targets)[1].item(), count + n
    finally:
        for m in modes:
            m.training = modes[m]
    return total / count


def train(model, optimizer, next_batch, schedule, total_steps, max_norm):
    raise NotImplementedError("train")
