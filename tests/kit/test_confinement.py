"""What is said about isolation is true: each mechanism left out in turn, levels required, promises that cannot be kept."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from command_line import ask
from grading import (
    ROOT,
    batch,
    comparable,
    grade_class,
    handed_in,
    lost,
    offers_everything,
    run,
    shared_zygotes,
    small_course,
    solution,
    with_body,
)
from mother import borne
from nursery import nursery

from autograder.grading import GradingError
from autograder.grading.receipt import Receipt
from autograder.grading.run import grade
from autograder.sandbox import kernel, wire
from autograder.sandbox.confinement import Confinement
from autograder.sandbox.doctor import Diagnosis, examine
from autograder.sandbox.host.errors import NotConfined
from autograder.sandbox.host.worker import WorkerLimits
from autograder.sandbox.host.zygotes import Zygotes
from autograder.sandbox.levels import MECHANISMS, level, satisfies
from autograder.sandbox.values import Ref

pytestmark = pytest.mark.skipif(
    not offers_everything(), reason="this host does not offer all of confinement; see autograder doctor"
)
NORM = solution("layer_norm")
KIT = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests/kit'}"}


def on_host(host: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`autograder ...` under the rules of another host."""
    return nursery().run("-c", "from autograder.cli import main; main()", *arguments, env=KIT, host=host)


# -- levels


@pytest.mark.parametrize(
    ("in_force", "name", "lacking"),
    [
        (MECHANISMS, "full", ""),
        (("namespaces", "seccomp"), "full", ""),
        (("landlock", "seccomp"), "partial", "names and sizes"),
        (("seccomp",), "partial", "no file can be opened"),
        (("namespaces", "landlock"), "partial", "processes, threads and signals"),
        (("landlock",), "partial", "no seccomp"),
        ((), "process only", ""),
    ],
)
def test_a_level_says_what_is_missing(in_force: tuple[str, ...], name: str, lacking: str) -> None:
    found = level(in_force)
    assert found.partition(" (")[0] == name
    assert lacking in found
    assert satisfies(found, None)
    assert satisfies(found, "partial") == (name != "process only")
    assert satisfies(found, "full") == (name == "full")


def examined(*without: str) -> Diagnosis:
    """What the doctor finds, in workers of a zygote that tests share."""
    with patch("autograder.sandbox.doctor.Zygote", lambda w: nullcontext(shared_zygotes(*w).get())):
        return examine(without)


HARMLESS = {"use more memory than its limit", "compute longer than its limit", "leave a process behind"}
"""What is prevented everywhere."""
ABOUT_PROCESSES = {"start a process", "start a thread"}


@pytest.mark.parametrize(
    ("without", "isolation", "possible"),
    [
        ((), "full", set()),
        (("landlock",), "full", set()),
        (("namespaces",), "partial (no private root", {"learn that a file of yours exists"}),
        (("seccomp",), "partial (no seccomp", ABOUT_PROCESSES),
        (("namespaces", "landlock"), "partial (no private root and no Landlock", set()),
    ],
    ids=["nothing", "landlock", "namespaces", "seccomp", "all_that_guards_files"],
)
def test_the_doctor_tells_the_truth_without(without: tuple[str, ...], isolation: str, possible: set[str]) -> None:
    found = examined(*without)
    assert found.isolation.startswith(isolation)
    assert {f.act for f in found.findings if not f.is_stopped} == possible
    assert all(f.proven for f in found.findings), "every act works where nothing stops it"
    assert set(found.missing) == set(found.cures) == set(without)


def test_without_any_mechanism_the_doctor_finds_everything_possible() -> None:
    found = examined(*MECHANISMS)
    assert found.isolation == "process only"
    assert {f.act for f in found.findings if f.is_stopped} == HARMLESS


def test_the_doctor_of_an_ordinary_user_and_of_another_host() -> None:
    user = on_host("user", "doctor", "--json")
    assert (user.returncode, user.stderr) == (0, "")
    found = json.loads(user.stdout)
    assert (found["isolation"], found["versions"]["user"]) == ("full", "an ordinary user")
    docker = on_host("docker", "doctor")
    assert docker.returncode == 1
    for words in ("partial (no private root", "missing: namespaces", "to get it:", "YES  learn that a file"):
        assert words in docker.stdout


