"""Every trick is worth at most what the honest wrong answer is."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from grading import (
    AFTER,
    ASSIGNMENT,
    BEFORE,
    batch,
    grade_class,
    handed_in,
    passed,
    points,
    run,
    solution,
    with_body,
)

from autograder.grading.receipt import Receipt
from autograder.intake import Submission, collect

MASKED, NORM = solution("masked_softmax"), solution("layer_norm")
EXERCISES = ("masked_softmax", "layer_norm")
Class = dict[str, Receipt]

WRONG = with_body(MASKED, "masked_softmax", "return scores")


def at_import(text: str) -> str:
    return f"{textwrap.dedent(text)}\n{WRONG}"


def in_call(text: str) -> str:
    return with_body(MASKED, "masked_softmax", f"{textwrap.dedent(text)}\nreturn scores")


FRAME = """
import msgpack, os, struct, threading, time
def send(value):
    body = msgpack.packb(value)
    os.write(3, struct.pack("<4sQ", b"AGW1", len(body)) + body)
"""
ALWAYS_EQUAL = """
class Equal:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __bool__(self): return True
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
    __hash__ = None
"""
HIJACK = """
class Hijack(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        if name in ("allclose", "equal", "eq", "all", "isfinite"):
            return torch.tensor(True)
        return super().__torch_function__(func, types, args, kwargs or {})
"""
OPERATIONS = "import sys\noperations = sys.modules['autograder.sandbox.operations']\n"
TRICKS = {
    "allclose": at_import("import torch\ntorch.allclose = lambda *a, **k: True"),
    "assert_close": at_import("import torch.testing\ntorch.testing.assert_close = lambda *a, **k: None"),
    "softmax": at_import("import torch\ntorch.softmax = lambda x, dim: x"),
    "abs": at_import("import builtins\nbuiltins.abs = lambda v: 0"),
    "approx": at_import("import pytest\npytest.approx = lambda v, **k: type('E', (), {'__eq__': lambda s, o: True})()"),
    "manual_seed": at_import("import torch\ntorch.manual_seed = 0"),
    "isfinite": at_import("import torch\ntorch.isfinite = torch.isnan = lambda x: x * 0 == 0"),
    "always_equal": at_import(ALWAYS_EQUAL).replace("return scores", "return Equal()"),
    "hijack": WRONG.replace("import torch\n", f"import torch\n{HIJACK}", 1).replace(
        "return scores", "return scores.as_subclass(Hijack)"
    ),
    "frame_value": FRAME + in_call("send({'value': True})"),
    "frame_none": FRAME + in_call("send({'value': None})"),
    "frame_points": FRAME + in_call("send({'points': 100, 'outcome': 'passed'})"),
    "frame_fault": FRAME + in_call("send({'fault': {'kind': 'passed', 'names': ['ValueError'], 'text': ''}})"),
    "frame_odd_fault": FRAME
    + in_call("send({'fault': {'kind': [1], 'names': {'a': 1}, 'text': 7, 'line': 'x', 'file': 3}})"),
    "frame_reference": FRAME + in_call("send({'value': msgpack.ExtType(3, msgpack.packb(['os', 'system']))})"),
    "frame_number_reference": FRAME + in_call("send({'value': msgpack.ExtType(3, msgpack.packb([1, '__class__']))})"),
    "frame_many": FRAME + in_call("for _ in range(500): send({'value': True})"),
    "frame_list": FRAME + in_call("send(['passed'])"),
    "garbage": FRAME + in_call("os.write(3, bytes(range(256)))"),
    "huge_length": FRAME + in_call("os.write(3, struct.pack('<4sQ', b'AGW1', 2**62))"),
    "large_reply": FRAME
    + in_call("if scores.shape == (1, 3):\n    os.write(3, struct.pack('<4sQ', b'AGW1', 60 << 20))"),
    "bomb": FRAME
    + in_call("if scores.shape == (1, 3):\n    send({'value': [[[[[[[[[[0] * 9] * 9] * 9] * 9] * 9] * 9]]]]})"),
    "drip": FRAME
    + in_call(
        "if scores.shape == (1, 3):\n    os.write(3, struct.pack('<4sQ', b'AGW1', 1 << 20))\n"
        "    while True:\n        os.write(3, b'x')\n        time.sleep(0.02)"
    ),
    "frame_at_import": FRAME + "for _ in range(300): send({'value': {'notes': []}})\n" + WRONG,
    "frame_thread": FRAME
    + "def forge():\n    while True:\n        send({'value': True}); time.sleep(0.001)\n"
    + "threading.Thread(target=forge, daemon=True).start()\n"
    + WRONG,
    "perform": at_import(OPERATIONS + "operations.Operations.perform = lambda self, *a: {'value': True}"),
    "do_call": at_import(OPERATIONS + "operations.Operations.do_call = lambda self, **k: [True, k['arguments']]"),
    "gradients": at_import(
        OPERATIONS
        + "operations.Operations.do_gradients = lambda self, ref, arguments, along: "
        + "{'output': along, 'arguments': arguments, 'parameters': {}}"
    ),
    "fault": at_import(OPERATIONS + "operations.Operations._fault = lambda self, e: {'kind': 'passed'}"),
    "outgoing": at_import(OPERATIONS + "operations._plain_tensor = lambda v: None"),
    "encode": at_import(
        "import sys\nwire = sys.modules['autograder.sandbox.wire']\nframe = wire.encode({'value': True})\nwire.encode = lambda v: frame"
    ),
    "exit_at_end": at_import("import atexit, os, sys\natexit.register(os._exit, 0)\nsys.exitfunc = None"),
    "close_all": in_call("import os\nos.closerange(0, 64)"),
    "exec": in_call("import os\nos.execv('/bin/true', ['/bin/true'])"),
    "fake_clock": at_import("import time\ntime.time = time.monotonic = time.perf_counter = lambda: 0.0"),
    "excepthook": at_import("import sys\nsys.excepthook = lambda *a: None\nsys.stdout = sys.stderr = None"),
}


@pytest.fixture(scope="module")
def tricked(tmp_path_factory: pytest.TempPathFactory) -> Class:
    work = {name: {"masked_softmax": source, "layer_norm": NORM} for name, source in TRICKS.items()}
    work["honest_wrong"] = {"masked_softmax": WRONG, "layer_norm": NORM}
    limits = {"seconds_per_check": 0.5, "seconds_per_submission": 30}
    return grade_class(work, exercises=EXERCISES, limits=limits)


@pytest.mark.parametrize("trick", TRICKS)
def test_a_trick_gains_no_point(tricked: Class, trick: str) -> None:
    assert passed(tricked[trick], "masked_softmax") <= passed(tricked["honest_wrong"], "masked_softmax")
    assert points(tricked[trick], "masked_softmax") <= points(tricked["honest_wrong"], "masked_softmax")
    assert "grader trouble" not in {check.outcome for check in tricked[trick].checks}
    assert len(tricked[trick].checks) == len(tricked["honest_wrong"].checks)


@pytest.mark.parametrize("trick", ["allclose", "assert_close", "softmax", "abs", "manual_seed"])
def test_a_replaced_library_function_is_reported(tricked: Class, trick: str) -> None:
    (changed,) = tricked[trick].flags["masked_softmax"]
    assert changed.endswith(trick)
    assert any("masked_softmax.py changed" in reason for reason in tricked[trick].attention())
    assert points(tricked[trick], "layer_norm") == 10


def test_files_planted_beside_a_submission_are_never_used(tmp_path: Path) -> None:
    planted = {
        "conftest.py": "import pytest\n@pytest.hookimpl(wrapper=True)\ndef pytest_pyfunc_call(pyfuncitem):\n    yield\n    return True\n",
        "sitecustomize.py": "import os\nos._exit(0)\n",
        "usercustomize.py": "import os\nos._exit(0)\n",
        "pytest.ini": "[pytest]\naddopts = --collect-only\n",
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--collect-only'\n",
        "torch.py": "def __getattr__(name):\n    raise SystemExit(0)\n",
        "numpy.py": "raise SystemExit(0)\n",
        "math.py": "raise SystemExit(0)\n",
        "autograder.py": "raise SystemExit(0)\n",
        "test_masked_softmax.py": "def test_all(): pass\n",
    }
    for student, source in (("planter", WRONG), ("careful", MASKED)):
        for name, text in {**planted, "masked_softmax.py": source, "layer_norm.py": NORM}.items():
            path = tmp_path / student / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    submissions: list[Submission] = collect([tmp_path / "planter", tmp_path / "careful"], EXERCISES, ASSIGNMENT)
    honest = [handed_in(name, {"masked_softmax": MASKED, "layer_norm": NORM}) for name in (BEFORE, AFTER)]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path / "planter")
        receipts = run(batch([honest[0], *submissions, honest[1]], exercises=EXERCISES))
    assert {name: float(receipt.earned) for name, receipt in receipts.items() if name != "planter"} == {
        BEFORE: 24,
        "careful": 24,
        AFTER: 24,
    }
    assert points(receipts["planter"], "masked_softmax") < 4
    assert {"conftest.py", "sitecustomize.py", "pytest.ini", "torch.py"} <= set(receipts["planter"].ignored)
