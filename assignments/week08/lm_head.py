"""From the last hidden state to the next token: logits, loss and the whole model (Week 8 §12-14, Day 3 ch. 7).

Names: Day 3 writes `context_length` as block_size, `num_layers` as n_layers, `token_ids` as idx and the head as `head`.

Axes: B batch, T time, C = model_dim, V = vocab_size, L = context_length.
"""

import torch
from layer_norm import LayerNorm
from torch import nn
from torch.nn import functional as F
from transformer_block import TransformerBlock


def vocabulary_logits(hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Score every word of the vocabulary at every position (Week 8 §13).

    Args:
        hidden: [B,T,C], the output of the final LayerNorm.
        weight: [V,C], one scoring vector a word, stored as nn.Linear stores it.
        bias: [V].

    Returns:
        Raw scores [B,T,V]: no softmax has been applied to them.
    """
    # TODO: Row v of `weight` belongs to word v. Which product gives the score of every word at once?
    raise NotImplementedError("vocabulary_logits")


def next_token_loss(logits: torch.Tensor, targets: torch.Tensor, ignore_index: int = -100) -> torch.Tensor:
    """Mean cross-entropy, in nats, over the targets that count (Week 8 §14).

    Args:
        logits: raw scores [B,T,V]; must work for scores in the thousands too.
        targets: [B,T] int64, the token that really came next at each position.
        ignore_index: a target of this value (padding, say) does not count, neither in the sum nor in the number
            of terms. At least one target counts.

    Returns:
        A scalar tensor that gradients can flow through.
    """
    # TODO: How many separate predictions do B rows of T positions make? Which axis must stay last?
    raise NotImplementedError("next_token_loss")


class MiniGPT(nn.Module):
    """A decoder-only language model: embeddings, a stack of blocks, a final norm, the vocabulary head.

    Args:
        vocab_size: V.
        context_length: L, the number of learned positions and so the longest window the model can read.
        model_dim: C.
        num_heads: attention heads of each block.
        num_layers: how many blocks are stacked.
        dropout: probability handed to every block. There is no dropout on the embeddings.

    Attributes:
        token_embedding: nn.Embedding(V, C).
        position_embedding: nn.Embedding(L, C).
        blocks: `num_layers` TransformerBlocks, named 0, 1, ..., each with parameters of its own.
        final_norm: LayerNorm(C).
        lm_head: nn.Linear(C, V), with a bias and not tied to the token table.
    """

    def __init__(
        self,
        vocab_size: int,
        context_length: int,
        model_dim: int,
        num_heads: int,
        num_layers: int,
        dropout: float,
    ) -> None:
        super().__init__()
        # TODO: How will the optimizer find the parameters of every block? Does a plain Python list show them?
        raise NotImplementedError("MiniGPT.__init__")

    def forward(
        self, token_ids: torch.Tensor, targets: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Predict the next token at every position.

        Args:
            token_ids: [B,T] int64 with T <= L.
            targets: [B,T] int64, or None when only the scores are wanted. A target of -100 does not count.

        Returns:
            (logits [B,T,V], loss): the loss is a scalar tensor, or None without targets.

        Raises:
            ValueError: T > L; the text names both.
        """
        # TODO: What is residual_0 made of, and what happens to it before the head may read it?
        # TODO: Why can a position past the end of the table not simply be looked up?
        raise NotImplementedError("MiniGPT.forward")
