"""Oracle for `transformer_block`: the block as a function of its state dict, from torch's own operators, in float64."""

import torch
from torch.nn import functional as F

State = dict[str, torch.Tensor]


def add_residual(x: torch.Tensor, update: torch.Tensor) -> torch.Tensor:
    """Element by element, without stretching either."""
    summed = [a + b for a, b in zip(x.double().flatten(), update.double().flatten(), strict=True)]
    return torch.stack(summed).reshape(x.shape)


def transformer_block(state: State, x: torch.Tensor, num_heads: int) -> torch.Tensor:
    """The block's output [B,T,C] in evaluation mode."""
    return block_stages(state, x, num_heads)["residual_after_ffn"]


def block_stages(state: State, x: torch.Tensor, num_heads: int) -> dict[str, torch.Tensor]:
    """Every stage of one block, in course order; each is [B,T,C]."""
    w = {name: entry.double() for name, entry in state.items()}
    x = x.double()
    C = x.shape[-1]

    ln1 = F.layer_norm(x, (C,), w["ln1.weight"], w["ln1.bias"], eps=1e-5)
    q_weight, k_weight, v_weight = w["attention.qkv.weight"].split(C)
    heads = [
        F.scaled_dot_product_attention(
            F.linear(ln1, q_weight[rows]), F.linear(ln1, k_weight[rows]), F.linear(ln1, v_weight[rows]), is_causal=True
        )
        for rows in torch.arange(C).chunk(num_heads)
    ]
    attention_update = F.linear(torch.cat(heads, dim=-1), w["attention.output.weight"])
    residual_after_attention = x + attention_update

    ln2 = F.layer_norm(residual_after_attention, (C,), w["ln2.weight"], w["ln2.bias"], eps=1e-5)
    wide = F.gelu(F.linear(ln2, w["ffn.expand.weight"], w["ffn.expand.bias"]))
    ffn_update = F.linear(wide, w["ffn.project.weight"], w["ffn.project.bias"])
    return {
        "ln1": ln1,
        "attention_update": attention_update,
        "residual_after_attention": residual_after_attention,
        "ln2": ln2,
        "ffn_update": ffn_update,
        "residual_after_ffn": residual_after_attention + ffn_update,
    }


def block_gradients(
    state: State, x: torch.Tensor, num_heads: int, along: torch.Tensor
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Gradients of sum(output * along): for x [B,T,C], and for each parameter by name."""
    leaf = x.double().requires_grad_()
    parameters = {name: entry.double().requires_grad_() for name, entry in state.items()}
    scalar = (transformer_block(parameters, leaf, num_heads) * along.double()).sum()
    from_x, *from_parameters = torch.autograd.grad(scalar, [leaf, *parameters.values()])
    return from_x, dict(zip(parameters, from_parameters, strict=True))