# -- what a worker can still do


LATE = """
import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    from importlib import import_module
    return {name: imports(import_module, name) for name in ("wave", "xml.dom.minidom", "sympy.plotting", "torch.fx")}


def imports(how, name):
    try:
        how(name)
    except (ImportError, PermissionError) as error:
        return str(error)
    return "found"


def strangers():
    from importlib import import_module
    return {name: imports(import_module, name) for name in ("sqlalchemy", "pydantic", "autograder.grading", "pytest")}


def burn():
    total = 0
    for i in range(3_000_000):
        total += i
    return total
"""


@pytest.mark.parametrize("without", [(), ("namespaces",), ("landlock",)], ids=["full", "no_namespaces", "no_landlock"])
def test_a_worker_imports_late_what_it_may_and_its_clock_can_be_read(without: tuple[str, ...]) -> None:
    limits = WorkerLimits(memory_mb=2048, cpu_seconds=60, output_bytes=1000)
    worker = shared_zygotes(*without).get().fork(limits)
    load = {"module": "late", "source": LATE.encode(), "filename": "late.py", "siblings": {}}

    def call(name: str, *arguments: object) -> Any:
        frame = [("call", {"ref": Ref("late", name), "arguments": list(arguments), "keywords": {}})]
        return worker.ask(wire.encode(frame), 20, 60)["value"]

    worker.ask(wire.request(("load", load)), 20, 60)
    assert set(call("layer_norm", 0, 0, 0).values()) == {"found"}
    assert "found" not in call("strangers").values()
    before = worker.cpu_seconds()
    call("burn")
    assert worker.cpu_seconds() - before > 0.02
    worker.end()


# -- what is required, and what is promised


def test_a_run_that_requires_more_than_there_is_grades_nothing(tmp_path: Path) -> None:
    refusal = pytest.raises(NotConfined, match="isolation `full` is required, this host offers `partial")
    with refusal, borne():
        Zygotes(("namespaces",), required="full").get()
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada/layer_norm.py").write_text(NORM)
    store = f"sqlite:///{tmp_path / 'receipts.sqlite'}"
    course = small_course(tmp_path)
    grade = ("--course", str(course), "grade", "week08", str(tmp_path / "ada"), "--store", store)
    content = on_host("docker", *grade, "--require-isolation", "partial", "--json")
    assert json.loads(content.stdout)[0]["isolation"].startswith("partial (no private root")
    refused = on_host("docker", *grade, "--require-isolation", "full")
    assert refused.returncode == 2, "a receipt from a weaker host does not count"
    assert "isolation `full` is required, this host offers `partial" in refused.stderr
    assert "autograder doctor" in refused.stderr


def test_a_worker_that_cannot_be_closed_in_reads_nothing_and_stops_the_run() -> None:
    impossible = batch(
        [handed_in("ada", {"layer_norm": NORM})], exercises=["layer_norm"], limits={"memory_mb": 1 << 50}
    )
    with pytest.raises(GradingError, match=r"a worker could not be closed in \(.+\); nothing more is graded"):
        run(impossible)
    promised = Confinement(in_force=["landlock"], _rules=-1)
    assert "landlock_restrict_self" in kernel.tried(lambda: promised.close_in(memory_mb=2048, cpu_seconds=10))


def test_a_check_that_waited_in_vain_runs_once_more_and_one_that_computed_does_not() -> None:
    """A host that is busy with other things looks like code that sleeps; code that computes used its time."""
    wait = "global WAITED\nWAITED = globals().get('WAITED', 0) + (x.ndim == 4)\n"
    slow = with_body(
        NORM, "layer_norm", f"import time\n{wait}if WAITED == 1:\n    time.sleep(30)\nreturn x * gamma + beta"
    )
    spin = with_body(NORM, "layer_norm", "while True:\n    pass")
    limits = {"seconds_per_check": 0.3, "seconds_per_submission": 4}
    found = grade_class(
        {"slow": {"layer_norm": slow}, "spin": {"layer_norm": spin}}, exercises=["layer_norm"], limits=limits
    )
    assert "timed out" in lost(found["spin"]).values()
    assert list(lost(found["slow"]).values()).count("timed out") <= 1


