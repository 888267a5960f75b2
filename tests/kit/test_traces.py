"""The worked examples of the course: the reference reproduces every stated value, and students have what they may have.

Each entry of `reference/traces/` has a function in `traced` that computes its values. The result, rounded half up to
the stated digits, must be the value.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
import torch
from traced import COMPUTE, ROOT, TRACES, inputs_of

from autograder.course import load_course


def rounded(value: Any, digits: int) -> Any:
    """Nested lists of decimals, rounded half up (away from zero)."""
    if isinstance(value, torch.Tensor):
        value = value.tolist()
    if isinstance(value, list):
        return [rounded(item, digits) for item in value]
    return Decimal(value).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)


def exactly(value: Any) -> Any:
    return [exactly(item) for item in value] if isinstance(value, list) else Decimal(repr(value))


STATED = [
    pytest.param(exercise, entry.id, name, id=f"{exercise}-{entry.id}-{name}")
    for exercise, entries in TRACES.items()
    for entry in entries.values()
    for name in entry.values
]


def test_every_entry_is_computed_and_every_computation_has_its_entry() -> None:
    entries = {(exercise, entry) for exercise, found in TRACES.items() for entry in found}
    assert entries == set(COMPUTE)


@pytest.mark.parametrize(("exercise", "entry", "name"), STATED)
def test_the_reference_reproduces_the_stated_value(exercise: str, entry: str, name: str) -> None:
    stated = TRACES[exercise][entry].values[name]
    computed = COMPUTE[exercise, entry](inputs_of(exercise, entry))
    assert name in computed, f"nothing computes {name}"
    assert rounded(computed[name], stated.digits) == exactly(stated.value)


def test_the_files_belong_to_exercises_of_the_course() -> None:
    names = {e.name for assignment in load_course(ROOT).assignments.values() for e in assignment.exercises}
    assert set(TRACES) <= names


def test_what_students_may_have() -> None:
    public = {(exercise, entry.id) for exercise, found in TRACES.items() for entry in found.values() if entry.public}
    assert public == {
        ("embedding", "two_prompts"),
        ("embedding", "sinusoidal_d4"),
        ("masked_softmax", "scaled_attention"),
        ("masked_softmax", "causal_mask_4"),
        ("masked_softmax", "last_query_scores"),
        ("multi_head", "two_head_block"),
        ("layer_norm", "row_1_2_3_4"),
        ("layer_norm", "row_2_4_6_8"),
        ("layer_norm", "ln1_rows"),
        ("feed_forward", "gelu_table"),
        ("feed_forward", "prompt_a_final_position"),
        ("feed_forward", "feature_mixing"),
        ("transformer_block", "residual_addition"),
        ("lm_head", "candidate_scores"),
        ("lm_head", "two_prompts"),
        ("transformer_block", "block_final_row"),
        ("training", "day3_schedule"),
        ("training", "clip_example"),
        ("dataset", "anna"),
        ("baselines", "parameter_counts"),
        ("comparison", "day3_breakdown"),
        ("experiments", "model_sizes"),
    }


def test_known_errata_are_marked() -> None:
    marked = {
        f"{exercise}/{entry.id}/{name}"
        for exercise, found in TRACES.items()
        for entry in found.values()
        for name, value in entry.values.items()
        if value.printed is not None
    }
    assert marked == {
        "feed_forward/gelu_table/gelu",
        "feed_forward/prompt_a_final_position/hidden_gelu",
        "lm_head/two_prompts/probabilities_last",
        "lm_head/parameter_count_day3/block",
        "lm_head/parameter_count_day3/blocks",
        "lm_head/parameter_count_day3/total",
        "masked_softmax/self_attention_unscaled/exp_sum",
        "masked_softmax/self_attention_unscaled/largest_percent",
        "masked_softmax/self_attention_unscaled/products",
        "masked_softmax/self_attention_unscaled/output",
        "masked_softmax/scaled_attention/exp_rows_0_2",
        "masked_softmax/scaled_attention/exp_sum_rows_0_2",
        "masked_softmax/scaled_attention/weights",
        "training/day3_schedule/first_step",
        "dataset/anna/token_ids",
        "baselines/parameter_counts/mlp",
    }
