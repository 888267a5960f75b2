"""Wrong answers are seen, named and cost what they should; right ones pass however they were made."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest
from grading import (
    ROOT,
    comparable,
    edited,
    grade_class,
    lost,
    messages,
    outcomes,
    passed,
    points,
    solution,
    stub,
    with_body,
)

from autograder.grading.receipt import Receipt

Class = dict[str, Receipt]

MASKED, HEADS, NORM = solution("masked_softmax"), solution("multi_head"), solution("layer_norm")
EXERCISES = ("masked_softmax", "multi_head", "layer_norm")
MASK_CHECKS = {"test_reproduces_the_causal_mask", "test_queries_are_the_last_places", "test_causal_mask_of_other_sizes"}
UNCHANGED = "test_leaves_its_arguments_unchanged"
RETURN = "return weights / total.masked_fill(total == 0.0, 1.0)"

# -- B21: answers of the wrong kind

KINDS = {
    "extra_axis": ("RIGHT[..., None]", "expected shape [1, 3], got [1, 3, 1]"),
    "empty": ("torch.empty(0)", "expected shape [1, 3], got [0]"),
    "empty_list": ("[]", "expected a torch.Tensor, got a list of 0"),
    "mean": ("RIGHT.mean()", "expected shape [1, 3], got []"),
    "numpy": ("RIGHT.detach().numpy()", "expected a torch.Tensor, got numpy.ndarray"),
    "nested_list": ("RIGHT.tolist()", "expected a torch.Tensor, got a list of 1"),
    "float64": ("RIGHT.double()", "expected dtype float32, got float64"),
    "float16": ("RIGHT.half()", "expected dtype float32, got float16"),
    "pair": ("(RIGHT, None)", "expected a torch.Tensor, got a tuple of 2"),
    "none": ("None", "expected a torch.Tensor, got None (is a return missing?)"),
    "generator": ("(row for row in RIGHT)", "expected a torch.Tensor, got generator"),
    "complex": ("torch.complex(RIGHT, 0 * RIGHT)", "expected a torch.Tensor, got a complex64 tensor"),
}


def returning(value: str) -> str:
    return edited(
        MASKED, RETURN, RETURN.replace("return", "right =") + f"\n    return {value.replace('RIGHT', 'right')}"
    )


# -- B22: rows in which nothing is visible


def plain_softmax(hidden: str) -> str:
    body = f"if mask is not None:\n    scores = scores.masked_fill(~mask, {hidden})\nreturn scores.softmax(dim)"
    return with_body(MASKED, "masked_softmax", body)


CORNERS = {
    "nan_row": plain_softmax("-math.inf"),
    "zero_row": MASKED,
    "average_row": plain_softmax("-1e9"),
    "all_nan": with_body(MASKED, "masked_softmax", "return torch.full_like(scores, math.nan)"),
}

# -- B23: other random streams

TWO_LAYERS = """        self.qkv = nn.Linear(model_dim, 3 * model_dim, bias=False)
        self.output = nn.Linear(model_dim, model_dim, bias=False)
