"""Answers of every wrong kind from every public function and module; each exercise broken alone; untouched stubs."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest
from grading import (
    EXERCISES,
    ROOT,
    batch,
    grade_class,
    handed_in,
    lost,
    outcomes,
    passed,
    points,
    run,
    solution,
    solutions,
    stub,
)

from autograder.grading.receipt import Receipt

Class = dict[str, Receipt]
SOLUTIONS = solutions()
POINTS = {"embedding": 10, "masked_softmax": 14, "multi_head": 14, "layer_norm": 10, "feed_forward": 10}
POINTS |= {"transformer_block": 12, "lm_head": 12, "training": 10, "sampling": 8}


def public_names(exercise: str) -> tuple[list[str], list[str]]:
    """Functions and classes of a solution."""
    body = ast.parse(solution(exercise)).body
    functions = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    return functions, [node.name for node in body if isinstance(node, ast.ClassDef)]


def integration_checks() -> set[str]:
    """The checks that put the student's own parts together."""
    found = set()
    for exercise in EXERCISES:
        tree = ast.parse(Path(ROOT, "tests/suites/week08", f"test_{exercise}.py").read_text("utf-8"))
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and "own" in {argument.arg for argument in node.args.args}:
                found.add(f"{exercise}::{node.name}")
    return found


WRAP = """
import torch as _torch

class _Hijack(_torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if getattr(func, "__name__", "") in ("allclose", "equal", "eq", "all", "isfinite"):
            return _torch.tensor(True)
        return super().__torch_function__(func, types, args, kwargs or {{}})

class _Hostile:
    __class__ = property(lambda self: _torch.Tensor)
    def __eq__(self, other): return True
    def __repr__(self): raise SystemExit(0)
    __str__ = __repr__
    def __hash__(self): return 0

class _Any(_Hostile):
    __class__ = property(lambda self: self)
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
    def __bool__(self): return True
    def __len__(self): return 1
    def __float__(self): return 0.0
    def __iter__(self): return iter([self])
    def __getitem__(self, key): return self

def _each(answer, change):
    if isinstance(answer, (tuple, list)):
        return type(answer)(_each(part, change) for part in answer)
    if isinstance(answer, bool) or answer is None:
        return answer
    return change(answer)

def _deep(levels):
    answer = 0.0
    for _ in range(levels):
        answer = [answer]
    return answer

def _endless():
    answer = []
    answer.append(answer)
    return answer

def _tensors(change, number):
    return lambda answer: change(answer) if isinstance(answer, _torch.Tensor) else number(answer)

def _wrong(answer):
    return {expression}

def _wrapped(function):
    return lambda *arguments, **keywords: _wrong(function(*arguments, **keywords))

for _name in {functions}:
    globals()[_name] = _wrapped(globals()[_name])
for _name in {classes}:
    globals()[_name].forward = _wrapped(globals()[_name].forward)
"""

