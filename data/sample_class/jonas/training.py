import math

import torch


def learning_rate(step, peak, warmup_steps, total_steps, floor_ratio=0.1):
    low = peak * floor_ratio
    if step < warmup_steps:
        return (step + 1) * peak / warmup_steps
    if step >= total_steps:
        return low
    angle = math.pi * (step - warmup_steps) / (total_steps - warmup_steps)
    return low + (peak - low) * math.cos(angle / 2) ** 2


def clip_gradients(parameters, max_norm):
    return torch.nn.utils.clip_grad_norm_(list(parameters), max_norm).item()


def estimate_loss(model, batches):
    was = [m.training for m in model.modules()]
    try:
        model.eval()
        total = n = 0
        with torch.no_grad():
            for x, y in batches:
                k = torch.count_nonzero(y + 100).item()
                total += k * model(x, y)[1].item()
                n += k
        return total / n
    finally:
        for m, mode in zip(model.modules(), was):
            m.training = mode


def train(model, optimizer, next_batch, schedule, total_steps, max_norm):
    losses = []
    model.train(True)
    step = 0
    while step < total_steps:
        lr = schedule(step)
        for g in optimizer.param_groups:
            g["lr"] = lr
        x, y = next_batch()
        _, loss = model(x, y)
        losses.append(float(loss))
        optimizer.zero_grad()
        loss.backward()
        clip_gradients(model.parameters(), max_norm)
        optimizer.step()
        step += 1
    return losses