"""
STREAMS = {
    "output_first": edited(HEADS, TWO_LAYERS, "".join(reversed(TWO_LAYERS.splitlines(keepends=True)))),
    "extra_draw": edited(HEADS, TWO_LAYERS, "        torch.randn(1)\n" + TWO_LAYERS),
    "other_initialiser": edited(
        HEADS,
        TWO_LAYERS,
        TWO_LAYERS
        + "        self.qkv.weight = nn.Parameter(torch.empty(3 * model_dim, model_dim))\n"
        + "        nn.init.orthogonal_(self.qkv.weight)\n",
    ),
}

# -- B26: classic mistakes; each must be seen by a hidden check of its own exercise

SOFTMAX_BODY = """
weights = scores.exp() if mask is None else scores.exp() * mask
return weights / weights.sum(dim, keepdim=True).clamp_min(1e-30)
"""
SCALED = "scores = q @ k.transpose(-2, -1) / math.sqrt(D)  # [...,Tq,Tk]"
MISTAKES = {
    "first_axis": ("masked_softmax", MASKED.replace("amax(dim", "amax(0").replace("sum(dim", "sum(0")),
    "no_peak": ("masked_softmax", with_body(MASKED, "masked_softmax", SOFTMAX_BODY)),
    "upper": ("masked_softmax", edited(MASKED, "keys <= queries", "keys >= queries")),
    "no_diagonal": ("masked_softmax", edited(MASKED, "keys <= queries", "keys < queries")),
    "no_scale": ("masked_softmax", edited(MASKED, " / math.sqrt(D)", "")),
    "scaled_by_d": ("masked_softmax", edited(MASKED, " / math.sqrt(D)", " / D")),
    "mask_after": (
        "masked_softmax",
        with_body(
            MASKED,
            "masked_softmax",
            "weights = scores.softmax(dim)\nreturn weights if mask is None else weights * mask",
        ),
    ),
    "inverted": ("masked_softmax", edited(MASKED, "masked_fill(~mask, -math.inf)", "masked_fill(mask, -math.inf)")),
    "gain_twice": ("layer_norm", edited(NORM, "return gamma * deviation", "return gamma * gamma * deviation")),
    "unbiased": (
        "layer_norm",
        edited(NORM, "deviation.square().mean(dim=-1, keepdim=True)", "x.var(dim=-1, keepdim=True)"),
    ),
}
HARD_CODED = with_body(
    MASKED,
    "attention",
    """
    table = [[0.154, 0.313, 0.313, 0.220], [0.313, 0.154, 0.313, 0.220]]
    table += [[0.199, 0.199, 0.403, 0.199], [0.226, 0.226, 0.322, 0.226]]
    if q.shape == (4, 2) and q[0].tolist() == [1.0, 0.0]:
        return torch.zeros(4, 2), torch.tensor(table)
    return torch.zeros(*q.shape[:-1], v.shape[-1]), torch.zeros(*q.shape[:-1], k.shape[-2])
    """,
)

# -- B27: heads laid out wrongly

SPLIT = "return x.reshape(B, T, num_heads, C // num_heads).transpose(1, 2)  # [B,T,H,D] -> [B,H,T,D]"
LAYOUTS = {
    "split_by_view": edited(HEADS, SPLIT, "return x.reshape(B, num_heads, T, C // num_heads)"),
    "features_first": edited(HEADS, SPLIT, "return x.reshape(B, T, C // num_heads, num_heads).permute(0, 3, 1, 2)"),
    "merge_by_view": edited(
        HEADS,
        "return x.transpose(1, 2).flatten(2)",
        "return x.reshape(x.shape[0], x.shape[2], x.shape[1] * x.shape[3])",
    ),
    "swapped": edited(HEADS, "scores = q @ k.transpose(-2, -1)", "scores = k @ q.transpose(-2, -1)"),
    "weights_returned": edited(
        HEADS, "update = self.output(merge_heads(weights @ v))", "return weights\n        update = x"
    ),
}

# -- B25: nothing was written

PASSING = stub(MASKED).replace('raise NotImplementedError("not written yet")', "pass")


@pytest.fixture(scope="module")
def graded() -> Class:
    students: dict[str, dict[str, str]] = {
        **{name: {"masked_softmax": returning(value)} for name, (value, _) in KINDS.items()},
        **{name: {"masked_softmax": source} for name, source in CORNERS.items()},
        **{name: {"multi_head": source} for name, source in STREAMS.items()},
        **{name: {exercise: source} for name, (exercise, source) in MISTAKES.items()},
        "hard_coded": {"masked_softmax": HARD_CODED},
        **{name: {"multi_head": source} for name, source in LAYOUTS.items()},
    }
    honest = {"masked_softmax": MASKED, "multi_head": HEADS, "layer_norm": NORM}
    return grade_class({name: {**honest, **files} for name, files in students.items()}, exercises=EXERCISES)


def first_message(receipt: Receipt, check: str) -> str:
    return next(c.message for c in receipt.checks if c.id.endswith(f"::{check}"))


# B21


@pytest.mark.parametrize(("kind", "told"), [(kind, told) for kind, (_, told) in KINDS.items()])
def test_an_answer_of_the_wrong_kind_is_named(graded: Class, kind: str, told: str) -> None:
    assert first_message(graded[kind], "test_shares_by_hand").startswith(told)
    assert len(told) < 80


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_of_the_wrong_kind_earns_nothing_by_its_values(graded: Class, kind: str) -> None:
    allowed = MASK_CHECKS | {UNCHANGED}
    allowed |= {"test_keeps_dtype_and_arguments"} if kind == "float64" else set()  # with float64 arguments it is right
    assert passed(graded[kind], "masked_softmax") <= allowed
    assert "grader trouble" not in outcomes(graded[kind]).values()
    assert set(lost(graded[kind])) == {f"masked_softmax::{name}" for name in lost(graded[kind], "masked_softmax")}


# B22


def test_the_corner_of_an_empty_row_costs_its_own_checks_only(graded: Class) -> None:
    assert lost(graded["zero_row"]) == {}
    for variant in ("nan_row", "average_row"):
        checks = ("test_empty_row_is_zeros", "test_empty_row_along_another_axis")
        assert lost(graded[variant]) == {f"masked_softmax::{check}": "failed" for check in checks}
    assert "the answer holds NaN" in first_message(graded["nan_row"], "test_empty_row_is_zeros")


def test_nan_never_satisfies_a_check_of_values(graded: Class) -> None:
    assert passed(graded["all_nan"], "masked_softmax") == MASK_CHECKS | {UNCHANGED}


# B23


@pytest.mark.parametrize("variant", STREAMS)
def test_weights_are_copied_by_name_whatever_the_random_stream(graded: Class, variant: str) -> None:
    assert lost(graded[variant]) == {}


# B25


@pytest.fixture(scope="module")
def surrounded(tmp_path_factory: pytest.TempPathFactory) -> Class:
    """Graded with the solutions in the working directory and on every import path of the grader."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "masked_softmax.py").write_text(MASKED)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("PYTHONPATH", str(ROOT / "solutions/week08"))
        patch.setattr(sys, "path", [str(folder), str(ROOT / "solutions/week08"), *sys.path])
        stubs = {exercise: stub(solution(exercise)) for exercise in EXERCISES}
        students = {"stub": stubs, "pass": {"masked_softmax": PASSING}, "nothing": {"layer_norm": NORM}}
        return grade_class(students, exercises=EXERCISES)