WRONG = {
    "none": "None if answer is not None else 0",
    "list": "_each(answer, _tensors(lambda t: t.tolist(), lambda n: [n]))",
    "tuple": "(answer, answer, answer)",
    "one_tuple": "(answer,)",
    "numpy": "_each(answer, _tensors(lambda t: t.detach().numpy(), lambda n: __import__('numpy').float64(n).reshape(1)))",
    "string": "'1.0'",
    "generator": "(part for part in [answer])",
    "nan": "_each(answer, _tensors(lambda t: t * float('nan'), lambda n: float('nan')))",
    "extra_axis": "_each(answer, _tensors(lambda t: t[..., None], lambda n: [n]))",
    "scalar": "_each(answer, _tensors(lambda t: t.float().mean() if t.ndim else t[None], lambda n: [n]))",
    "complex": "_each(answer, _tensors(lambda t: t.to(_torch.complex64), lambda n: complex(n)))",
    "float16": "_each(answer, _tensors(lambda t: t.half(), lambda n: _torch.tensor([n]).half()))",
    "empty": "_each(answer, _tensors(lambda t: _torch.empty(0), lambda n: _torch.empty(0)))",
    "sparse": "_each(answer, _tensors(lambda t: t.detach().to_sparse(), lambda n: _torch.eye(2).to_sparse()))",
    "meta": "_each(answer, _tensors(lambda t: t.detach().to('meta'), lambda n: _torch.empty((), device='meta')))",
    "quantized": "_torch.quantize_per_tensor(_torch.ones(2), 0.1, 0, _torch.qint8)",
    "huge_int": "10 ** 400",
    "dict": "{'answer': answer}",
    "deep": "_deep(200)",
    "endless": "_endless()",
    "hijack": "_each(answer, _tensors(lambda t: (t.detach().float() + 1).as_subclass(_Hijack), lambda n: _Hijack([n + 1.0])))",
    "hostile": "_Hostile()",
    "anything": "_Any()",
    "class": "_Hostile",
    "module": "_torch.nn.Identity()",
    "surrogate": "'\\ud800' * 20000",
    "bytes": "b'answer'",
}
AWKWARD = (
    "_each(answer, _tensors(lambda t: _torch.stack([t, t], -1)[..., 0] if t.requires_grad or t.dtype != _torch.float32 "
    "else _torch.complex(t, t).conj().conj().real.requires_grad_(), lambda n: n))"
)


def wrapped(exercise: str, expression: str) -> str:
    functions, classes = public_names(exercise)
    return solution(exercise) + WRAP.format(expression=expression, functions=functions, classes=classes)


def replaced(exercise: str, text: str) -> str:
    """Every public name is something else altogether."""
    functions, classes = public_names(exercise)
    return "import torch\n" + "\n".join(textwrap.dedent(text).replace("NAME", name) for name in functions + classes)


OTHER_OBJECTS = {
    "numbers": "NAME = 3",
    "nothing": "NAME = None",
    "modules": "NAME = torch.nn.Identity",
    "plain_class": "class NAME:\n    def __init__(self, *a, **k): pass\n    def __call__(self, *a, **k): return 1.0",
    "module_without_parameters": "class NAME(torch.nn.Module):\n    def __init__(self, *a, **k): super().__init__()",
    "state_of_numbers": "class NAME(torch.nn.Module):\n    def __init__(self, *a, **k): super().__init__()\n"
    "    def state_dict(self, *a, **k): return {'weight': 3, 'bias': None}\n    def forward(self, *a, **k): return 0",
    "raising_attributes": "class NAME(torch.nn.Module):\n    def __init__(self, *a, **k): raise RuntimeError('no')",
    "empty_body": "def NAME(*a, **k): ...",
    "coroutine": "async def NAME(*a, **k): return torch.ones(1)",
    "property": "class NAME:\n    __call__ = property(lambda self: 1 / 0)\n    def __init__(self, *a, **k): pass",
}
ZEROS = "_each(answer, _tensors(lambda t: t * 0 if t.is_floating_point() else _torch.zeros_like(t), lambda n: n * 0))"
RAISES = "(_ for _ in ()).throw(RuntimeError('broken'))"


@pytest.fixture(scope="module")
def wrong() -> Class:
    work = {name: {e: wrapped(e, expression) for e in EXERCISES} for name, expression in WRONG.items()}
    work |= {name: {e: replaced(e, text) for e in EXERCISES} for name, text in OTHER_OBJECTS.items()}
    work["awkward"] = {e: wrapped(e, AWKWARD) for e in EXERCISES}
    work["right"] = SOLUTIONS  # the last, so that nothing was learned of right answers before
    return run(batch([handed_in(name, files) for name, files in work.items()]))


@pytest.fixture(scope="module")
def broken() -> Class:
    work = {f"zeros_{e}": {**SOLUTIONS, e: wrapped(e, ZEROS)} for e in EXERCISES}
    work |= {f"raises_{e}": {**SOLUTIONS, e: wrapped(e, RAISES)} for e in EXERCISES}
    work["stubs"] = {e: stub(source) for e, source in SOLUTIONS.items()}
    return grade_class(work)


