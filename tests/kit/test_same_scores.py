"""A score depends on the submission alone: not on its neighbours, their order, shared workers or the seed of the run."""

from __future__ import annotations

import random
from typing import Any

import pytest
from grading import EXERCISES, batch, comparable, handed_in, run, solutions, stub, with_body

from autograder.grading.receipt import Receipt

Class = dict[str, Receipt]
SOLUTIONS = solutions()
MASKED = SOLUTIONS["masked_softmax"]


def changed(exercise: str, source: str) -> dict[str, str]:
    return {**SOLUTIONS, exercise: source}


def first(text: str, exercise: str = "embedding") -> dict[str, str]:
    """The solutions, where one file does this before anything else. Embedding is graded first, so all come after it."""
    return changed(exercise, f"{text}\n{SOLUTIONS[exercise]}")


WORK: dict[str, dict[str, str]] = {
    "right": SOLUTIONS,
    "stubs": {exercise: stub(source) for exercise, source in SOLUTIONS.items()},
    "two_files": {"masked_softmax": MASKED, "sampling": SOLUTIONS["sampling"]},
    "patched_torch": first("import torch\ntorch.softmax = torch.nn.functional.softmax = lambda x, dim=-1, **k: x"),
    "patched_tensor": first("import torch\ntorch.Tensor.transpose = lambda self, *a: self"),
    "patched_dropout": first("import torch\ntorch.nn.Dropout.forward = lambda self, x: x * 0"),
    "patched_embedding": first("import torch\ntorch.nn.Embedding.forward = lambda self, x: None"),
    "patched_math": first("import math\nmath.sqrt = lambda x: 1.0\nmath.pi = 3"),
    "inference_mode": first("import torch\nmode = torch.inference_mode()\nmode.__enter__()"),
    "autocast": first("import torch\nmode = torch.autocast('cpu')\nmode.__enter__()"),
    "function_mode": first(
        "import torch\nfrom torch.overrides import TorchFunctionMode\n"
        "class Zero(TorchFunctionMode):\n"
        "    def __torch_function__(self, func, types, args=(), kwargs=None):\n"
        "        out = func(*args, **(kwargs or {}))\n"
        "        return out * 0 if func is torch.Tensor.matmul else out\n"
        "mode = Zero()\nmode.__enter__()"
    ),
    "default_dtype": first("import torch\ntorch.set_default_dtype(torch.float64)\ntorch.set_grad_enabled(False)"),
    "hook": first("import torch\ntorch.nn.modules.module.register_module_forward_hook(lambda m, i, o: o * 2)"),
    "in_builtins": {
        **SOLUTIONS,
        "embedding": f"import builtins, torch\nbuiltins.helper = torch.softmax\n{SOLUTIONS['embedding']}",
        "feed_forward": with_body(
            SOLUTIONS["feed_forward"], "gelu", "helper\nreturn x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))"
        ),
    },
    "forgotten_imports": {
        **SOLUTIONS,
        "masked_softmax": MASKED.replace("import math\n", ""),
        "feed_forward": SOLUTIONS["feed_forward"].replace("import math\n", ""),
        "sampling": SOLUTIONS["sampling"].replace("from torch.nn import functional as F\n", ""),
    },
    "wrong_sibling": changed("sampling", f"from masked_softmax import causal_mask\n{SOLUTIONS['sampling']}"),
    "keeps_state": changed(
        "masked_softmax",
        with_body(MASKED, "causal_mask", "return SEEN.setdefault('mask', torch.ones(4, 4).tril().bool())")
        + "\nSEEN = {}\n",
    ),
    "counts_calls": changed(
        "layer_norm",
        SOLUTIONS["layer_norm"].replace(
            "    deviation = x", "    CALLS.append(0)\n    deviation = x * (len(CALLS) < 9)", 1
        )
        + "\nCALLS = []\n",
    ),
    "seeds": changed("sampling", f"import torch\ntorch.manual_seed(0)\n{SOLUTIONS['sampling']}"),
    "ends": changed("layer_norm", with_body(SOLUTIONS["layer_norm"], "layer_norm", "import os; os._exit(0)")),
    "raises": changed("multi_head", with_body(SOLUTIONS["multi_head"], "split_heads", "raise ValueError('no')")),
    "unparsed": changed("multi_head", with_body(SOLUTIONS["multi_head"], "merge_heads", "return (x")),
    "noisy": first("print('x' * 30000)"),
}


CHANGES_THE_PROCESS = ("patched", "inference", "autocast", "function_mode", "default", "hook", "noisy")
"""Names of those whose first exercise changes the process for all that come after it, if they come in this process."""


