"""Many graders: the same receipts however many there are and whatever happens to them, and each submission once."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from grading import batch, comparable, handed_in, run, shared_zygotes, small_course, solution, stub, with_body
from killing import Killer, below, by_kind
from nursery import Child, nursery
from rich.console import Console

from autograder.cli import running
from autograder.cluster import jobs
from autograder.cluster.chunks import Chunk, Messages, Order, packed
from autograder.cluster.dealing import Dealer, Futility
from autograder.cluster.process import Program
from autograder.grading import GradingError, Receipt
from autograder.grading.batch import Batch
from autograder.grading.run import grade
from autograder.grading.store import Store
from autograder.intake import HandedIn, Submission

LAYER_NORM = solution("layer_norm")


# -- graders that start in a moment


@dataclass
class _Forked:
    """A child of the nursery, as a `Program` needs it."""

    child: Child

    def kill(self) -> None:
        try:
            os.kill(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def wait(self) -> int:
        return self.child.wait()


@dataclass
class Graders:
    """Starts graders from the nursery, which has torch in memory, and knows their numbers."""

    program: Sequence[str] = ("-m", "autograder.cluster.worker")
    pids: list[int] = field(default_factory=list)

    def start(self, course: Path, lanes: int) -> Program:
        read_chunks, write_chunks = os.pipe()
        read_answers, write_answers = os.pipe()
        arguments = [*self.program, str(course), str(lanes)]
        env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        child = nursery().start(arguments, course, env, "", write_answers, 2, read_chunks)
        for descriptor in (read_chunks, write_answers):
            os.close(descriptor)
        self.pids.append(child.pid)
        return Program(_Forked(child), os.fdopen(write_chunks, "wb", 0), os.fdopen(read_answers, "rb", 0))

    def family(self) -> dict[int, tuple[int, str]]:
        return {pid: facts for grader in self.pids for pid, facts in below(grader).items()}


def graded_by(count: int, of: Batch, graders: Graders) -> dict[str, Receipt]:
    receipts: dict[str, Receipt] = {}
    jobs.grade(of, lambda receipt: receipts.update({receipt.student: receipt}), lambda _: None, count, graders.start)
    return receipts


# -- what travels


def test_a_submission_travels_as_plain_data_and_arrives_as_it_was() -> None:
    odd = Submission(
        "zoë",
        "A, \u202e B\ud800",
        {"layer_norm": HandedIn("layer_norm", "x/\udcff.py", b"\0\xff'''")},
        "ready",
        ("a note",),
        ("ignored.txt",),
        "2",
    )
    chunk = Chunk(Order("week08", 2**31 - 1, "0" * 64), [odd, Submission("nobody")], {"zoë": "why"})
    data = packed(chunk.to_dict())
    pieces = Messages()
    arrived = [message for place in range(0, len(data), 7) for message in pieces.of(data[place : place + 7])]
    assert Chunk.from_dict(arrived[0]) == chunk
    assert len(arrived) == 1
    with pytest.raises(TypeError):
        packed({"code": print})


# -- who gets what


def names(submissions: list[Submission]) -> list[str]:
    return [submission.student for submission in submissions]


@pytest.fixture
def four() -> list[Submission]:
    return [Submission(name) for name in "abcd"]


def test_what_was_under_way_in_a_lost_grader_is_dealt_alone_and_what_was_not_is_dealt_as_before(
    four: list[Submission],
) -> None:
    dealer = Dealer(four)
    dealt = dealer.deal(3, is_idle=True)
    dealer.lost(dealt[:2], dealt[2:], was_killed=False)
    assert names(dealer.deal(3, is_idle=False)) == ["c", "d"]
    assert names(dealer.deal(3, is_idle=True)) == ["a"]
    assert names(dealer.deal(3, is_idle=True)) == ["b"]
    assert dealer.deal(3, is_idle=True) == []
    assert dealer.given_up == {}


@pytest.mark.parametrize(("was_killed", "times"), [(False, 2), (True, 4)])
def test_who_ends_graders_again_and_again_is_left_to_a_human_later_where_they_are_killed(
    four: list[Submission], was_killed: bool, times: int
) -> None:
    dealer = Dealer(four)
    dealer.lost(dealer.deal(4, is_idle=True), (), was_killed)
    for _ in range(times):
        assert dealer.given_up == {}
        alone = dealer.deal(4, is_idle=True)
        while names(alone) != ["a"]:
            alone = dealer.deal(4, is_idle=True)
        dealer.lost(alone, (), was_killed)
    assert list(dealer.given_up) == ["a"]


def test_graders_that_end_before_they_begin_are_given_up_at_some_point() -> None:
    by_themselves, killed = Futility(), Futility()
    for _ in range(3):
        by_themselves.ended(was_killed=False)
        killed.ended(was_killed=True)
    assert by_themselves.is_certain
    assert not killed.is_certain
    by_themselves.is_disproved()
    assert not by_themselves.is_certain


BRITTLE = """
import os, sys
from autograder.cluster.chunks import Chunk, Messages, packed
from autograder.grading.receipt import Receipt

