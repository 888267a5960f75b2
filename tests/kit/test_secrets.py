"""A submission finds nothing secret in its own process, wherever it looks."""

from __future__ import annotations

import json
import secrets

import pytest
from grading import ASSIGNMENT, MASKING, batch, copied_course, edited, handed_in, run, solution

from autograder.grading.receipt import Receipt
from autograder.sandbox.levels import MECHANISMS

MASKED = solution("masked_softmax")
Class = dict[str, Receipt]

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
SPY = SEARCH + edited(MASKED, MASKING, INSIDE + MASKING)


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
        for name in "footprint loading operations inspection values wire worker confinement kernel landlock levels namespaces reaping seccomp versions warming".split()
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
