"""Operations that an exercise forbids are found in the source; what hides from that is noted, or shows in the operator log."""

from __future__ import annotations

import ast
import re

import pytest
from grading import ASSIGNMENT, ROOT, edited, grade_class, lost, outcomes, points, solution, with_body

from autograder.sandbox.inspection import inspect
from autograder.suite.faults import Refused
from autograder.suite.local import LocalTransport

NORM = solution("layer_norm")
FORBIDDEN = ["torch.nn.functional.layer_norm", "torch.nn.LayerNorm"]
CALL = "(x, gamma.shape, gamma, beta, eps)"


def using(name: str, imports: str) -> str:
    """The solution, whose function leaves the work to something else."""
    return f"{imports}\n{with_body(NORM, 'layer_norm', f'return {name}{CALL}')}"


USES = {
    "by_its_module": using("F.layer_norm", "import torch.nn.functional as F"),
    "by_its_full_name": using("torch.nn.functional.layer_norm", ""),
    "by_another_name": using("tool", "from torch.nn.functional import layer_norm as tool"),
    "by_a_module_of_another_name": using("G.layer_norm", "from torch.nn import functional as G"),
    "by_all_names": with_body(NORM, "layer_norm", "return LayerNorms.layer_norm(x)")
    + "\nfrom torch.nn import functional as LayerNorms\n",
    "in_wide_letters": using("F.\uff4cayer_norm", "import torch.nn.functional as F"),
    "by_getattr": using('getattr(F, "layer_norm")', "import torch.nn.functional as F"),
    "as_a_base_class": NORM + "\nclass LayerNorm(torch.nn.LayerNorm):\n    pass\n",
    "imported_as_the_class": "from torch.nn import LayerNorm\n" + NORM.split("class LayerNorm")[0],
    "as_a_base_of_the_same_name": NORM + "\nfrom torch.nn import LayerNorm\nclass LayerNorm(LayerNorm):\n    pass\n",
    "through_an_alias": using("F.layer_norm", "import torch\nfrom torch import nn\nF = nn.functional"),
    "imported_where_it_is_used": with_body(
        NORM, "layer_norm", f"from torch.nn.functional import layer_norm as layer_norm\nreturn layer_norm{CALL}"
    ),
    "beside_a_syntax_error": using("F.layer_norm", "import torch.nn.functional as F") + "\ndef broken(:\n    pass\n",
}
HONEST = {
    "the_solution": NORM,
    "a_function_of_its_own": NORM + "\ndef helper(x):\n    return layer_norm(x, x, x)\n",
    "an_attribute_of_its_own": NORM
    + "\nclass Holder:\n    def __init__(self):\n        self.layer_norm = LayerNorm(3)\n",
    "in_what_never_runs": NORM + "\nif __name__ == '__main__':\n    print(torch.nn.functional.layer_norm)\n",
    "by_getattr_of_its_own": NORM + "\ndef find(model):\n    return getattr(model, 'layer_norm', layer_norm)\n",
    "in_a_comment": NORM + "\n# not F.layer_norm, and not nn.LayerNorm\nTEXT = 'torch.nn.functional.layer_norm'\n",
}


@pytest.mark.parametrize("how", USES)
def test_a_forbidden_operation_is_found(how: str) -> None:
    refused = inspect(USES[how].encode(), FORBIDDEN)["refused"]
    assert refused
    assert {name for name, _ in refused} <= set(FORBIDDEN)
    line = USES[how].splitlines()[refused[0][1] - 1]
    assert re.search("(?i)[l\uff4c]ayer_?norm|tool|import", line)


@pytest.mark.parametrize("how", HONEST)
def test_what_only_has_the_same_name_is_not_refused(how: str) -> None:
    assert inspect(HONEST[how].encode(), FORBIDDEN)["refused"] == []


