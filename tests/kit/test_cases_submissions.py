"""Odd code in a submission costs what it touches and nothing else: one receipt per variant, all graded in two runs."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from grading import (
    grade_class,
    line_of,
    lost,
    messages,
    passed,
    points,
    with_body,
)
from odd_code import (
    EXERCISES,
    MASK_CHECKS,
    MASKED,
    NORM,
    Class,
    at_bottom,
    at_top,
    first_line,
    loses_only,
    softmax_checks,
)

from autograder.grading.receipt import Receipt
from autograder.suite.local import LocalTransport

CAUSAL = """if key_length is None:
    key_length = query_length
keys = torch.arange(key_length)
queries = keys[key_length - query_length :]
return keys <= queries[:, None]
"""
WITHOUT_CAUSAL = MASKED[: MASKED.index("def causal_mask")] + MASKED[MASKED.index("def masked_softmax") :]

# -- B13: one broken function

BROKEN = {
    "unclosed": with_body(MASKED, "causal_mask", "keys = torch.arange((key_length or query_length)\n" + CAUSAL),
    "tab": with_body(
        MASKED,
        "causal_mask",
        "if True:\n        keys = torch.arange(key_length or query_length)\n\treturn keys <= keys[-query_length:, None]",
    ),
    "leftover_first": with_body(MASKED, "causal_mask", 'raise NotImplementedError("causal_mask")\n' + CAUSAL),
    "leftover_last": with_body(MASKED, "causal_mask", CAUSAL + 'raise NotImplementedError("causal_mask")'),
    "renamed": MASKED.replace("def causal_mask(", "def make_causal_mask("),
    "three_arguments": MASKED.replace(
        "def causal_mask(query_length: int, key_length: int | None = None)",
        "def causal_mask(query_length: int, key_length: int, device: str)",
    ),
    "one_over_zero": at_bottom("1 / 0"),
    "absent": WITHOUT_CAUSAL,
}

# -- B14: leftovers of a session

LEFTOVERS = {
    "input": at_top('n = int(input("size? "))'),
    "colab": at_top("from google.colab import drive"),
    "data_file": at_bottom('text = open("data.csv").read()'),
    "plot": at_bottom("import kit_test_plotting as plt\nplt.show()"),
    "training_at_import": at_bottom("import time\nfor step in range(20):\n    time.sleep(0.1)"),
    "magic": at_top("!pip install einops"),
    "main_guard": at_bottom('if __name__ == "__main__":\n    raise SystemExit(1)'),
}

# -- B15: noise

NOISE = {
    "flood": first_line('for _ in range(200000 if scores.shape == (1, 3) else 1):\n    print("x" * 1000)'),
    "undecodable": first_line('import sys\nsys.stdout.buffer.write(b"\\xff\\xfe\\x00")'),
    "control": first_line('print("\\x00\\x1b[31m")'),
    "recursion": first_line("return masked_softmax(scores, mask, dim)"),
    "warning": first_line('import warnings\nwarnings.warn("old", DeprecationWarning)'),
    "stderr": first_line('import sys\nfor i in range(10):\n    print("line", i, file=sys.stderr)'),
    "surrogate": first_line('print("\\ud800")'),
}

# -- B17: the end of the process

ENDINGS = {
    "os_exit": "import os; os._exit(0)",
    "sys_exit": "import sys; sys.exit(0)",
    "exit": "exit()",
    "quit": "quit()",
    "interrupt": "raise KeyboardInterrupt",
    "kill": "import os; os.kill(os.getpid(), 9)",
    "skip": 'import pytest; pytest.skip("no")',
    "xfail": 'import pytest; pytest.xfail("no")',
    "pytest_exit": 'import pytest; pytest.exit("bye", returncode=0)',
}

OUT_OF_REACH = {"kill", "skip", "xfail", "pytest_exit"}
"""Ways that confinement refuses: no signals, and no pytest to import."""

# -- B19: settings of the process

SETTINGS = """
import warnings
import numpy as np
import torch
torch.set_default_dtype(torch.float64)
torch.set_grad_enabled(False)
torch.set_printoptions(precision=1)
torch.manual_seed(0)
np.random.seed(0)
torch.set_num_threads(1)
warnings.simplefilter("error")
"""

# -- B20: arguments changed in place

IN_PLACE = with_body(
    MASKED,
    "masked_softmax",
    """
    if mask is not None:
        scores.masked_fill_(~mask, -math.inf)
    scores -= scores.amax(dim, keepdim=True).nan_to_num(neginf=0.0)
    scores.exp_()
    total = scores.sum(dim, keepdim=True)
    scores /= total.masked_fill(total == 0, 1.0)
    return scores
    """,
)
IN_PLACE_COSTS = (
    "test_leaves_its_arguments_unchanged",
    "test_keeps_dtype_and_arguments",
    "test_softmax_gradients",
    "test_attention_gradients",
)
"""The named checks, and the gradients: autograd refuses to differentiate through what was overwritten."""
MASK_IN_PLACE = with_body(
    MASKED,
    "attention",
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = masked_softmax(scores) if mask is None else masked_softmax(scores, ~mask.logical_not_())
    return weights @ v, weights
    """,
)
FILLED = with_body(MASKED, "masked_softmax", "scores.fill_(1 / scores.shape[dim])\nreturn scores")