def test_a_host_that_cannot_fork_gives_the_same_outcomes() -> None:
    raising = with_body(NORM, "layer_norm", "raise ValueError('no')")
    work = {"right": NORM, "raising": f"x = (1\n{raising}"}
    of = batch([handed_in(name, {"layer_norm": source}) for name, source in work.items()], exercises=["layer_norm"])
    forked = run(of, without=("namespaces",))
    spawned: dict[str, Receipt] = {}
    before = set(children(os.getpid()))
    with borne(), Zygotes(("namespaces",), forks=False) as zygotes:
        grade(of, lambda receipt: spawned.update({receipt.student: receipt}), lambda _: None, zygotes)
    assert {name: comparable(spawned[name]) for name in work} == {name: comparable(forked[name]) for name in work}
    assert spawned["right"].earned == 10
    assert set(children(os.getpid())) == before, "all of its processes are gone"


# -- the plug is pulled


@pytest.fixture(scope="module")
def halls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with a class of ten, whose files take their time to be read."""
    course = small_course(tmp_path_factory.mktemp("halls"))
    for number in range(10):
        folder = course / f"class/s{number}"
        folder.mkdir(parents=True)
        start = "import time\ntime.sleep(0.4)\n"
        (folder / "layer_norm.py").write_text(f"# {number}\n{start}{NORM}")
    return course


def grading(halls: Path, store: Path) -> list[str]:
    what = ("--course", str(halls), "grade", "week08", str(halls / "class"))
    return [*what, "--seed", "3", "--store", f"sqlite:///{store}", "--json"]


def table(stdout: str) -> dict[str, object]:
    return {r["student"]: [(c["id"], c["outcome"], c["earned"]) for c in r["checks"]] for r in json.loads(stdout)}


@pytest.fixture(scope="module")
def undisturbed(halls: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    return table(ask(*grading(halls, tmp_path_factory.mktemp("store") / "a.sqlite"), cwd=ROOT).stdout)


def test_after_kills_in_the_middle_the_next_run_ends_with_the_same_table_and_no_orphan(
    halls: Path, undisturbed: dict[str, object], tmp_path: Path
) -> None:
    """Kill -9 of a worker, of the zygote and of the grader, in turn, each while workers are at work."""
    command = grading(halls, tmp_path / "b.sqlite")
    family: set[int] = set()
    with open(os.devnull, "wb") as nowhere:
        program = ["-c", "from autograder.cli import main; main()", *command]
        grader = nursery().start(program, ROOT, KIT, "", nowhere.fileno(), nowhere.fileno())
    for victim in ("worker", "zygote", "grader"):
        family |= pulled(grader.pid, victim, family)
    assert grader.wait() == -signal.SIGKILL
    assert table(ask(*command, cwd=ROOT).stdout) == undisturbed
    assert len(undisturbed) == 10
    assert [pid for pid in family if is_the_kits(pid)] == []


def pulled(grader: int, victim: str, earlier: set[int]) -> set[int]:
    """Kill the grader, its zygote or a worker while new workers are at work; who was there then."""
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        zygotes = [pid for pid in children(grader) if is_the_kits(pid)]
        inner = [pid for zygote in zygotes for pid in children(zygote)]
        workers = [pid for one in inner for pid in children(one)]
        if len(set(workers) - earlier) > 1:
            chosen = {"grader": grader, "zygote": inner[0], "worker": max(set(workers) - earlier)}[victim]
            os.kill(chosen, signal.SIGKILL)
            return {grader, *zygotes, *inner, *workers}
        time.sleep(0.005)
    raise AssertionError(f"no worker was seen at work before the kill of the {victim}")


def children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def is_the_kits(pid: int) -> bool:
    try:
        return b"zygote.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
