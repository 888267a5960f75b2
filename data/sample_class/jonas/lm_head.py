import torch
from torch import nn

from layer_norm import LayerNorm
from transformer_block import TransformerBlock


def vocabulary_logits(hidden, weight, bias):
    return nn.functional.linear(hidden, weight, bias)


def next_token_loss(logits, targets, ignore_index=-100):
    # CrossEntropyLoss wants the classes on axis 1
    loss = nn.CrossEntropyLoss(ignore_index=ignore_index)
    return loss(logits.transpose(1, 2), targets)


class MiniGPT(nn.Module):
    def __init__(self, vocab_size, context_length, model_dim, num_heads, num_layers, dropout):
        super().__init__()
        self.L = context_length
        self.token_embedding = nn.Embedding(vocab_size, model_dim)
        self.position_embedding = nn.Embedding(context_length, model_dim)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(TransformerBlock(model_dim, num_heads, dropout))
        self.final_norm = LayerNorm(model_dim)
        self.lm_head = nn.Linear(model_dim, vocab_size, bias=True)

    def forward(self, token_ids, targets=None):
        B, T = token_ids.shape
        if T > self.L:
            raise ValueError(f"T = {T} is longer than L = {self.L}")
        x = self.token_embedding(token_ids)
        x = x + self.position_embedding(torch.arange(T).expand(B, T))
        for block in self.blocks:
            x = block(x)
        logits = self.lm_head(self.final_norm(x))
        loss = None
        if targets is not None:
            loss = next_token_loss(logits, targets)
        return logits, loss
