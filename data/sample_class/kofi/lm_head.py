import torch
from torch import nn

from layer_norm import LayerNorm
from transformer_block import TransformerBlock


def vocabulary_logits(hidden, weight, bias):
    B, T, C = hidden.shape
    flat = torch.addmm(bias, hidden.reshape(B * T, C), weight.t())
    return flat.reshape(B, T, -1)


def next_token_loss(logits, targets, ignore_index=-100):
    V = logits.shape[2]
    keep = targets.reshape(-1) != ignore_index
    rows = logits.reshape(-1, V)[keep]
    wanted = targets.reshape(-1)[keep]
    right = rows[torch.arange(len(wanted)), wanted]
    return (torch.logsumexp(rows, dim=1) - right).mean()


class MiniGPT(nn.Module):
    def __init__(self, vocab_size, context_length, model_dim, num_heads, num_layers, dropout):
        super().__init__()
        self.context_length = context_length
        self.token_embedding = nn.Embedding(vocab_size, model_dim)
        self.position_embedding = nn.Embedding(context_length, model_dim)
        self.blocks = nn.ModuleList([TransformerBlock(model_dim, num_heads, dropout) for i in range(num_layers)])
        self.final_norm = LayerNorm(model_dim)
        self.lm_head = nn.Linear(model_dim, vocab_size)

    def forward(self, token_ids, targets=None):
        T = token_ids.shape[1]
        if T > self.context_length:
            raise ValueError("too long: %d tokens, room for %d" % (T, self.context_length))
        x = self.token_embedding(token_ids) + self.position_embedding(torch.arange(T))[None]
        for i in range(len(self.blocks)):
            x = self.blocks[i](x)
        x = self.final_norm(x)
        logits = vocabulary_logits(x, self.lm_head.weight, self.lm_head.bias)
        if targets is not None:
            return logits, next_token_loss(logits, targets)
        else:
            return logits, None


print("lm_head is ready")
