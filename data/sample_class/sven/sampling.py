"""From scores to text: temperature, drawing a token, generating (Week 8 §14, Day 3 ch. 7-8 and exercise 3).

A model here is anything that is called like MiniGPT: `model(token_ids)` gives `(logits [B,T,V], loss or None)`.
Day 3 calls `context_length` block_size and the growing `token_ids` idx.
"""

import torch
from torch import nn
from torch.nn import functional as F


def temperature_probabilities(logits: torch.Tensor, temperature: float) -> torch.Tensor:
    """Probabilities of the next token, sharper below temperature 1 and flatter above it.

    Args:
        logits: raw scores [B,V]; must work for scores in the thousands too.
        temperature: at least 0. At 0 all probability is on the highest score.

    Returns:
        [B,V] in the dtype of the logits; each row sums to 1.

    Raises:
        ValueError: the temperature is negative; the text names it.
    """
    # TODO: What has to be divided by the temperature: the scores or the probabilities? Try both on one row by hand.
    # TODO: Which row of probabilities do you approach as the temperature goes to 0?
    raise NotImplementedError("temperature_probabilities")


def sample_next(logits: torch.Tensor, temperature: float, generator: torch.Generator | None) -> torch.Tensor:
    """Draw one token for each row.

    Args:
        logits: raw scores [B,V] of the last position.
        temperature: see `temperature_probabilities`.
        generator: the source of all randomness; None means PyTorch's global one.

    Returns:
        [B,1] int64. Rows are drawn independently; the same generator state gives the same tokens.
    """
    # TODO: Which function draws an index with given probabilities, and how does it learn about the generator?
    raise NotImplementedError("sample_next")


def generate(
    model: nn.Module,
    token_ids: torch.Tensor,
    max_new_tokens: int,
    context_length: int,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """Continue every prompt, one token at a time, each token appended before the next is predicted.

    Args:
        model: called as `model(window)`, gives `(logits, None)`.
        token_ids: the prompts, [B,T] int64 with T >= 1; T may exceed `context_length`. Never changed.
        max_new_tokens: how many tokens to add to each prompt; 0 adds none.
        context_length: L. The model sees the last L tokens at most, and all of them when there are fewer.
        temperature, generator: as in `sample_next`.

    Returns:
        [B, T + max_new_tokens] int64: the whole prompt, then the new tokens.

    The model runs in evaluation mode and no graph is recorded. Afterwards it is back in the mode it was found in,
    also when it raises an error.
    """
    # TODO: The model returns scores for every position. Which position predicts the token that is still missing?
    # TODO: Which tensor may be cut to the last L tokens, and which one must stay whole?
    raise NotImplementedError("generate")
