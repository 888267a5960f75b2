"""Scratch: the folder an exercise can ask for is private, bounded and gone afterwards; others have none."""

from __future__ import annotations

import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from grading import ROOT, comparable, handed_in, offers_everything, outcomes, run, shared_zygotes
from mother import borne
from nursery import nursery
from small_course import FILES, small_course
from test_confinement import KIT, children

from autograder.course import CourseFiles, load_course
from autograder.grading import GradingError
from autograder.grading.batch import Batch
from autograder.grading.receipt import Receipt
from autograder.grading.run import grade
from autograder.sandbox import wire
from autograder.sandbox.host.errors import NotConfined
from autograder.sandbox.host.worker import Worker, WorkerLimits
from autograder.sandbox.host.zygote import Zygote
from autograder.sandbox.host.zygotes import Zygotes
from autograder.sandbox.session import Session
from autograder.sandbox.values import Ref

pytestmark = pytest.mark.skipif(not offers_everything(), reason="this host cannot give scratch; see autograder doctor")

SIZE = 2
PLAIN = WorkerLimits(memory_mb=2048, cpu_seconds=60, output_bytes=1000)
WITH_SCRATCH = WorkerLimits(memory_mb=2048, cpu_seconds=60, output_bytes=1000, scratch_mb=SIZE)

CODE = """
import errno, os, shutil, stat, tempfile
import numpy, torch


def state():
    found = os.stat(".")
    return [os.listdir("."), os.getcwd() == os.environ["TMPDIR"] == tempfile.gettempdir(), stat.S_IMODE(found.st_mode),
            found.st_uid == os.getuid(), os.statvfs(".").f_blocks * os.statvfs(".").f_bsize]


def ordinary_use():
    torch.save({"w": torch.ones(3)}, "model.pt")
    assert torch.load("model.pt", weights_only=True)["w"].sum() == 3
    numpy.save("array.npy", numpy.arange(4))
    mapped = numpy.memmap("mapped", dtype="int64", mode="w+", shape=(9,))
    mapped[:] = 5
    mapped.flush()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as unnamed:
        unnamed.write(b"x")
        with open(os.path.join(folder, "log.txt"), "w") as file:
            file.write("epoch 1")
        shutil.copyfile(os.path.join(folder, "log.txt"), "log.txt")
        os.makedirs(os.path.join(folder, "deep", "er"))
    with open("log.txt", "r+") as file:
        file.truncate(5)
        os.fsync(file.fileno())
    os.mkdir("old")
    os.rename("log.txt", "old/log.txt")
    os.replace("array.npy", "old/array.npy")
    kept = open("old/log.txt").read()
    shutil.rmtree("old")
    os.remove("model.pt")
    return [kept, sorted(os.listdir("."))]


def trouble(act):
    try:
        act()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "none"


def writes(name, count):
    with open(name, "wb") as file:
        return trouble(lambda: [file.write(bytes(1 << 20)) and file.flush() for _ in range(count)])


def makes(count):
    return trouble(lambda: [os.close(os.open(f"{i}", os.O_CREAT)) for i in range(count)]), len(os.listdir("."))


def writes_to(folder):
    path = os.path.join(folder, "kit_attack")
    return [trouble(lambda: open(path, "w")), trouble(lambda: os.mkdir(path)),
            trouble(lambda: os.open(folder, os.O_TMPFILE | os.O_RDWR)), trouble(lambda: os.remove(os.path.join(folder, "x")))]


def environment():
    return [os.getcwd(), "TMPDIR" in os.environ]
"""


def with_code(zygote: Zygote, limits: WorkerLimits) -> Worker:
    worker = zygote.fork(limits)
    load = {"module": "code", "source": CODE.encode(), "filename": "code.py", "siblings": {}}
    worker.ask(wire.request(("load", load)), 20, 60)
    return worker


def call(worker: Worker, name: str, *arguments: object) -> Any:
    payload = {"ref": Ref("code", name), "arguments": list(arguments), "keywords": {}}
    reply = worker.ask(wire.request(("call", payload)), 20, 60)
    assert "value" in reply, reply
    return reply["value"]


@pytest.fixture
def zygote() -> Zygote:
    return shared_zygotes().get()


@pytest.fixture
def worker(zygote: Zygote) -> Iterator[Worker]:
    one = with_code(zygote, WITH_SCRATCH)
    yield one
    one.end()


# -- one worker


def test_the_folder_is_empty_and_the_workers_own(worker: Worker) -> None:
    assert call(worker, "state") == [[], True, 0o700, True, SIZE << 20]


@pytest.mark.parametrize("without", [(), ("landlock",)], ids=["full", "no_landlock"])
def test_ordinary_code_works_in_it(without: tuple[str, ...]) -> None:
    worker = with_code(shared_zygotes(*without).get(), WITH_SCRATCH)
    assert call(worker, "ordinary_use") == ["epoch", ["mapped"]]
    worker.end()


