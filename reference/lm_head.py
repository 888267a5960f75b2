"""Oracle for `lm_head`: the head, the loss and the whole model as functions of plain tensors, in float64."""

import torch
from torch.nn import functional as F

State = dict[str, torch.Tensor]


def vocabulary_logits(hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """[B,T,V]: one dot product for each word, plus its bias."""
    return torch.einsum("btc,vc->btv", hidden.double(), weight.double()) + bias.double()


def next_token_loss(logits: torch.Tensor, targets: torch.Tensor, ignore_index: int = -100) -> torch.Tensor:
    """Mean of log(sum(exp(z))) - z[target] over the targets that count."""
    logits = logits.double()
    terms = [
        torch.logsumexp(logits[b, t], dim=0) - logits[b, t, target]
        for b, row in enumerate(targets.tolist())
        for t, target in enumerate(row)
        if target != ignore_index
    ]
    return torch.stack(terms).mean()


def loss_gradient(logits: torch.Tensor, targets: torch.Tensor, ignore_index: int = -100) -> torch.Tensor:
    """Gradient of the loss [B,T,V]: (softmax - one-hot) / count where the target counts, else 0."""
    counts = targets != ignore_index
    one_hot = F.one_hot(targets.where(counts, 0), logits.shape[-1])
    return (logits.double().softmax(dim=-1) - one_hot) * counts[..., None] / counts.sum()


def mini_gpt_logits(state: State, token_ids: torch.Tensor, num_heads: int, num_layers: int) -> torch.Tensor:
    """The model's logits [B,T,V] in evaluation mode."""
    return mini_gpt_stages(state, token_ids, num_heads, num_layers)["logits"]


def mini_gpt_stages(state: State, token_ids: torch.Tensor, num_heads: int, num_layers: int) -> dict[str, torch.Tensor]:
    """Every stage in course order: `residual_0`, the stages of the last block, `final_hidden`, `logits`,
    `probabilities`."""
    w = {name: entry.double() for name, entry in state.items()}
    x = F.embedding(token_ids, w["token_embedding.weight"]) + w["position_embedding.weight"][: token_ids.shape[1]]
    stages = {"residual_0": x}
    for layer in range(num_layers):
        prefix = f"blocks.{layer}."
        block = {name.removeprefix(prefix): entry for name, entry in w.items() if name.startswith(prefix)}
        stages |= _block_stages(block, x, num_heads)
        x = stages["residual_after_ffn"]
    stages["final_hidden"] = F.layer_norm(x, x.shape[-1:], w["final_norm.weight"], w["final_norm.bias"], eps=1e-5)
    stages["logits"] = vocabulary_logits(stages["final_hidden"], w["lm_head.weight"], w["lm_head.bias"])
    stages["probabilities"] = stages["logits"].softmax(dim=-1)
    return stages


def mini_gpt_gradients(
    state: State, token_ids: torch.Tensor, num_heads: int, num_layers: int, along: torch.Tensor
) -> State:
    """Gradients of sum(logits * along), by parameter name."""
    parameters = {name: entry.double().requires_grad_() for name, entry in state.items()}
    scalar = (mini_gpt_logits(parameters, token_ids, num_heads, num_layers) * along.double()).sum()
    return dict(zip(parameters, torch.autograd.grad(scalar, list(parameters.values())), strict=True))


def _block_stages(w: State, x: torch.Tensor, num_heads: int) -> State:
    """One pre-norm block from its own state dict; each stage is [B,T,C]."""
    C = x.shape[-1]
    ln1 = F.layer_norm(x, (C,), w["ln1.weight"], w["ln1.bias"], eps=1e-5)
    q, k, v = (
        part.unflatten(-1, (num_heads, -1)).transpose(1, 2)  # [B,T,C] -> [B,H,T,D]
        for part in F.linear(ln1, w["attention.qkv.weight"]).chunk(3, dim=-1)
    )
    heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    attention_update = F.linear(heads.transpose(1, 2).flatten(2), w["attention.output.weight"])
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