def say(**message):
    os.write(1, packed(message))

messages = Messages()
while piece := os.read(0, 1 << 20):
    for message in messages.of(piece):
        if message is None:
            sys.exit()
        chunk = Chunk.from_dict(message)
        for submission in chunk.submissions:
            name, order = submission.student, chunk.order
            say(started=name)
            if name == "bad" and name not in chunk.given_up:
                os._exit(3)
            work = submission.digest, order.suite_hash, order.kit_version, order.seed
            why = (chunk.given_up.get(name, ""),)
            receipt = Receipt("c", order.assignment, name, None, "graded", *work, "", "full", "", 0.0, notes=why)
            say(receipt=receipt.to_dict())
"""
"""A grader that knows nothing, and ends under one student."""


def test_a_submission_that_ends_its_grader_is_left_to_a_human_and_nobody_else() -> None:
    graders = Graders(("-c", BRITTLE))
    submissions = [Submission(name) for name in ("one", "bad", "two", "three", "four", "five")]
    found = graded_by(1, batch(submissions), graders)
    assert {name for name, receipt in found.items() if receipt.notes != ("",)} == {"bad"}
    assert sorted(found) == sorted(submission.student for submission in submissions)
    assert len(graders.pids) == 4  # in company, twice alone, and one that writes the receipt


def test_graders_that_do_not_start_stop_the_run_with_a_sentence() -> None:
    graders = Graders(("-c", "raise SystemExit(7)"))
    with pytest.raises(GradingError, match="as soon as they are started"):
        graded_by(2, batch([Submission("one")]), graders)


def test_a_fault_of_the_course_stops_the_run_and_scores_nobody() -> None:
    fault = (
        "import os; from autograder.cluster.chunks import packed; os.write(1, packed({'fault': 'no suite'})); input()"
    )
    with pytest.raises(GradingError, match="no suite"):
        graded_by(1, batch([Submission("one")]), Graders(("-c", fault)))


# -- several runs on one store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[str]:
    """Where runs keep their receipts; their graders are brittle ones."""
    url = f"sqlite:///{tmp_path / 'receipts.sqlite'}"
    Store(url).close()
    with patch.object(running.jobs, "grade", partial(jobs.grade, start=Graders(("-c", BRITTLE)).start)):
        yield url


def run_on(store: str, of: Batch) -> list[str]:
    kept: list[Receipt] = []
    with Store(store) as opened:
        where, console = running.Where(2), Console()
        running.grade_waiting(of, list(of.submissions), where, opened, False, None, console, kept.append)
    return sorted(receipt.student for receipt in kept)


def test_two_runs_on_one_store_share_the_class_and_grade_nothing_twice(store: str) -> None:
    of = batch([Submission(f"s{number:02}") for number in range(60)])
    with ThreadPoolExecutor(2) as both:
        tables = list(both.map(lambda _: run_on(store, of), range(2)))
    assert tables == 2 * [[submission.student for submission in of.submissions]]
    with Store(store) as opened:
        assert [len(opened.history(of.assignment.id, student)) for student in tables[0]] == [1] * 60


def test_work_that_a_dead_run_has_claimed_is_taken_over_when_the_claim_has_expired(store: str) -> None:
    of = batch([Submission("one"), Submission("two")])
    order = Order.of(of)
    with Store(store) as opened:
        work = [("one", Submission("one").digest)]
        assert opened.claim(order.assignment, order.suite_hash, order.kit_version, work, "a dead run", 2.0) == {"one"}
    assert run_on(store, of) == ["one", "two"]


# -- what stays


def test_nothing_stays_of_graders_whose_command_is_killed() -> None:
    """Their lifeline is the pipe from the command; so it is for those that have only begun to start."""
    submissions = "[Submission(str(i)) for i in range(9)]"
    code = f"""