def test_it_holds_so_many_megabytes_and_entries_and_no_more(worker: Worker) -> None:
    assert call(worker, "writes", "one", SIZE) == "none"
    assert call(worker, "writes", "more", 1) == "ENOSPC"
    assert call(worker, "writes", "one", SIZE + 1) == "EFBIG"
    trouble, made = call(worker, "makes", 5000)
    assert trouble == "ENOSPC"
    assert made <= 1024


OUTSIDE = ["/", "..", "/tmp", "/dev", "/dev/shm", "/proc", "/var/tmp", str(ROOT), str(Path(sys.prefix))]


def test_nothing_else_is_writable(worker: Worker) -> None:
    for folder in OUTSIDE:
        assert "none" not in call(worker, "writes_to", folder), folder


def test_the_kit_itself_changed_nothing_that_the_code_is_blamed_for(worker: Worker) -> None:
    assert worker.ask(wire.request(("changes", {})), 20, 60)["value"] == []


def test_two_workers_see_nothing_of_each_other(zygote: Zygote, worker: Worker) -> None:
    call(worker, "writes", "mine", 1)
    other = with_code(zygote, WITH_SCRATCH)
    assert call(other, "state")[0] == []
    call(other, "writes", "theirs", SIZE)
    assert call(worker, "state")[0] == ["mine"]
    other.end()


def test_it_is_gone_with_its_worker(zygote: Zygote) -> None:
    """Neither a mount nor memory stays; the zygote, whose mounts its workers start with, has none of it."""
    before, mounts = shared_memory(), mounts_of(zygote)
    for _ in range(20):
        worker = with_code(zygote, WorkerLimits(memory_mb=2048, cpu_seconds=60, output_bytes=1000, scratch_mb=16))
        assert call(worker, "writes", "all", 16) == "none"
        worker.end()
    deadline = time.monotonic() + 10
    while shared_memory() - before > 64 << 10 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert shared_memory() - before < 64 << 10, "20 folders of 16 MB were filled"
    assert mounts_of(zygote) == mounts
    assert "autograder-scratch" not in mounts + Path("/proc/self/mountinfo").read_text()


