"""A submission finds nothing secret in its process, gains no point by tricks, and leaves nothing alive behind."""

from __future__ import annotations

import ast
import json
import os
import secrets
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
from grading import (
    AFTER,
    ASSIGNMENT,
    BEFORE,
    batch,
    copied_course,
    edited,
    grade_class,
    handed_in,
    lost,
    passed,
    points,
    run,
    solution,
    solutions,
    with_body,
)

from autograder.grading.receipt import Receipt
from autograder.intake import Submission, collect
from autograder.sandbox.levels import MECHANISMS

SOLUTIONS = solutions()
MASKED, NORM = solution("masked_softmax"), solution("layer_norm")
EXERCISES = ("masked_softmax", "layer_norm")
Class = dict[str, Receipt]

# -- (a) what a submission can find in its own process

PREFIX = "ZEBRA42_"
SEARCH = '''
import ctypes, gc, json, linecache, os, re, sys, threading
TEXT = re.compile("ZEBRA" + "42_[0-9a-f]{16}")
BYTES = re.compile(TEXT.pattern.encode())

def search(place):
    """Look for markers by every means that needs no file of the course, and print what was found where."""
    found = {}
    def see(where, value):
        hits = TEXT.findall(value) if isinstance(value, str) else []
        hits += [h.decode() for h in BYTES.findall(bytes(value))] if isinstance(value, (bytes, bytearray)) else []
        if hits:
            found.setdefault(where, set()).update(hits)
    def see_all(where, thing, depth=3):
        see(where, thing)
        if isinstance(thing, dict):
            thing = [*thing.keys(), *thing.values()]
        if isinstance(thing, (list, tuple, set, frozenset)) and depth:
            for entry in list(thing):
                see_all(where, entry, depth - 1)
    gc.unfreeze()
    for thing in gc.get_objects():
        for part in gc.get_referents(thing):
            see("gc", part)
    for name, module in list(sys.modules.items()):
        see_all("modules", {name: 0, **{str(k): v for k, v in vars(module).items()}} if module else name, 2)
    for frame in sys._current_frames().values():
        while frame is not None:
            see_all("frames", dict(frame.f_locals))
            see_all("frames", dict(frame.f_globals), 2)
            see("frames", frame.f_code.co_filename)
            frame = frame.f_back
    see_all("environment", dict(os.environ))
    see_all("lines", linecache.cache)
    see_all("threads", [(t.name, vars(t)) for t in threading.enumerate()])
    for name in ("cmdline", "environ", "maps", "comm", "status"):
        with open(f"/proc/self/{name}", "rb") as file:
            see("proc", file.read())
    with open("/proc/self/maps") as file:
        regions = [line.split(None, 5) for line in file]
    scanned = 0
    for region in regions:
        if region[1][0] != "r" or (region[1][1] != "w" and len(region) > 5):
            continue
        start, end = (int(text, 16) for text in region[0].split("-"))
        for at in range(start, end, 1 << 22):
            scanned += min(1 << 22, end - at)
            see("memory", ctypes.string_at(at, min((1 << 22) + 64, end - at)))
    links = {}
    for number in os.listdir("/proc/self/fd"):
        try:
            links[number] = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            pass
    names = [n for n in sys.modules if n.split(".")[0] in ("autograder", "reference", "pytest", "_pytest", "tests")]
    names += [n for n in sys.modules if n.startswith(("test_", "conftest"))]
    print("SEARCHED", json.dumps({
        "place": place, "found": {k: sorted(v) for k, v in found.items()}, "descriptors": links, "modules": sorted(names),
        "threads": len(os.listdir("/proc/self/task")), "scanned": scanned, "environment": sorted(os.environ),
    }))

search("import")
'''
INSIDE = "    if scores.shape == (3, 4, 5):\n        global SEARCHED\n        if not globals().get('SEARCHED'):\n            SEARCHED = True\n            search('hidden check')\n"
FIRST_LINE = "    if mask is not None:\n        scores = scores.masked_fill(~mask, -math.inf)\n"
SPY = SEARCH + edited(MASKED, FIRST_LINE, INSIDE + FIRST_LINE)