from autograder.cluster import jobs
from autograder.intake import Submission
from grading import batch
jobs.grade(batch({submissions}), print, print, 2)
"""
    kit = Path(__file__).parent
    with open(os.devnull, "wb") as nowhere:
        env = {**os.environ, "PYTHONPATH": f"{kit.parents[1]}:{kit}"}
        command = nursery().start(["-c", code], kit, env, "", nowhere.fileno(), 2)
    deadline = time.monotonic() + 60
    while len(family := below(command.pid)) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(family) >= 3
    os.kill(command.pid, signal.SIGKILL)
    assert left_of(set(family)) == set()


# -- the same, whatever happens


RIGHT = "import time\n" + LAYER_NORM.replace("    deviation = ", "    time.sleep(0.02)\n    deviation = ", 1)
"""It takes its time, and so leaves some for kills."""

CLASS = {
    "right": RIGHT,
    "no_eps": RIGHT.replace("variance + eps", "variance"),
    "stub": stub(LAYER_NORM),
    "raises": with_body(LAYER_NORM, "layer_norm", "raise ValueError('no')"),
    "ends": with_body(LAYER_NORM, "layer_norm", "import os; os._exit(0)"),
    "prints": f"print('x' * 100)\n{LAYER_NORM}",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_course(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def everybody(root: Path) -> Batch:
    work = [handed_in(f"{name}{copy}", {"layer_norm": CLASS[name]}) for copy in (1, 2) for name in CLASS]
    return batch(work, root=root)


@pytest.fixture(scope="module")
def undisturbed(everybody: Batch) -> dict[str, Any]:
    return {name: comparable(receipt) for name, receipt in run(everybody).items()}


def test_the_class_holds_work_of_many_kinds(undisturbed: dict[str, Any]) -> None:
    """The control of what is compared below."""
    outcomes = {check["outcome"] for receipt in undisturbed.values() for check in receipt["checks"]}
    assert outcomes == {"passed", "failed", "raised", "stopped", "not attempted"}
    assert len({receipt["earned"] for receipt in undisturbed.values()}) > 2
    assert undisturbed["no_eps1"]["diagnoses"]


def test_order_and_lanes_change_nothing(everybody: Batch, undisturbed: dict[str, Any]) -> None:
    found: dict[str, Any] = {}
    shuffled = replace(everybody, submissions=random.Random(3).sample(list(everybody.submissions), 12))

    def keep(receipt: Receipt) -> None:
        found[receipt.student] = comparable(receipt)

    grade(shuffled, keep, lambda _: None, shared_zygotes(), lanes=1)
    assert found == undisturbed


def test_graders_zygotes_and_workers_that_are_killed_at_random_change_nothing_and_leave_nothing(
    everybody: Batch, undisturbed: dict[str, Any]
) -> None:
    """The small version of tests/bench/chaos.py. Who ends his own process is left out: a kill that comes just then, and
    once more when it is tried again, is told as his doing."""
    everybody = replace(everybody, submissions=[s for s in everybody.submissions if not s.student.startswith("ends")])
    undisturbed = {name: told for name, told in undisturbed.items() if not name.startswith("ends")}
    seed = random.randrange(1000)
    print(f"seed {seed}")
    graders, seen = Graders(), set[int]()

    def victims() -> dict[str, list[int]]:
        family = graders.family()
        seen.update(family)
        kinds = by_kind(family, lambda pid, _: pid in graders.pids)
        return kinds if kinds["worker"] else {}  # in the middle of it

    with Killer(victims, random.Random(seed), pause=0.5, most=2) as killer:
        found = graded_by(2, everybody, graders)
    assert {name: comparable(receipt) for name, receipt in found.items()} == undisturbed
    assert sum(killer.killed.values()) > 0
    assert left_of(seen) == set()


def left_of(pids: set[int], seconds: float = 10) -> set[int]:
    """Those that are still there after a while."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and any(map(is_alive, pids)):
        time.sleep(0.05)
    return {pid for pid in pids if is_alive(pid)}


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