def test_a_refused_exercise_earns_nothing_names_the_line_and_costs_no_other(tmp_path) -> None:
    block = solution("feed_forward")
    work = {how: {"layer_norm": source, "feed_forward": block} for how, source in USES.items()}
    receipts = grade_class(work, exercises=["layer_norm", "feed_forward"])
    for how, receipt in receipts.items():
        if how in USES:
            assert set(outcomes(receipt, "layer_norm").values()) == {"refused"}, how
            assert points(receipt, "layer_norm") == 0, how
            assert lost(receipt, "feed_forward") == {}, how
    said = {check.message for check in receipts["by_its_module"].checks if check.exercise == "layer_norm"}
    line = next(n for n, text in enumerate(USES["by_its_module"].splitlines(), 1) if "F.layer_norm(" in text)
    assert said == {f"line {line} of layer_norm.py uses torch.nn.functional.layer_norm, which this exercise forbids"}
    (tmp_path / "layer_norm.py").write_text(USES["by_its_module"])
    with pytest.raises(Refused, match=f"line {line} of layer_norm.py uses"):
        LocalTransport(tmp_path, "layer_norm", 1, FORBIDDEN)


def test_what_is_put_together_at_run_time_shows_in_the_operator_log_and_to_the_instructor() -> None:
    made_up = with_body(
        NORM,
        "layer_norm",
        "f = getattr(torch.ops.aten, 'native_' + 'layer' + '_norm')\nreturn f(x, gamma.shape, gamma, beta, eps)[0]",
    )
    receipt = grade_class({"made_up": {"layer_norm": made_up}}, exercises=["layer_norm"])["made_up"]
    assert "refused" in lost(receipt).values()
    (seen,) = receipt.curious.values()
    assert any("getattr" in line for line in seen)
    assert any(".ops" in line for line in seen)


@pytest.mark.parametrize("padding", ["# long\n" * 40_000, "deep = " + "-" * 60_000 + "1\n"], ids=["long", "deep"])
def test_a_source_that_cannot_be_looked_through_is_no_way_around(padding: str) -> None:
    receipt = grade_class({"padded": {"layer_norm": padding + USES["by_its_module"]}}, exercises=["layer_norm"])[
        "padded"
    ]
    assert points(receipt, "layer_norm") == 0


def test_curious_lines_are_listed_and_take_no_points() -> None:
    odd = edited(NORM, "import torch\n", "import ctypes, gc, sys\nimport torch\n")
    receipt = grade_class({"odd": {"layer_norm": odd}}, exercises=["layer_norm"])["odd"]
    assert lost(receipt) == {}
    assert [line.split(" ", 2)[2] for line in receipt.curious["layer_norm"]] == [
        "imports ctypes",
        "imports gc",
        "imports sys",
    ]


def test_a_line_that_is_continued_is_seen_whatever_ends_lines() -> None:
    odd = edited(NORM, "import torch\n", "from \\\nsubprocess import run\nimport torch\n")
    endings = {"unix": odd, "windows": odd.replace("\n", "\r\n"), "old": odd.replace("\n", "\r")}
    receipts = grade_class({name: {"layer_norm": text} for name, text in endings.items()}, exercises=["layer_norm"])
    seen = {receipts[name].curious.get("layer_norm") for name in endings}
    assert seen == {("line 9 imports subprocess",)}


TELLTALE = re.compile(
    r"leaves_unchanged\(|computes_without\(|\.(?:now|original|calls|modes|drawn|rates|gradients_now|random_state)\b"
)


def test_checks_that_believe_the_students_process_are_marked_and_no_others() -> None:
    suites = sorted((ROOT / "tests/suites" / ASSIGNMENT).glob("test_*.py"))
    assert len(suites) == 9
    for suite in suites:
        text = suite.read_text("utf-8")
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                marked = any(ast.unparse(mark) == "pytest.mark.attested" for mark in node.decorator_list)
                body = "\n".join(map(ast.unparse, node.body))
                assert marked == bool(TELLTALE.search(body)), f"{suite.name}::{node.name}"