def marker() -> str:
    return PREFIX + secrets.token_hex(8)


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Class, dict[str, str]]:
    """A course full of markers, a neighbour with one, a grader with one in its environment; and two spies."""
    root = copied_course(tmp_path_factory.mktemp("markers"))
    planted = {
        name: marker() for name in ("name", "body", "comment", "expected", "reference", "neighbour", "grader", "own")
    }
    suite = root / "tests/suites" / ASSIGNMENT / "test_masked_softmax.py"
    text = edited(suite.read_text("utf-8"), "def test_other_axes(", f"def test_{planted['name']}_other_axes(")
    loop = "    for dim in (0, 1, 2, -2):\n"
    body = f'    note = "{planted["body"]}"  # {planted["comment"]}\n    assert note\n'
    body += f'    expected = torch.frombuffer(bytearray(b"{planted["expected"]}"), dtype=torch.float64)\n'
    body += "    expect(expected.numel() == 3, 'three numbers whose bytes are the marker')\n"
    suite.write_text(edited(text, loop, body + loop), "utf-8")
    reference = root / "reference/masked_softmax.py"
    reference.write_text(f'{reference.read_text("utf-8")}\nSECRET = "{planted["reference"]}"\n', "utf-8")
    neighbour = {"masked_softmax": f'MINE = "{planted["neighbour"]}"\nprint(MINE)\n{MASKED}'}
    work = {
        "neighbour_1": neighbour,
        "spy": {"masked_softmax": SPY},
        "neighbour_2": neighbour,
        "control": {"masked_softmax": f'import os\nOWN = "{planted["own"]}"\nos.environ["OWN"] = OWN\n{SPY}'},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIT_TEST_SECRET", planted["grader"])
        limits = {"seconds_per_check": 30, "seconds_per_submission": 200}
        submissions = [handed_in(name, files) for name, files in work.items()]
        # Confinement would refuse most of the search. There is nothing to find without it, either.
        receipts = run(batch(submissions, root=root, exercises=["masked_softmax"], limits=limits), without=MECHANISMS)
    return receipts, planted


def reports(receipt: Receipt) -> list[dict[str, object]]:
    lines = receipt.output["masked_softmax"].splitlines()
    return [json.loads(line.removeprefix("SEARCHED ")) for line in lines if line.startswith("SEARCHED ")]


def test_a_search_finds_what_lies_in_its_own_module(searched: tuple[Class, dict[str, str]]) -> None:
    """The control: the same search can bite, by each of its means."""
    receipts, planted = searched
    at_import, in_hidden_check = reports(receipts["control"])
    assert in_hidden_check["place"] == "hidden check"
    for report in (at_import, in_hidden_check):
        found = report["found"]
        assert isinstance(found, dict)
        assert set(found) >= {"gc", "modules", "frames", "environment", "memory", "lines"}
        assert {hit for hits in found.values() for hit in hits} == {planted["own"]}


def test_a_search_finds_no_check_no_expected_value_no_reference_and_no_neighbour(
    searched: tuple[Class, dict[str, str]],
) -> None:
    receipts, planted = searched
    assert any(planted["name"] in c.id and c.outcome == "passed" for c in receipts["spy"].checks)
    assert planted["neighbour"] in receipts["neighbour_1"].output["masked_softmax"]
    assert [report["place"] for report in reports(receipts["spy"])] == ["import", "hidden check"]
    for report in reports(receipts["spy"]):
        assert report["found"] == {}
        assert isinstance(report["scanned"], int)
        assert report["scanned"] > 50_000_000
    assert {receipt.earned for receipt in receipts.values()} == {14}


def test_a_worker_has_no_module_descriptor_thread_or_variable_of_the_grader(
    searched: tuple[Class, dict[str, str]],
) -> None:
    engine = {"autograder", "autograder.sandbox"}
    engine |= {
        f"autograder.sandbox.{name}"
        for name in "footprint loading operations inspection values wire worker confinement kernel landlock levels namespaces reaping seccomp".split()
    }
    variables = {
        "PATH",
        "LANG",
        "HOME",
        "OMP_NUM_THREADS",
        "OMP_THREAD_LIMIT",
        "TORCHDYNAMO_DISABLE",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
    }
    optional = {"LD_LIBRARY_PATH", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "LC_CTYPE"}
    for report in reports(searched[0]["spy"]):
        modules, environment, descriptors = report["modules"], report["environment"], report["descriptors"]
        assert isinstance(modules, list)
        assert isinstance(environment, list)
        assert isinstance(descriptors, dict)
        assert set(modules) <= engine
        assert report["threads"] == 1
        assert {e for e in environment if not e.startswith(("TORCH", "PYTORCH", "TRITON"))} <= variables | optional
        assert set(descriptors) == {"0", "1", "2", "3", "4"}
        assert descriptors["0"] == "/dev/null"
        assert descriptors["3"].startswith("socket:")
        assert descriptors["1"] == descriptors["2"] == descriptors["4"]
        assert descriptors["4"].startswith("pipe:")


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
    work = {"spy": {exercise: watching(exercise) for exercise in SOLUTIONS}}
    limits = {"seconds_per_check": 20, "seconds_per_submission": 200, "output_kb": 256}
    receipt = grade_class(work, limits=limits)["spy"]
    assert_nothing_foreseen(receipt)
    assert set(receipt.output) == set(SOLUTIONS)


def test_a_check_that_repeats_an_answer_is_asked_step_by_step(tmp_path: Path) -> None:
    root = copied_course(tmp_path)
    suite = root / "tests/suites" / ASSIGNMENT / "test_multi_head.py"
    line = "    agree(student.merge_heads(torch.stack([x[..., :5], x[..., 5:]], dim=1)), x)\n"
    chained = "    agree(student.merge_heads(2 * tensor(student.split_heads(x, 2), (3, 2, 4, 5))), 2 * x)\n"
    suite.write_text(edited(suite.read_text("utf-8"), line, line + chained), "utf-8")
    work = {"spy": {"masked_softmax": MASKED, "multi_head": watching("multi_head")}}
    limits = {"seconds_per_check": 20, "output_kb": 256}
    assert_nothing_foreseen(
        grade_class(work, root=root, exercises=["masked_softmax", "multi_head"], limits=limits)["spy"]
    )


# -- (b) tricks: every one of them is worth at most what the honest wrong answer is

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


# -- (c) B18: nothing survives


def leaving(text: str) -> str:
    return "import os, subprocess, sys, threading, time\n" + textwrap.dedent(text) + "\n" + MASKED


NAMED = """
def sleeper():
    with open("/proc/self/comm", "w") as file:
        file.write("kit_trust_left")
    time.sleep(60)
    os._exit(0)
"""
LEFTOVERS = {
    "fork": leaving(NAMED + "if os.fork() == 0:\n    sleeper()"),
    "double_fork": leaving(
        NAMED + "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        sleeper()\n    os._exit(0)"
    ),
    "many": leaving(NAMED + "for _ in range(20):\n    if os.fork() == 0:\n        sleeper()"),
    "popen": leaving("subprocess.Popen(['/bin/sleep', '61.4242'])"),
    "popen_session": leaving("subprocess.Popen(['/bin/sleep', '61.4242'], start_new_session=True, close_fds=False)"),
    "thread": leaving("threading.Thread(target=lambda: time.sleep(60)).start()"),
    "busy_thread": leaving("def spin():\n    while True:\n        pass\nthreading.Thread(target=spin).start()"),
    "deaf": leaving(
        NAMED
        + "import signal\nif os.fork() == 0:\n    for n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)\n    sleeper()"
    ),
    "in_call": edited(
        MASKED,
        FIRST_LINE,
        "    import os, time\n    if os.fork() == 0:\n        open('/proc/self/comm', 'w').write('kit_trust_left')\n"
        "        time.sleep(60)\n        os._exit(0)\n" + FIRST_LINE,
    ),
    "forking_thread": leaving(
        NAMED
        + "def spread():\n    for _ in range(5):\n        if os.fork() == 0:\n            sleeper()\n        time.sleep(0.01)\n"
        "threading.Thread(target=spread, daemon=True).start()"
    ),
}


def leftovers() -> list[int]:
    """Processes that the submissions above started."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            name, command = (entry / "comm").read_bytes(), (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if entry.name.isdigit() and (name == b"kit_trust_left\n" or b"61.4242" in command):
            found.append(int(entry.name))
    return found


def zygotes(known: Collection[int] = ()) -> list[int]:
    """Zygotes that this process started, apart from those that are `known`."""
    mine = []
    for entry in Path("/proc").iterdir():
        try:
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            if parent == str(os.getpid()) and b"sandbox/zygote.py" in (entry / "cmdline").read_bytes():
                mine.append(int(entry.name))
        except OSError:
            continue
    return [pid for pid in mine if pid not in known]


def workers(known: Collection[int]) -> list[int]:
    """Workers of zygotes that are not known. One that went into namespaces is a child of the process that was started."""
    found = []
    for zygote in zygotes(known):
        try:
            for child in children(zygote):
                went_in = os.readlink(f"/proc/{child}/ns/pid") != os.readlink("/proc/self/ns/pid")
                found += children(child) if went_in else [child]
        except OSError:
            continue
    return found


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("without", [(), MECHANISMS], ids=["closed_in", "unconfined"])
def test_no_process_of_a_submission_survives(without: tuple[str, ...]) -> None:
    control = subprocess.Popen(["/bin/sleep", "61.4242"])
    try:
        assert control.pid in leftovers(), "the search itself should find such a process"
    finally:
        control.kill()
        control.wait()
    work = {name: {"masked_softmax": source, "layer_norm": NORM} for name, source in LEFTOVERS.items()}
    submissions = [handed_in(name, files) for name, files in work.items()]
    begun, known = time.monotonic(), zygotes()
    of = batch(submissions, exercises=EXERCISES, limits={"seconds_per_submission": 10})
    receipts = run(of, own_zygote=True, without=without)
    assert time.monotonic() - begun < 60
    assert leftovers() == []
    assert zygotes(known) == []
    spinning = receipts.pop("busy_thread")
    assert set(lost(spinning).values()) <= {"timed out", "not run"}, "it uses up its own time, and that is all it costs"
    if without != MECHANISMS:  # its fork is refused in the middle of a call
        refused = receipts.pop("in_call")
        assert set(lost(refused, "masked_softmax").values()) == {"raised"}
        assert lost(refused, "layer_norm") == {}
    for name, receipt in receipts.items():
        assert lost(receipt) == {}, name
    if without == MECHANISMS:
        assert "threads" in receipts["thread"].flags["masked_softmax"]
    else:
        assert any("raised RuntimeError (`threading.Thread" in note for note in receipts["thread"].remarks)


# -- (d) what is killed from outside


@pytest.fixture
def killer() -> Iterator[list[threading.Thread]]:
    threads: list[threading.Thread] = []
    yield threads
    for thread in threads:
        thread.join(20)


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_a_killed_zygote_or_worker_costs_no_other_check(killer: list[threading.Thread]) -> None:
    slow = edited(
        MASKED, FIRST_LINE, f"    import time\n    time.sleep(0.5 if scores.shape == (1, 3) else 0)\n{FIRST_LINE}"
    )
    students = ["first", "zygote_at_rest", "second", "zygote_at_work", "third", "worker", "last"]
    kills, known = [], zygotes()

    def kill_when_there(what: str, earlier: set[int]) -> None:
        for _ in range(8000):
            victims = set(workers(known)) - earlier
            if victims:
                time.sleep(0.2)
                try:
                    os.kill(zygotes(known)[0] if what == "zygote_at_work" else max(victims), signal.SIGKILL)
                except (ProcessLookupError, IndexError):  # it was done by then
                    continue
                kills.append(what)
                return
            time.sleep(0.005)

    def started(submission: Submission) -> None:
        if submission.student == "zygote_at_rest":
            os.kill(zygotes(known)[0], signal.SIGKILL)
            kills.append("zygote_at_rest")
        elif submission.student in ("zygote_at_work", "worker"):
            killer.append(threading.Thread(target=kill_when_there, args=(submission.student, set(workers(known)))))
            killer[-1].start()

    submissions = [handed_in(name, {"masked_softmax": slow, "layer_norm": NORM}) for name in students]
    receipts = run(batch(submissions, exercises=EXERCISES), started=started, own_zygote=True, without=("namespaces",))
    assert kills == ["zygote_at_rest", "zygote_at_work", "worker"]
    assert list(receipts) == students
    losses = [outcome for receipt in receipts.values() for outcome in lost(receipt).values()]
    assert losses == [], "one killed worker costs nothing: its check runs once more"
    assert zygotes(known) == []


KILLER = {
    "masked_softmax": f"import os, signal, time\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(1)\n{MASKED}",
    "layer_norm": NORM,
}


def test_a_submission_cannot_signal_the_zygote() -> None:
    receipt = grade_class({"killer": KILLER}, exercises=EXERCISES)["killer"]
    assert lost(receipt) == {}
    assert any("PermissionError" in note for note in receipt.remarks)


def test_unconfined_a_submission_that_kills_the_zygote_is_left_to_a_human_and_nobody_else() -> None:
    """Every process of one user can signal the others where confinement does not forbid it."""
    honest = {"masked_softmax": MASKED, "layer_norm": NORM}
    everybody = [handed_in(name, work) for name, work in ((BEFORE, honest), ("killer", KILLER), (AFTER, honest))]
    receipts = run(batch(everybody, exercises=EXERCISES), without=MECHANISMS)
    assert lost(receipts[BEFORE]) == lost(receipts[AFTER]) == {}
    receipt = receipts["killer"]
    assert {check.outcome for check in receipt.checks} == {"grader trouble"}
    assert not receipt.complete
    assert receipt.earned == 0
