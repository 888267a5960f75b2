import torch


def vocabulary_logits(hidden, weight, bias):
    return hidden[:, -1] @ weight.T + bias


def next_token_loss(logits, targets, ignore_index=-100):
    V = logits.shape[-1]
    return torch.nn.functional.cross_entropy(
        logits.reshape(-1, V), targets.reshape(-1), ignore_index=ignore_index, reduction="none"
    )