# -- answers of the wrong kind

ABOUT_ERRORS = {
    "embedding::test_rejects_a_sequence_beyond_the_context",
    "embedding::test_rejects_an_odd_width",
    "multi_head::test_rejects_an_uneven_split",
    "transformer_block::test_refuses_one_row_for_all_positions",
    "training::test_evaluation_restores_the_modes_after_an_error",
}
ABOUT_STATE = {
    "feed_forward::test_has_two_layers",
    "lm_head::test_owns_its_parts",
    "multi_head::test_has_two_weights",
    "transformer_block::test_owns_the_four_parts",
    "training::test_run_clips_before_each_step",
}
UNCHANGED = {f"{exercise}::test_leaves_its_arguments_unchanged" for exercise in EXERCISES}
"""These look at errors, names and side effects, not at an answer: here the right code runs, only its answer is spoilt."""


@pytest.mark.parametrize("kind", [*WRONG, *OTHER_OBJECTS])
def test_a_wrong_kind_of_answer_is_never_the_graders_trouble(wrong: Class, kind: str) -> None:
    assert [(c.id, c.trouble) for c in wrong[kind].checks if c.outcome == "grader trouble"] == []
    assert all(c.message for c in wrong[kind].checks if c.outcome != "passed")


@pytest.mark.parametrize("kind", [kind for kind in WRONG if kind != "hijack"])
def test_a_wrong_kind_of_answer_never_passes(wrong: Class, kind: str) -> None:
    assert passed(wrong[kind]) <= ABOUT_ERRORS | ABOUT_STATE | UNCHANGED


def test_a_tensor_that_calls_itself_equal_is_compared_by_its_numbers(wrong: Class) -> None:
    """Its numbers are off by one everywhere, so it keeps only what holds for any constant that is added."""
    earned = {exercise: points(wrong["hijack"], exercise) / POINTS[exercise] for exercise in EXERCISES}
    assert max(earned.values()) < 0.35
    told = [c.message for c in wrong["hijack"].checks if c.id == "layer_norm::test_uses_population_variance"]
    assert "the largest difference is 1" in told[0]


@pytest.mark.parametrize("kind", OTHER_OBJECTS)
def test_a_name_that_is_no_function_or_module_of_the_exercise_earns_nothing(wrong: Class, kind: str) -> None:
    assert passed(wrong[kind]) == set()


def test_a_right_answer_passes_however_it_lies_in_memory(wrong: Class) -> None:
    """Strided, conjugated or with a graph: what counts is type, dtype, shape and values."""
    assert lost(wrong["awkward"]) == {}
    assert lost(wrong["right"]) == {}


# -- one exercise broken


@pytest.mark.parametrize("exercise", EXERCISES)
@pytest.mark.parametrize("way", ["zeros", "raises"])
def test_a_broken_exercise_costs_its_own_points_and_the_checks_of_all_parts_together(
    broken: Class, way: str, exercise: str
) -> None:
    receipt = broken[f"{way}_{exercise}"]
    elsewhere = {check for check in lost(receipt) if not check.startswith(f"{exercise}::")}
    assert elsewhere <= integration_checks()
    assert points(receipt, exercise) <= 0.25 * POINTS[exercise]
    if exercise in ("masked_softmax", "multi_head", "layer_norm", "feed_forward", "transformer_block"):
        assert elsewhere == integration_checks()
    for other in set(EXERCISES) - {exercise, "lm_head"}:
        assert points(receipt, other) == POINTS[other]


def test_untouched_stubs_earn_nothing_and_every_check_says_not_attempted(broken: Class) -> None:
    assert broken["stubs"].earned == 0
    assert broken["stubs"].possible == 100
    assert set(outcomes(broken["stubs"]).values()) == {"not attempted"}
    assert all(c.message.startswith("not attempted: open ") for c in broken["stubs"].checks)
    assert broken["stubs"].attention() == []
