from torch import nn
from torch.nn.functional import gelu as torch_gelu


def gelu(x):
    return torch_gelu(x, approximate="none")


class FeedForward(nn.Module):
    def __init__(self, model_dim, dropout):
        super().__init__()
        self.expand = nn.Linear(model_dim, 4 * model_dim)
        self.project = nn.Linear(4 * model_dim, model_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        for step in (self.expand, gelu, self.project, self.dropout):
            x = step(x)
        return x