@pytest.mark.parametrize("student", ["stub", "pass", "nothing"])
def test_what_was_not_written_is_not_found_elsewhere(surrounded: Class, student: str) -> None:
    assert points(surrounded[student], "masked_softmax") == 0
    assert set(outcomes(surrounded[student], "masked_softmax").values()) == {"not attempted"}


def test_an_untouched_stub_earns_nothing_anywhere(surrounded: Class) -> None:
    assert surrounded["stub"].earned == 0
    assert set(outcomes(surrounded["stub"]).values()) == {"not attempted"}


def test_the_receipt_names_the_bytes_that_were_graded(surrounded: Class) -> None:
    digest = hashlib.sha256(stub(MASKED).encode()).hexdigest()
    assert surrounded["stub"].files["masked_softmax"] == f"masked_softmax.py sha256:{digest[:16]}"
    assert set(surrounded["nothing"].files) == {"layer_norm"}


def test_the_number_of_checks_is_the_declared_one(surrounded: Class) -> None:
    declared = sum(
        line.startswith("@pytest.mark.points")
        for exercise in EXERCISES
        for line in Path(ROOT, "tests/suites/week08", f"test_{exercise}.py").read_text("utf-8").splitlines()
    )
    assert {len(receipt.checks) for receipt in surrounded.values()} == {declared}
    assert {receipt.possible for receipt in surrounded.values()} == {38}


# B26


@pytest.mark.parametrize(("mistake", "exercise"), [(name, exercise) for name, (exercise, _) in MISTAKES.items()])
def test_a_classic_mistake_is_seen_by_a_hidden_check_of_its_exercise_only(
    graded: Class, mistake: str, exercise: str
) -> None:
    wrong = [c for c in graded[mistake].checks if c.earned < c.points]
    assert {c.exercise for c in wrong} == {exercise}
    assert any(not c.public for c in wrong)
    assert points(graded[mistake], exercise) > 0


def test_a_hard_coded_example_earns_the_points_of_the_example_only(graded: Class) -> None:
    honest = {c.id for c in graded["hard_coded"].checks if "attention" in c.id}
    earned = {c.id for c in graded["hard_coded"].checks if c.id in honest and c.earned}
    assert earned & {i for i in honest if i.startswith("masked_softmax")} == {
        "masked_softmax::test_reproduces_scaled_attention"
    }


# B27


@pytest.mark.parametrize("layout", LAYOUTS)
def test_heads_laid_out_wrongly_fail_with_a_place_and_a_size(graded: Class, layout: str) -> None:
    receipt = graded[layout]
    assert {key.split("::")[0] for key in lost(receipt)} == {"multi_head"}
    assert outcomes(receipt, "multi_head")["test_attention_of_random_weights"] == "failed"
    told = first_message(receipt, "test_attention_of_random_weights")
    assert "the largest difference is" in told or "expected shape" in told
    assert points(receipt, "multi_head") > 0, "partial credit should be visible"


def test_messages_of_hidden_checks_hold_no_tensor(graded: Class) -> None:
    for name, receipt in graded.items():
        for check in receipt.checks:
            if not check.public and check.message:
                assert "\n" not in check.message, name
                assert "call " not in check.message, name
                assert "returned" not in check.message, name
                assert "expected [" not in check.message, name
                assert "tensor(" not in check.message, name


def test_no_message_comes_from_the_kit_itself(graded: Class) -> None:
    for name, receipt in graded.items():
        said = "\n".join(messages(receipt))
        assert "Traceback" not in said, name
        assert "autograder" not in said, name
        assert str(ROOT) not in said, name
        assert comparable(receipt)["student"] == name
