import torch


def temperature_probabilities(logits, temperature):
    if temperature < 0:
        raise ValueError("the temperature is %s, it has to be 0 or more" % temperature)
    if temperature == 0:
        probabilities = torch.zeros_like(logits)
        for row, best in enumerate(torch.argmax(logits, dim=1).tolist()):
            probabilities[row, best] = 1.0
        return probabilities
    return torch.exp(torch.log_softmax(logits / temperature, dim=1))


def sample_next(logits, temperature, generator):
    probabilities = temperature_probabilities(logits, temperature)
    return torch.multinomial(probabilities, 1, replacement=True, generator=generator)


def generate(model, token_ids, max_new_tokens, context_length, temperature=1.0, generator=None):
    before = [(m, m.training) for m in model.modules()]
    B, T = token_ids.shape
    text = torch.zeros(B, T + max_new_tokens, dtype=torch.int64)
    text[:, :T] = token_ids
    model.eval()
    try:
        for end in range(T, T + max_new_tokens):
            start = max(0, end - context_length)
            with torch.no_grad():
                logits, _ = model(text[:, start:end])
            text[:, end : end + 1] = sample_next(logits[:, -1], temperature, generator)
    finally:
        for m, mode in before:
            m.training = mode
    return text