def shared_memory() -> int:
    """kB of the machine's memory that hold files."""
    found = re.search(r"^Shmem: +(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


def mounts_of(zygote: Zygote) -> str:
    [inner] = children(zygote._process.pid)
    return Path(f"/proc/{inner}/mountinfo").read_text()


def test_a_worker_that_did_not_ask_can_write_nothing(zygote: Zygote) -> None:
    worker = with_code(zygote, PLAIN)
    assert call(worker, "environment") == ["/", False]
    for folder in (*OUTSIDE, ".", "/autograder-scratch"):
        assert "none" not in call(worker, "writes_to", folder), folder
    worker.end()


@pytest.mark.parametrize("size", [10, 10**6])
def test_a_worker_that_has_refused_before_it_is_asked_is_not_said_to_have_been_stopped(size: int) -> None:
    worker = shared_zygotes("seccomp").get().fork(WITH_SCRATCH)
    select.select([worker._pidfd], [], [], 20)
    with pytest.raises(NotConfined, match="no scratch can be given"):
        worker.ask(wire.request(("load", {"module": "m", "source": b"#" * size})), 20, 60)


@pytest.mark.parametrize("without", ["namespaces", "seccomp"])
def test_no_worker_has_it_where_it_cannot_be_bounded(without: str) -> None:
    zygote = shared_zygotes(without).get()
    with pytest.raises(NotConfined, match=f"no scratch can be given: it needs {without}, not in force here"):
        with_code(zygote, WITH_SCRATCH)
    with_code(zygote, PLAIN).end()


# -- through the grader

STORE = '''\
"""Keep things (Week 1 §1)."""

import torch


def keep(name: str, x: torch.Tensor) -> None:
    """Write x to the disk."""
    # TODO: Which function of torch writes a tensor?
    ### BEGIN SOLUTION
    torch.save(x, f"{name}.pt")
    ### END SOLUTION


def fetch(name: str) -> torch.Tensor:
    """Read what was kept."""
    ### BEGIN SOLUTION
    return torch.load(f"{name}.pt", weights_only=True)
    ### END SOLUTION
'''
SUITE = '''\
"""Checks of `{name}`."""

import pytest

from autograder.suite.checking import equal


@pytest.mark.points(1, "what was kept is there")
def test_is_there(student, rng):
    x = rng.normal(3, 4)
    student.keep("first", x)
    equal(student.fetch("first"), x)


### BEGIN HIDDEN TESTS
@pytest.mark.points(1, "the last one counts")
def test_the_last_one_counts(student, rng):
    x, y = rng.normal(2), rng.normal(5)
    student.keep("twice", x)
    student.keep("twice", y)
    equal(student.fetch("twice"), y)


### END HIDDEN TESTS
'''
COURSE = FILES["course.yml"].replace("points: 10", "points: 6")
COURSE = f"""{COURSE[: COURSE.index("      - {")]}\
      - {{name: before, points: 2, course: [Week 1 §1]}}
      - {{name: store, points: 2, course: [Week 1 §1], scratch_mb: {SIZE}}}
      - {{name: after, points: 2, course: [Week 1 §1]}}
"""
NAMES = ("before", "store", "after")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three exercises with the same checks and solution; the second one asks for scratch."""
    changes: dict[str, str | None] = dict.fromkeys(FILES)
    changes["course.yml"] = COURSE
    for name in NAMES:
        changes[f"solutions/lines/{name}.py"] = STORE
        changes[f"tests/suites/lines/test_{name}.py"] = SUITE.format(name=name)
        changes[f"reference/{name}.py"] = '"""Nothing to compute."""\n'
    root = tmp_path_factory.mktemp("course")
    small_course(root, **changes)
    return root


RIGHT = dict.fromkeys(NAMES, STORE)
LOOKS = f"""{STORE}
import os
import time

print("found", os.listdir("."), "in", os.getcwd())
open(f"mark_{{time.monotonic_ns()}}", "w").close()
time.sleep(0.2)
print("then", len(os.listdir(".")))
"""


def of(course: Path, work: Mapping[str, Mapping[str, str]], **options: Any) -> Batch:
    assignment = load_course(course).assignment("lines")
    submissions = [handed_in(name, files) for name, files in work.items()]
    return Batch(CourseFiles(course), "small", assignment, submissions, seed=1, **options)


def test_an_exercise_that_asks_has_scratch_and_its_neighbours_have_none(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same whether its script is rehearsed or its checks ask one by one."""
    rehearsed = []
    as_it_is = Session.end_rehearsal
    monkeypatch.setattr(Session, "end_rehearsal", lambda session: rehearsed.append(as_it_is(session)) or rehearsed[-1])
    work = {"ada": {name: f"# mine\n{STORE}" for name in NAMES}}
    shared = run(of(course, work))["ada"]
    assert [answers is not None for answers in rehearsed] == [True]
    alone = run(of(course, work, shared_workers=False))["ada"]
    assert comparable(shared) == comparable(alone)
    assert set(outcomes(shared, "store").values()) == {"passed"}
    for neighbour in ("before", "after"):
        assert set(outcomes(shared, neighbour).values()) == {"raised"}
    assert shared.flags == {}


def test_submissions_see_nothing_of_each_other(course: Path) -> None:
    """Some of them are under way at the same time, others one after the other."""
    receipts = run(of(course, {f"s{number}": dict.fromkeys(NAMES, f"# {number}\n{LOOKS}") for number in range(9)}))
    assert {receipt.output["store"] for receipt in receipts.values()} == {"found [] in /autograder-scratch\nthen 1\n"}


def test_a_host_that_cannot_fork_gives_scratch_too(course: Path) -> None:
    receipts: list[Receipt] = []
    with borne(), Zygotes(forks=False) as zygotes:
        grade(of(course, {"ada": RIGHT}), receipts.append, lambda _: None, zygotes)
    assert set(outcomes(receipts[0], "store").values()) == {"passed"}


REFUSED = (
    "scratch_mb of store cannot be given on this host (it needs namespaces, not in force here); grade where"
    " `autograder doctor` says that scratch can be given, or take scratch_mb out of course.yml"
)


@pytest.mark.parametrize("forks", [True, False])
def test_a_run_is_refused_before_the_first_submission_where_there_is_none(course: Path, forks: bool) -> None:
    begun: list[object] = []
    offered = nullcontext(shared_zygotes("namespaces")) if forks else Zygotes(["namespaces"], forks=False)
    with offered as zygotes, pytest.raises(GradingError, match=re.escape(REFUSED)):
        grade(of(course, {"ada": RIGHT}), begun.append, begun.append, zygotes)
    assert begun == []


def test_the_commands_say_so_on_such_a_host(course: Path, tmp_path: Path) -> None:
    def on_docker(*command: str) -> subprocess.CompletedProcess[str]:
        return nursery().run(*command, env=KIT, cwd=course, host="docker")

    autograder = ("-c", "from autograder.cli import main; main()")
    store = f"sqlite:///{tmp_path / 'receipts.sqlite'}"
    graded = on_docker(*autograder, "grade", "lines", "solutions/lines", "--store", store)
    assert (graded.returncode, REFUSED in graded.stderr.replace("\n", " ")) == (2, True), graded.stderr
    checked = on_docker("-m", "pytest", "-p", "autograder.suite.plugin", "tests/suites/lines", "-p", "no:cacheprovider")
    assert REFUSED in checked.stderr
    assert "scratch: cannot be given (it needs namespaces" in on_docker(*autograder, "doctor").stdout