@pytest.fixture(scope="module")
def graded() -> Class:
    """Everything that ends by itself, in one run."""
    work = {**BROKEN, **LEFTOVERS, **NOISE}
    work |= {f"ends_by_{name}": first_line(line) for name, line in ENDINGS.items()}
    work |= {"in_place": IN_PLACE, "mask_in_place": MASK_IN_PLACE, "filled": FILLED}
    students = {name: {"masked_softmax": source, "layer_norm": NORM} for name, source in work.items()}
    students["settings"] = {"masked_softmax": at_top(SETTINGS), "layer_norm": at_top(SETTINGS, NORM)}
    off = "import torch\ntorch.set_grad_enabled(False)"
    students["grad_off"] = {"masked_softmax": at_top(off), "layer_norm": at_top(off, NORM)}
    return grade_class(students, exercises=EXERCISES)


def note(receipt: Receipt) -> str:
    return "\n".join(receipt.remarks)


# B13


@pytest.mark.parametrize("variant", ["unclosed", "tab", "leftover_first", "renamed", "three_arguments", "absent"])
def test_a_broken_function_costs_its_own_checks_only(graded: Class, variant: str) -> None:
    assert loses_only(graded[variant], *MASK_CHECKS)
    assert points(graded[variant], "masked_softmax") == 14 - 2.5


@pytest.mark.parametrize(("variant", "text"), [("unclosed", "torch.arange("), ("tab", "return keys")])
def test_a_function_that_does_not_parse_is_quoted_with_its_line(graded: Class, variant: str, text: str) -> None:
    source = BROKEN[variant]
    for told in (note(graded[variant]), messages(graded[variant], "masked_softmax")[0]):
        assert f"line {line_of(source, text)}" in told
        assert text in told
    assert "the rest of the file was still read" in note(graded[variant])
    assert set(lost(graded[variant]).values()) == {"raised"}


def test_not_attempted_is_not_wrong(graded: Class) -> None:
    for variant in ("leftover_first", "absent", "renamed"):
        assert set(lost(graded[variant]).values()) == {"not attempted"}
    assert set(lost(graded["three_arguments"]).values()) == {"raised"}


def test_a_leftover_line_that_is_never_reached_is_harmless(graded: Class) -> None:
    assert lost(graded["leftover_last"]) == {}


def test_a_renamed_function_is_named(graded: Class) -> None:
    assert "`causal_mask`, but it has `make_causal_mask`: rename it" in messages(graded["renamed"])[0]
    assert "has no `causal_mask`" in messages(graded["absent"])[0]


def test_an_error_after_all_definitions_costs_nothing_and_is_noted(graded: Class) -> None:
    assert lost(graded["one_over_zero"]) == {}
    line = line_of(BROKEN["one_over_zero"], "1 / 0")
    assert f"line {line} raised ZeroDivisionError" in note(graded["one_over_zero"])


# B14


@pytest.mark.parametrize("variant", LEFTOVERS)
def test_leftovers_of_a_session_cost_nothing(graded: Class, variant: str) -> None:
    assert lost(graded[variant]) == {}


@pytest.mark.parametrize(
    ("variant", "told"),
    [
        ("input", "line 1 asks for input"),
        ("colab", "line 1 needs google.colab"),
        ("data_file", "raised FileNotFoundError"),
        ("plot", "needs kit_test_plotting, which is not installed here"),
        ("magic", "line 1 does not parse"),
    ],
)
def test_leftovers_of_a_session_are_noted(graded: Class, variant: str, told: str) -> None:
    assert told in note(graded[variant])


