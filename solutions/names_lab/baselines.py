"""Models that a Transformer has to beat: bigrams, counted and learned, and an MLP with a window (Day 3 ch. 9).

Every model here is called like MiniGPT: `model(token_ids, targets)` gives `(logits [B,T,V], loss)`, the loss a mean
over the targets that count. At place t a model may use token_ids[:, : t + 1] and nothing after it. So one function can
measure them all, on the same rows.

Names: Day 3 calls the MLP's parts emb, fc1 and fc2, its window block_size, its sizes n_embd and n_hidden.

Axes: B rows, T places, V vocab_size, W window, E embedding_dim.
"""

import torch
from torch import nn
from torch.nn import functional as F

IGNORED = -100  # a target that does not count
Output = tuple[torch.Tensor, torch.Tensor | None]  # logits [B,T,V], loss or None


def with_loss(logits: torch.Tensor, targets: torch.Tensor | None) -> Output:
    """The logits [B,T,V] and the mean loss over the targets [B,T] that count; None without targets.

    This one is written for you: it is `next_token_loss` of Week 8.
    """
    if targets is None:
        return logits, None
    return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)


def bigram_counts(inputs: torch.Tensor, targets: torch.Tensor, vocab_size: int) -> torch.Tensor:
    """How often each token follows each other token.

    Args:
        inputs, targets: [N,T] int64, as `make_examples` makes them: the target is what follows the input at that place.
            A target of -100 does not count.
        vocab_size: V.

    Returns:
        [V,V] int64: row i, column j is the number of times that j follows i.
    """
    # TODO: Which places of a padded row are pairs, and which are not?
    # TODO: The same pair occurs many times. What does `counts[rows, columns] += 1` make of that?
    ### BEGIN SOLUTION
    counted = targets != IGNORED
    pairs = inputs[counted] * vocab_size + targets[counted]  # one number for each pair
    return torch.bincount(pairs, minlength=vocab_size**2).view(vocab_size, vocab_size)
    ### END SOLUTION


def bigram_log_probabilities(counts: torch.Tensor, smoothing: float = 1.0) -> torch.Tensor:
    """Logarithms of the probabilities that counts stand for; loaded into a NeuralBigram's table they are a model.

    Args:
        counts: [V,V] int64, from `bigram_counts`.
        smoothing: above 0; added to every count first, so that a pair that training never saw is unlikely and not
            impossible.

    Returns:
        [V,V] float32; the probabilities of each row sum to 1.

    Raises:
        ValueError: smoothing is not above 0; the text names it.
    """
    # TODO: A pair with count 0 turns up in validation. What does it cost without smoothing?
    # TODO: Which numbers should sum to 1: everything that follows one token, or everything that one token follows?
    ### BEGIN SOLUTION
    if smoothing <= 0:
        raise ValueError(f"smoothing must be above 0, got {smoothing}")
    smoothed = counts + smoothing
    return (smoothed / smoothed.sum(dim=1, keepdim=True)).log()
    ### END SOLUTION


class NeuralBigram(nn.Module):
    """The scores of the next token are a row of a table, chosen by the present token.

    Attributes:
        table: nn.Embedding(V, V).
    """

    def __init__(self, vocab_size: int) -> None:
        super().__init__()
        # TODO: How many numbers does one token need, if they are to be the scores of every token after it?
        ### BEGIN SOLUTION
        self.table = nn.Embedding(vocab_size, vocab_size)
        ### END SOLUTION

    def forward(self, token_ids: torch.Tensor, targets: torch.Tensor | None = None) -> Output:
        """token_ids [B,T], targets [B,T] or None -> (logits [B,T,V], loss or None)."""
        # TODO: Which row of the table belongs to each place?
        ### BEGIN SOLUTION
        return with_loss(self.table(token_ids), targets)
        ### END SOLUTION


def windows(token_ids: torch.Tensor, window: int) -> torch.Tensor:
    """The last `window` tokens at every place, its own token included.

    Args:
        token_ids: [B,T] int64.
        window: W, at least 1; may be longer than the rows.

    Returns:
        [B,T,W] int64, the oldest token first. Where a row has not begun yet stands the boundary, token 0.
    """
    # TODO: Write the windows of length 3 of the row [0, 5, 6] on paper. What stands in front of the first token?
    # TODO: How do you keep the end of one row out of the windows of the next?
    ### BEGIN SOLUTION
    padded = F.pad(token_ids, (window - 1, 0))  # [B,W-1+T]
    return padded.unfold(1, window, 1)  # [B,T,W]
    ### END SOLUTION


class MLPLanguageModel(nn.Module):
    """Embeds the tokens of a window, puts them side by side and sends them through one hidden layer.

    Args:
        vocab_size: V.
        window: W, how many tokens the model sees; Day 3 takes 8.
        embedding_dim: E.
        hidden_dim: width of the hidden layer.

    Attributes:
        embedding: nn.Embedding(V, E), one table for all places of the window.
        hidden: nn.Linear(W * E, hidden_dim), followed by tanh.
        output: nn.Linear(hidden_dim, V).
    """

    def __init__(self, vocab_size: int, window: int, embedding_dim: int, hidden_dim: int) -> None:
        super().__init__()
        # TODO: How many numbers enter the hidden layer at one place?
        ### BEGIN SOLUTION
        self.window = window
        self.embedding = nn.Embedding(vocab_size, embedding_dim)
        self.hidden = nn.Linear(window * embedding_dim, hidden_dim)
        self.output = nn.Linear(hidden_dim, vocab_size)
        ### END SOLUTION

    def forward(self, token_ids: torch.Tensor, targets: torch.Tensor | None = None) -> Output:
        """token_ids [B,T], targets [B,T] or None -> (logits [B,T,V], loss or None)."""
        # TODO: Which axes have to become one before the hidden layer, and which must stay apart?
        ### BEGIN SOLUTION
        embedded = self.embedding(windows(token_ids, self.window))  # [B,T,W] -> [B,T,W,E]
        hidden = torch.tanh(self.hidden(embedded.flatten(2)))  # [B,T,W*E] -> [B,T,hidden_dim]
        return with_loss(self.output(hidden), targets)
        ### END SOLUTION
