"""The values that the course states, computed: a function for the entries of `reference/traces/`, from their inputs.

In float64, with the reference where the reference has the quantity.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from autograder.course import CourseFiles, load_traces

ROOT = Path(__file__).parents[2]
FILES = CourseFiles(ROOT)
TRACES = {path.stem: load_traces(path) for path in sorted(FILES.traces("any").parent.glob("*.yml"))}

Inputs = dict[str, Any]
Compute = Callable[[Inputs], dict[str, Any]]
COMPUTE: dict[tuple[str, str], Compute] = {}


def computes(exercise: str, *ids: str) -> Callable[[Compute], Compute]:
    """The function computes the values of these entries: inputs -> {value name: tensor, number or list}."""

    def register(function: Compute) -> Compute:
        COMPUTE.update({(exercise, entry): function for entry in ids})
        return function

    return register


@cache
def module_at(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"traced_{path.parent.name}_{path.stem}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reference(exercise: str) -> ModuleType:
    return module_at(FILES.reference(exercise))


def stand_in(exercise: str) -> ModuleType:
    return module_at(FILES.stand_in(exercise))


def inputs_of(exercise: str, entry: str) -> Inputs:
    """Numbers as they are, lists as float64 or int64 tensors."""
    found: Inputs = dict(TRACES[exercise][entry].inputs)
    for name, value in found.items():
        if isinstance(value, list):
            kind = torch.float64 if torch.tensor(value).is_floating_point() else torch.int64
            found[name] = torch.tensor(value, dtype=kind)
    return found


def parameters(module: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


# ---------------------------------------------------------------------------------------------------------- embedding


@computes("embedding", "two_prompts", "like_at_both_positions")
def token_plus_position(given: Inputs) -> dict[str, Any]:
    rows = reference("embedding").embed(given["token_ids"], given["token_table"], given["position_table"])
    return {"residual_0": rows, "rows": rows}


@computes("embedding", "sinusoidal_d4")
def small_waves(given: Inputs) -> dict[str, Any]:
    model_dim = given["model_dim"]
    table = reference("embedding").sinusoidal_positions(given["length"], model_dim)
    return {"table": table, "divisors": [10000.0 ** (pair / model_dim) for pair in range(0, model_dim, 2)]}


@computes("embedding", "sinusoidal_d16")
def larger_waves(given: Inputs) -> dict[str, Any]:
    table = reference("embedding").sinusoidal_positions(given["length"], given["model_dim"])
    return {"first_four": table[given["positions"], :4]}


# ----------------------------------------------------------------------------------------------------- masked_softmax


@computes("masked_softmax", "self_attention_unscaled")
def attention_by_hand(given: Inputs) -> dict[str, Any]:
    q, k, v = (given["x"] @ given[name] for name in ("w_q", "w_k", "w_v"))
    scores = q @ k.T
    assert all(torch.equal(given[name], found) for name, found in [("q", q), ("k", k), ("v", v), ("scores", scores)])
    weights = reference("masked_softmax").masked_softmax(scores)
    named = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 2), (3, 2)]
    return {
        "q": q,
        "k": k,
        "v": v,
        "scores": scores,
        "exp": scores.exp(),
        "exp_sum": scores.exp().sum(-1),
        "weights": weights,
        "weights_row_0": weights[0],
        "largest_percent": [100 * float(weights[place]) for place in named],
        "products": weights[:, :, None] * v,
        "output": weights @ v,
    }


@computes("masked_softmax", "scaled_attention")
def attention_with_scale(given: Inputs) -> dict[str, Any]:
    q, k, v = given["q"], given["k"], given["v"]
    oracle = reference("masked_softmax")
    output, weights = oracle.attention(q, k, v)
    scale = math.sqrt(q.shape[-1])
    scores = q @ k.T
    exp = (scores / scale).exp()
    return {
        "scale": scale,
        "scores": scores,
        "scaled_scores": scores / scale,
        "exp_rows_0_2": exp[[0, 2]],
        "exp_sum_rows_0_2": exp[[0, 2]].sum(-1),
        "weights": weights,
        "sat_on_itself_percent": [100 * float(w[2, 2]) for w in (oracle.masked_softmax(scores), weights)],
        "output": output,
    }


@computes("masked_softmax", "causal_mask_4")
def causal_mask(given: Inputs) -> dict[str, Any]:
    return {"mask": reference("masked_softmax").causal_mask(given["query_length"]).double()}


@computes("masked_softmax", "last_query_scores")
def last_query(given: Inputs) -> dict[str, Any]:
    q, k, v = given["q"], given["k"], given["v"]
    oracle = reference("masked_softmax")
    output, weights = oracle.attention(q, k, v, oracle.causal_mask(1, k.shape[-2]))
    torch.testing.assert_close(oracle.masked_softmax(given["scores"]), weights, rtol=0, atol=1e-12)
    return {"scaled_scores": q @ k.mT / math.sqrt(q.shape[-1]), "weights": weights, "output": output}


# --------------------------------------------------------------------------------------------------------- multi_head


@computes("multi_head", "two_head_block")
def two_heads(given: Inputs) -> dict[str, Any]:
    oracle = reference("multi_head")
    heads = given["num_heads"]
    update = oracle.causal_self_attention(given["ln1"], given["qkv.weight"], given["output.weight"], heads)
    # The output projection is the identity here, so the update still holds the heads side by side.
    return {
        "head_outputs_last": oracle.split_heads(update, heads)[:, :, -1],
        "attention_update_last": update[:, -1],
    }


@computes("multi_head", "parameter_count_512")
def attention_size(given: Inputs) -> dict[str, Any]:
    model_dim, heads = given["model_dim"], given["num_heads"]
    attention = stand_in("multi_head").CausalSelfAttention(model_dim, heads, 0.0)
    qkv = parameters(attention.qkv)
    return {"head_size": model_dim // heads, "matrix": qkv // 3, "qkv": qkv, "total": parameters(attention)}


# --------------------------------------------------------------------------------------------------------- layer_norm


@computes("layer_norm", "row_1_2_3_4", "row_scaled_and_shifted", "row_2_4_6_8")
def one_row(given: Inputs) -> dict[str, Any]:
    x = given["x"]
    deviation = x - x.mean()
    variance = deviation.square().mean()
    return {
        "mean": x.mean(),
        "deviation": deviation,
        "squared_deviation": deviation.square(),
        "variance": variance,
        "standard_deviation": (variance + 1e-5).sqrt(),
        "normalized": reference("layer_norm").layer_norm(x, given["gamma"], given["beta"]),
    }


@computes("layer_norm", "ln1_rows", "ln2_last_rows", "final_norm_last_rows")
def normalized_rows(given: Inputs) -> dict[str, Any]:
    return {"normalized": reference("layer_norm").layer_norm(given["x"], given["gamma"], given["beta"])}


# ------------------------------------------------------------------------------------------------------- feed_forward


@computes("feed_forward", "gelu_table")
def gelu_table(given: Inputs) -> dict[str, Any]:
    return {"gelu": reference("feed_forward").gelu(given["x"])}


@computes("feed_forward", "prompt_a_final_position")
def teaching_ffn(given: Inputs) -> dict[str, Any]:
    oracle, z = reference("feed_forward"), given["z"]
    hidden = z @ given["expand.weight"].T + given["expand.bias"]
    assert not hidden[4:].any()
    update = oracle.feed_forward(
        z, given["expand.weight"], given["expand.bias"], given["project.weight"], given["project.bias"]
    )
    return {"hidden": hidden[:4], "hidden_gelu": oracle.gelu(hidden)[:4], "update": update}


@computes("feed_forward", "feature_mixing")
def one_changed_weight(given: Inputs) -> dict[str, Any]:
    oracle, z = reference("feed_forward"), given["z"]
    weights = [given["expand.weight"], given["changed.expand.weight"]]
    assert (weights[0] != weights[1]).nonzero().tolist() == [[0, 1]]  # W1[1,0] of the text
    rest = (given["expand.bias"], given["project.weight"], given["project.bias"])
    hidden = [float((weight @ z)[0]) for weight in weights]
    return {
        "first_hidden": hidden,
        "first_hidden_gelu": oracle.gelu(torch.tensor(hidden)),
        "first_output": [float(oracle.feed_forward(z, weight, *rest)[0]) for weight in weights],
    }


@computes("feed_forward", "hidden_width_512")
def hidden_width(given: Inputs) -> dict[str, Any]:
    return {"hidden_width": stand_in("feed_forward").FeedForward(given["model_dim"], 0.0).expand.out_features}


# -------------------------------------------------------------------------------------------------- transformer_block


@computes("transformer_block", "residual_addition")
def residual_addition(given: Inputs) -> dict[str, Any]:
    total = reference("transformer_block").add_residual(given["x"], given["update"])
    return {"update": given["update"], "residual_after_attention": total}


@computes("transformer_block", "residual_scalar")
def residual_scalar(given: Inputs) -> dict[str, Any]:
    change = reference("transformer_block").add_residual(given["x"], given["update"])
    return {"change": change, "slope": change / given["x"]}


@computes("transformer_block", "block_final_row")
def block_stages(given: Inputs) -> dict[str, Any]:
    state = {name: value for name, value in given.items() if "." in name}
    return last_rows(reference("transformer_block").block_stages(state, given["residual_0"], given["num_heads"]))


@computes("transformer_block", "parameter_count_d32")
def block_size(given: Inputs) -> dict[str, Any]:
    block = stand_in("transformer_block").TransformerBlock(given["model_dim"], given["num_heads"], 0.0)
    return {"parameters": parameters(block)}


def last_rows(stages: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {f"{name}_last": stage[:, -1] for name, stage in stages.items()}


# ------------------------------------------------------------------------------------------------------------ lm_head


@computes("lm_head", "two_prompts")
def whole_model(given: Inputs) -> dict[str, Any]:
    names = {
        "token_table": "token_embedding.weight",
        "position_table": "position_embedding.weight",
        "output_weight": "lm_head.weight",
        "output_bias": "lm_head.bias",
    }
    state = {names.get(name, name): value for name, value in given.items() if name in names or "." in name}
    stages = reference("lm_head").mini_gpt_stages(state, given["token_ids"], given["num_heads"], 1)
    last = last_rows({name.removeprefix("block 0: "): stage for name, stage in stages.items()})
    return {**last, "highest_last": last["logits_last"].argmax(-1)}


@computes("lm_head", "candidate_scores")
def candidate_scores(given: Inputs) -> dict[str, Any]:
    head = reference("lm_head").vocabulary_logits
    return {"logits": head(given["hidden"], given["output_weight"], given["output_bias"])}


@computes("lm_head", "parameter_count_day3")
def model_size(given: Inputs) -> dict[str, Any]:
    words, dim, layers = given["vocab_size"], given["model_dim"], given["num_layers"]
    block = stand_in("transformer_block").TransformerBlock(dim, given["num_heads"], 0.0)
    outside = {
        "token_embedding": words * dim,
        "position_embedding": given["context_length"] * dim,
        "layer_norm": parameters(torch.nn.LayerNorm(dim)),
        "lm_head": parameters(torch.nn.Linear(dim, words)),
    }
    return outside | {
        "attention_matrix": parameters(block.attention.output),
        "ffn_expand": parameters(block.ffn.expand),
        "ffn_project": parameters(block.ffn.project),
        "block": parameters(block),
        "blocks": layers * parameters(block),
        "total": layers * parameters(block) + sum(outside.values()),
    }


# ----------------------------------------------------------------------------------------------------------- training


@computes("training", "day3_schedule")
def schedule(given: Inputs) -> dict[str, Any]:
    settings = {name: given[name] for name in ("peak", "warmup_steps", "total_steps", "floor_ratio")}
    rate = {step: reference("training").learning_rate(step, **settings) for step in given["steps"].tolist()}
    assert rate[499] == pytest.approx(rate[500], rel=1e-12)
    return {
        "learning_rate": list(rate.values()),
        "first_step": rate[0],
        "end_of_warmup": rate[499],
        "end": rate[10000],
    }


@computes("training", "clip_example")
def clipping(given: Inputs) -> dict[str, Any]:
    norm, (clipped,) = reference("training").clip_gradients([given["gradient"]], given["max_norm"])
    return {"norm": norm, "factor": float(clipped[0] / given["gradient"][0]), "clipped": clipped}


# ---------------------------------------------------------------------------------------------------------- names_lab


@computes("dataset", "anna")
def name_as_tokens(given: Inputs) -> dict[str, Any]:
    letters = [chr(ord("a") + i) for i in range(given["letters"])]
    vocabulary = reference("dataset").build_vocabulary(letters)
    return {"token_ids": reference("dataset").encode("anna", vocabulary), "vocabulary_size": len(vocabulary)}


@computes("baselines", "parameter_counts")
def sizes_of_baselines(given: Inputs) -> dict[str, Any]:
    words, dim = given["vocab_size"], given["embedding_dim"]
    table = torch.nn.Embedding(words, dim)
    hidden = torch.nn.Linear(given["window"] * dim, given["hidden_dim"])
    output = torch.nn.Linear(given["hidden_dim"], words)
    counted = reference("baselines").bigram_counts(torch.zeros(1, 1).long(), torch.zeros(1, 1).long(), words)
    return {"bigram": counted.numel(), "mlp": sum(map(parameters, (table, hidden, output)))}


@computes("comparison", "day3_breakdown")
def parts_of_the_model(given: Inputs) -> dict[str, Any]:
    sizes = reference("comparison").mini_gpt_sizes(*given.values(), output_bias=True)
    return {part.rpartition(".")[2]: size for part, size in sizes.items()} | {"total": sum(sizes.values())}


@computes("experiments", "model_sizes")
def sizes_of_models(given: Inputs) -> dict[str, Any]:
    plans = zip(given["model_dim"].tolist(), given["num_layers"].tolist(), strict=True)
    count = reference("experiments").model_size
    return {"parameters": [count(given["vocab_size"], given["context_length"], *plan, True) for plan in plans]}
