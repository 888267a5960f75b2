import torch


def temperature_probabilities(logits, temperature):
    if temperature < 0:
        raise ValueError(f"temperature {temperature} < 0")
    if temperature == 0:
        return torch.nn.functional.one_hot(logits.argmax(-1), logits.size(-1)).to(logits)
    return torch.softmax(logits / temperature, -1)


def sample_next(logits, temperature, generator):
    return temperature_probabilities(logits, temperature).multinomial(1, generator=generator)


def generate(model, token_ids, max_new_tokens, context_length, temperature=1.0, generator=None):
    training = model.training
    model.eval()
    result = token_ids
    while result.shape[1] < token_ids.shape[1] + max_new_tokens:
        logits, _ = model(token_ids[:, -context_length:])
        next_id = sample_next(logits[:, -1], temperature, generator)
        token_ids = torch.cat([token_ids, next_id], dim=1)  # result never grows
    model.train(training)
    return result
