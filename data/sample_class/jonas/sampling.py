import torch


def temperature_probabilities(logits, temperature):
    if temperature < 0:
        raise ValueError("negative temperature: " + str(temperature))
    if temperature == 0:
        return torch.eye(logits.shape[1], dtype=logits.dtype)[logits.argmax(1)]
    z = (logits - logits.amax(1, keepdim=True)) / temperature
    e = z.exp()
    return e / e.sum(1, keepdim=True)


def sample_next(logits, temperature, generator):
    return torch.multinomial(temperature_probabilities(logits, temperature), 1, generator=generator)


def generate(model, token_ids, max_new_tokens, context_length, temperature=1.0, generator=None):
    modes = {name: m.training for name, m in model.named_modules()}
    model.train(False)
    pieces = [token_ids]
    try:
        with torch.no_grad():
            for _ in range(max_new_tokens):
                so_far = torch.cat(pieces, 1)
                logits, _ = model(so_far[:, max(0, so_far.shape[1] - context_length) :])
                pieces.append(sample_next(logits[:, -1, :], temperature, generator))
    finally:
        for name, m in model.named_modules():
            m.training = modes[name]
    return torch.cat(pieces, 1)
