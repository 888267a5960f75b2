"""The engine around a submission holds no answer before it was given, although it holds questions."""

from __future__ import annotations

import ast
from pathlib import Path

from grading import ASSIGNMENT, copied_course, edited, grade_class, lost, solution, solutions

from autograder.grading.receipt import Receipt

SPY_ON_ENGINE = """
import sys as _sys, torch as _torch

def _tensors(value, depth=10):
    if isinstance(value, _torch.Tensor):
        yield value.detach()
    elif isinstance(value, (dict, list, tuple)) and depth:
        for entry in list(value.values() if isinstance(value, dict) else value):
            yield from _tensors(entry, depth - 1)

def _raw(tensor):
    return tensor.contiguous().numpy().tobytes()

def _tells(tensor):
    plain = tensor.layout == _torch.strided and tensor.dtype in (_torch.float32, _torch.float64, _torch.int64)
    return plain and tensor.numel() > 3 and tensor.unique().numel() > 2

def _in_the_engine(needles):
    hits, frame = 0, _sys._getframe(2)
    while frame is not None:
        if "sandbox" in frame.f_code.co_filename:
            for value in list(frame.f_locals.values()):
                pieces = [bytes(value)] if isinstance(value, (bytes, bytearray, memoryview)) else []
                pieces += [_raw(tensor) for tensor in _tensors(value) if tensor.layout == _torch.strided]
                hits += sum(needle in piece for needle in needles for piece in pieces)
        frame = frame.f_back
    return hits

_BUSY, _GIVEN_BEFORE = [], set()

def _watched(function):
    def call(*arguments, **keywords):
        answer = function(*arguments, **keywords)
        if not _BUSY:
            _BUSY.append(1)
            given = [_raw(t) for t in _tensors((arguments, keywords)) if _tells(t)]
            needles = [_raw(t) for t in _tensors(answer) if _tells(t)]
            needles = [n for n in needles if n not in _GIVEN_BEFORE and not any(n in g for g in given)]
            _GIVEN_BEFORE.update(needles)
            print("SEEN", len(needles), _in_the_engine(needles), _in_the_engine(given))
            _BUSY.clear()
        return answer
    return call

for _name in {functions}:
    globals()[_name] = _watched(globals()[_name])
for _name in {classes}:
    globals()[_name].forward = _watched(globals()[_name].forward)
"""


def watching(exercise: str) -> str:
    """The solution, looking whether the engine around it holds an answer before it was given."""
    body = ast.parse(solution(exercise)).body
    functions = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    classes = [node.name for node in body if isinstance(node, ast.ClassDef)]
    return solution(exercise) + SPY_ON_ENGINE.replace("{functions}", str(functions)).replace("{classes}", str(classes))


def seen(receipt: Receipt) -> list[tuple[int, int, int]]:
    """For each call: answers looked for, answers found in the engine, arguments found in the engine."""
    lines = [line.split() for text in receipt.output.values() for line in text.splitlines() if line.startswith("SEEN")]
    return [(int(a), int(b), int(c)) for _, a, b, c in lines]


def assert_nothing_foreseen(receipt: Receipt) -> None:
    assert lost(receipt) == {}
    assert sum(looked for looked, _, _ in seen(receipt)) > 20
    assert sum(arguments for _, _, arguments in seen(receipt)) > 20, "the search itself should find arguments"
    assert sum(answers for _, answers, _ in seen(receipt)) == 0


def test_a_worker_never_holds_an_answer_before_it_was_given() -> None:
    """Later submissions get the questions of a whole exercise at once; none of them may hold the answer to another."""
    work = {"spy": {exercise: watching(exercise) for exercise in solutions()}}
    limits = {"seconds_per_check": 20, "seconds_per_submission": 200, "output_kb": 256}
    receipt = grade_class(work, limits=limits)["spy"]
    assert_nothing_foreseen(receipt)
    assert set(receipt.output) == set(solutions())


def test_a_check_that_repeats_an_answer_is_asked_step_by_step(tmp_path: Path) -> None:
    root = copied_course(tmp_path)
    suite = root / "tests/suites" / ASSIGNMENT / "test_multi_head.py"
    line = "    agree(student.merge_heads(torch.stack([x[..., :5], x[..., 5:]], dim=1)), x)\n"
    chained = "    agree(student.merge_heads(2 * tensor(student.split_heads(x, 2), (3, 2, 4, 5))), 2 * x)\n"
    suite.write_text(edited(suite.read_text("utf-8"), line, line + chained), "utf-8")
    work = {"spy": {"masked_softmax": solution("masked_softmax"), "multi_head": watching("multi_head")}}
    limits = {"seconds_per_check": 20, "output_kb": 256}
    assert_nothing_foreseen(
        grade_class(work, root=root, exercises=["masked_softmax", "multi_head"], limits=limits)["spy"]
    )