@pytest.mark.parametrize("variant", ["training_at_import", "main_guard"])
def test_what_runs_through_is_not_noted(graded: Class, variant: str) -> None:
    assert graded[variant].remarks == ()


@pytest.mark.parametrize("variant", ["input", "colab", "data_file", "plot", "magic", "main_guard"])
def test_the_self_check_says_the_same_as_the_grader(
    graded: Class, variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "masked_softmax.py").write_text(LEFTOVERS[variant])
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    monkeypatch.setattr("sys.meta_path", list(__import__("sys").meta_path))
    said = LocalTransport(tmp_path, "masked_softmax", seed=1).notes
    assert [f"masked_softmax.py: {line}" for line in said] == list(graded[variant].remarks)


def test_a_folder_called_like_a_module_does_not_end_the_self_check(tmp_path: Path) -> None:
    (tmp_path / "masked_softmax.py").write_text("x = 1\n")
    (tmp_path / "old.py").mkdir()
    transport = LocalTransport(tmp_path, "masked_softmax", seed=1)
    transport.close()
    assert transport.notes == []


# B15


@pytest.mark.parametrize("variant", ["flood", "undecodable", "control", "warning", "stderr"])
def test_noise_costs_nothing(graded: Class, variant: str) -> None:
    assert lost(graded[variant]) == {}


def test_a_flood_is_cut_and_says_so(graded: Class) -> None:
    printed = graded["flood"].output["masked_softmax"]
    assert printed.startswith("x" * 1000)
    assert printed.endswith("[output truncated]")
    assert len(printed) < 17_000


def test_bytes_that_cannot_be_shown_are_escaped(graded: Class) -> None:
    assert "\\xff\\xfe\\x00" in graded["undecodable"].output["masked_softmax"]
    assert "\\x00\\x1b[31m" in graded["control"].output["masked_softmax"]
    for name, receipt in graded.items():
        printed = "".join([*receipt.output.values(), *receipt.remarks, *messages(receipt)])
        assert all(c.isprintable() or c in "\n\t" for c in printed), name
        assert json.loads(json.dumps(receipt.to_dict())) is not None


def test_what_goes_to_stderr_is_kept_as_output(graded: Class) -> None:
    assert "line 9" in graded["stderr"].output["masked_softmax"]


@pytest.mark.parametrize(("variant", "name"), [("recursion", "RecursionError"), ("surrogate", "UnicodeEncodeError")])
def test_an_error_of_the_students_own_code_is_named(graded: Class, variant: str, name: str) -> None:
    assert loses_only(graded[variant], *softmax_checks())
    assert set(lost(graded[variant]).values()) == {"raised"}
    assert f"your code raised {name} at line" in messages(graded[variant])[0]


# B17


@pytest.mark.parametrize("way", ENDINGS)
def test_ending_the_process_is_no_pass(graded: Class, way: str) -> None:
    receipt = graded[f"ends_by_{way}"]
    assert loses_only(receipt, *softmax_checks())
    refused = way in OUT_OF_REACH
    assert set(lost(receipt).values()) == {"raised" if refused else "stopped"}
    begins = "your code raised" if refused else "your code stopped the program"
    assert all(message.startswith(begins) for message in messages(receipt))
    assert len(receipt.checks) == len(graded["leftover_last"].checks)
    assert refused or "stopped" in receipt.attention()


# B19


@pytest.mark.parametrize("variant", ["settings", "grad_off"])
def test_settings_of_the_process_are_put_back(graded: Class, variant: str) -> None:
    assert lost(graded[variant]) == {}


# B20


def test_work_in_place_is_judged_by_its_own_check(graded: Class) -> None:
    assert loses_only(graded["in_place"], *IN_PLACE_COSTS)
    told = [c for c in graded["in_place"].checks if c.id.endswith("test_leaves_its_arguments_unchanged")]
    assert told[0].message.startswith("argument 1 was modified in place")


def test_a_mask_changed_in_place_is_judged_by_its_own_check(graded: Class) -> None:
    assert loses_only(graded["mask_in_place"], "test_keeps_dtype_and_arguments")


def test_an_answer_written_into_the_argument_is_not_compared_with_itself(graded: Class) -> None:
    kept = MASK_CHECKS | {"test_output_is_the_weighted_sum_of_values"}  # a property of output and weights alone
    assert passed(graded["filled"], "masked_softmax") == kept
