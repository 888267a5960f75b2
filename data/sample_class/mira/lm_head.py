"""Logits, loss, and the model. The loss picks log-probabilities itself, so padding is easy to leave out."""

import torch
import torch.nn.functional as F
from torch import nn

from layer_norm import LayerNorm
from transformer_block import TransformerBlock


def vocabulary_logits(hidden, weight, bias):
    return torch.einsum("btc,vc->btv", hidden, weight) + bias


def next_token_loss(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    chosen = targets.where(counts, torch.zeros_like(targets))
    log_probs = F.log_softmax(logits, dim=-1).gather(-1, chosen[..., None])[..., 0]
    return -(log_probs * counts).sum() / counts.sum()


class MiniGPT(nn.Module):
    def __init__(self, vocab_size, context_length, model_dim, num_heads, num_layers, dropout):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, model_dim)
        self.position_embedding = nn.Embedding(context_length, model_dim)
        blocks = [TransformerBlock(model_dim, num_heads, dropout) for _ in range(num_layers)]
        self.blocks = nn.Sequential(*blocks)
        self.final_norm = LayerNorm(model_dim)
        self.lm_head = nn.Linear(model_dim, vocab_size)

    def forward(self, token_ids, targets=None):
        steps, limit = token_ids.size(1), self.position_embedding.num_embeddings
        if steps > limit:
            raise ValueError(f"got {steps} tokens, the model reads at most {limit}")
        x = self.token_embedding(token_ids) + self.position_embedding.weight[:steps]
        logits = self.lm_head(self.final_norm(self.blocks(x)))
        if targets is None:
            return logits, None
        return logits, next_token_loss(logits, targets)
