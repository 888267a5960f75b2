import torch
from torch import nn

from masked_softmax import causal_mask, masked_softmax


def split_heads(x, num_heads):
    if x.shape[2] % num_heads != 0:
        raise ValueError("%d is not a multiple of %d" % (x.shape[2], num_heads))
    size = x.shape[2] // num_heads
    heads = [x[:, :, h * size : (h + 1) * size] for h in range(num_heads)]
    return torch.stack(heads, dim=1)


def merge_heads(x):
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=2)


class CausalSelfAttention(nn.Module):
    def __init__(self, model_dim, num_heads, dropout):
        super().__init__()
        if model_dim % num_heads != 0:
            raise ValueError("%d is not a multiple of %d" % (model_dim, num_heads))
        self.num_heads = num_heads
        self.qkv = nn.Linear(model_dim, 3 * model_dim, bias=False)
        self.output = nn.Linear(model_dim, model_dim, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        q, k, v = torch.tensor_split(self.qkv(x), 3, dim=2)
        visible = causal_mask(x.shape[1])
        results = []
        for q_h, k_h, v_h in zip(
            split_heads(q, self.num_heads).unbind(1),
            split_heads(k, self.num_heads).unbind(1),
            split_heads(v, self.num_heads).unbind(1),
        ):
            scores = torch.bmm(q_h, k_h.transpose(1, 2)) / q_h.shape[2] ** 0.5
            weights = self.dropout(masked_softmax(scores, visible))
            results.append(torch.bmm(weights, v_h))
        return self.dropout(self.output(merge_heads(torch.stack(results, dim=1))))
