"""The peers' assignment as a course of ours: the same checks on the same module, so that the same work is measured.

`build` writes it from the folder of the peers' benchmark. A check there calls a student's function with the reference
beside it, in one process; most of them can be taken as they are, with each `assert` as a sentence of ours. Those that
hand models, batches or generators over are written anew here: such things are made where the student's code runs, by a
rig. So is the one that hands over what the reference answered, which our grader would keep from being asked ahead.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ASSIGNMENT, EXERCISE = "peers", "hw"

_COURSE = """\
id: peers
title: The peers' assignment
timezone: UTC
total_sections: 1
weeks: [{{number: 1, title: All, sections: [{{number: 1, title: All}}]}}]
assignments:
  peers:
    title: A small GPT
    points: {points}
    deadline: 2027-03-07T23:59:00+00:00
    late_policy: {{grace_days: 0, percent_per_day: 0, cap_percent: 0}}
    limits: {{seconds_per_check: 5, seconds_per_submission: 60, memory_mb: 2048, output_kb: 16}}
    exercises: [{{name: hw, points: {points}, course: [Week 1 §1]}}]
"""

_HEAD = '''\
"""The peers' checks."""

import pytest
import torch

from autograder.suite.faults import Mismatch


def hold(what, said="it differs"):
    if not what:
        raise Mismatch(said)
'''

_RIG = """

# What the checks hand over, by names with a capital letter: such things stay in this process.
Model, Batches = make_model, make_batches


def Part(seed, place):
    return parts(seed)[place]


def Generator(seed):
    return torch.Generator().manual_seed(seed)


class Zero:
    def __call__(self, x):
        return torch.zeros_like(x)
"""

_ANEW = {
    "q3_roundtrip": """
torch.manual_seed(4)
heads = torch.randn(3, 3, 7, 4)
hold(torch.equal(S.merge_heads(heads), R.merge_heads(heads)))
""",
    "q6_random": """
block = S.Block(*(rig.Part(8, place) for place in range(4)))
expected = R.Block(*R.parts(8))
x = torch.randn(2, 5, 16)
hold(torch.allclose(block(x), expected(x), atol=1e-6))
""",
    "q6_identity": """
torch.manual_seed(9)
x = torch.randn(1, 3, 16)
block = S.Block(rig.Part(9, 0), rig.Zero(), rig.Part(9, 2), rig.Zero())
hold(torch.equal(block(x), x))
""",
    "q6_gradient": """
torch.manual_seed(10)
block = S.Block(*(rig.Part(10, place) for place in range(4)))
found = block.gradients(torch.randn(1, 3, 16), along=torch.ones(1, 3, 16))
hold(found.arguments[0] is not None and any(g is not None for g in found.parameters.values()))
""",
    "q8_losses": """
got = S.train(rig.Model(0), rig.Batches(1), steps=30, lr=1e-2)
want = R.train(R.make_model(0), R.make_batches(1), steps=30, lr=1e-2)
hold(isinstance(got, list) and len(got) == 30)
hold(torch.allclose(torch.tensor(got), torch.tensor(want), rtol=1e-4))
hold(got[-1] < got[0] - 0.5)
""",
    "q8_weights": """
model, reference_model = rig.Model(2), R.make_model(2)
S.train(model, rig.Batches(3), steps=5, lr=1e-2)
R.train(reference_model, R.make_batches(3), steps=5, lr=1e-2)
got = model.trainable()
hold(all(torch.allclose(got[name], p, atol=1e-5) for name, p in reference_model.named_parameters()))
""",
    "q9_argmax": """
torch.manual_seed(13)
x = torch.randn(6, 11)
hold(torch.equal(S.sample(x, 0, rig.Generator(0)), x.argmax(-1)))
""",
    "q9_random": """
torch.manual_seed(14)
x = torch.randn(64, 11)
hold(torch.equal(S.sample(x, 0.7, rig.Generator(5)), R.sample(x, 0.7, torch.Generator().manual_seed(5))))
""",
    "q9_temperature": """
x = torch.tensor([0.0, 1.0]).repeat(4000, 1)
hold(abs(S.sample(x, 0.5, rig.Generator(6)).float().mean().item() - 0.8808) < 0.03)
""",
}


def build(peers: Path, root: Path) -> int:
    """Write the course into `root`; returns its number of checks."""
    cut = _module(peers, "cut")
    checks = list(_checks((peers / "course" / "checks.py").read_text("utf-8")))
    files = {
        "course.yml": _COURSE.format(points=len(checks)),
        f"solutions/{ASSIGNMENT}/{EXERCISE}.py": cut.plain(cut.module({})),
        f"reference/{EXERCISE}.py": cut.reference(),
        f"tests/suites/{ASSIGNMENT}/test_{EXERCISE}.py": "\n\n".join([_HEAD, *checks]),
        f"tests/suites/{ASSIGNMENT}/rigs/{EXERCISE}.py": cut.reference() + _RIG,
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return len(checks)


def modules(peers: Path) -> dict[str, str]:
    """The timed submissions, as modules."""
    cut, timed = _module(peers, "cut"), _module(peers, "submissions").SPEED
    return {name: cut.module(submission) for name, submission in timed.items()}


def questions_right(outcomes: Mapping[str, str]) -> set[str]:
    """The questions all of whose checks passed, from outcomes by the name of the check."""
    by_question: dict[str, list[str]] = {}
    for check, outcome in outcomes.items():
        by_question.setdefault(check.partition("::test_")[2].split("_")[0], []).append(outcome)
    return {question for question, found in by_question.items() if set(found) == {"passed"}}


def _module(peers: Path, name: str) -> Any:
    sys.path.insert(0, str(peers))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(peers))


def _checks(text: str) -> Iterator[str]:
    """Each check as a test of ours."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("check_"):
            name = node.name.removeprefix("check_")
            body = ast.parse(_ANEW[name]).body if name in _ANEW else _Sentences().visit(node).body
            arguments = "student, reference, rig" if name in _ANEW else "student, reference"
            lines = [line for part in body for line in ast.unparse(part).split("\n")]
            head = f"@pytest.mark.points(1, {name.replace('_', ' ')!r})\ndef test_{name}({arguments}):\n"
            yield head + "".join(f"    {line}\n" for line in ["S, R = student, reference", *lines])


class _Sentences(ast.NodeTransformer):
    """An `assert` becomes `hold`: to our grader a bare assertion is a fault of the check."""

    def visit_Assert(self, node: ast.Assert) -> ast.Expr:  # the name that ast looks for
        arguments = [node.test, *([node.msg] if node.msg else [])]
        call = ast.Call(ast.Name("hold", ast.Load()), arguments, [])
        return ast.copy_location(ast.Expr(call), node)