def graded(order: list[str], **options: Any) -> Class:
    return run(batch([handed_in(name, WORK[name]) for name in order], **options))


@pytest.fixture(scope="module")
def shared() -> Class:
    return graded(list(WORK))


def findings(receipt: Receipt) -> list[tuple[str, str, str, str]]:
    return [(c.id, c.outcome, str(c.earned), c.message) for c in receipt.checks]


def test_the_class_holds_right_wrong_and_dangerous_work(shared: Class) -> None:
    """The control: what is compared below is not all the same."""
    earned = {name: float(receipt.earned) for name, receipt in shared.items()}
    assert earned["right"] == 100
    assert earned["stubs"] == 0
    assert earned["two_files"] == 22
    assert len(set(earned.values())) > 8
    everything = {outcome.outcome for receipt in shared.values() for outcome in receipt.checks}
    assert everything == {"passed", "failed", "raised", "stopped", "not attempted"}


def test_what_one_exercise_changes_in_the_process_costs_no_other_exercise(shared: Class) -> None:
    for name in WORK:
        if name.startswith(CHANGES_THE_PROCESS):
            elsewhere = {c.exercise for c in shared[name].checks if c.earned < c.points} - {"embedding"}
            assert elsewhere == set(), name


def test_exercises_do_not_lend_each_other_names(shared: Class) -> None:
    assert {c.exercise for c in shared["in_builtins"].checks if c.earned < c.points} >= {"feed_forward"}
    lacking = {c.exercise for c in shared["forgotten_imports"].checks if c.earned < c.points}
    assert lacking >= {"masked_softmax", "feed_forward", "sampling"}
    assert "sampling.py: line 1 needs masked_softmax" in "\n".join(shared["wrong_sibling"].remarks)


def test_another_order_and_a_fresh_worker_for_every_exercise_find_the_same(shared: Class) -> None:
    order = [name for name in WORK if not name.startswith(CHANGES_THE_PROCESS)]
    random.Random(3).shuffle(order)
    fresh = graded(order, shared_workers=False)
    for name in order:
        pairs = zip(findings(shared[name]), findings(fresh[name]), strict=True)
        assert [pair for pair in pairs if pair[0] != pair[1]] == [], name
        assert shared[name].remarks == fresh[name].remarks, name


SOME = ["unparsed", "keeps_state", "stubs", "forgotten_imports", "right"]


def test_the_same_seed_gives_the_same_receipts_in_another_class(shared: Class) -> None:
    again = graded(SOME)
    for name in SOME:
        assert comparable(again[name]) == comparable(shared[name]), name


def test_another_seed_gives_the_same_scores(shared: Class) -> None:
    other = graded(SOME, seed=2)
    for name in SOME:
        assert other[name].seed == 2
        assert [(c.id, c.outcome, c.earned) for c in other[name].checks] == [
            (c.id, c.outcome, c.earned) for c in shared[name].checks
        ], name


def test_time_is_measured_alike_for_the_first_and_for_later_submissions() -> None:
    """Checks that were seen to pass are sent to later submissions in one go; that buys nobody time."""
    burn = "import time\nend = time.process_time() + {seconds}\nwhile {when} and time.process_time() < end:\n    pass\n"
    body = "return torch.ones(query_length, key_length or query_length).tril((key_length or query_length) - query_length).bool()"
    too_long = with_body(MASKED, "causal_mask", burn.format(seconds=0.5, when="query_length == 7") + body)
    many_short = with_body(MASKED, "causal_mask", burn.format(seconds=0.1, when="True") + body)
    work = {"too_long_1": too_long, "many_1": many_short, "right": MASKED, "too_long_2": too_long, "many_2": many_short}
    submissions = [handed_in(name, {"masked_softmax": source}) for name, source in work.items()]
    limits = {"seconds_per_check": 0.35, "seconds_per_submission": 3}
    receipts = run(batch(submissions, exercises=["masked_softmax"], limits=limits))
    for number in (1, 2):
        lacking = [c.id for c in receipts[f"too_long_{number}"].checks if c.outcome == "timed out"]
        assert lacking == ["masked_softmax::test_causal_mask_of_other_sizes"]
        assert findings(receipts[f"many_{number}"]) == findings(receipts["many_1"])
    assert receipts["right"].earned == 14


def test_every_exercise_is_there(shared: Class) -> None:
    assert {tuple(receipt.exercises()) for receipt in shared.values()} == {EXERCISES}
