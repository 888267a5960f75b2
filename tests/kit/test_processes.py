"""No process of a submission survives (case B18), and what is killed from outside costs nobody else a point."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from grading import AFTER, BEFORE, MASKING, batch, edited, grade_class, handed_in, lost, run, solution
from mother import borne

from autograder.intake import Submission
from autograder.sandbox.host.errors import SandboxError
from autograder.sandbox.host.zygote import Zygote
from autograder.sandbox.host.zygotes import PATIENCE, Zygotes
from autograder.sandbox.levels import MECHANISMS
from autograder.sandbox.session import Session

MASKED, NORM = solution("masked_softmax"), solution("layer_norm")
EXERCISES = ("masked_softmax", "layer_norm")
IN_PROC = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc, which is Linux's")

# -- what is left behind


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
        MASKING,
        "    import os, time\n    if os.fork() == 0:\n        open('/proc/self/comm', 'w').write('kit_trust_left')\n"
        "        time.sleep(60)\n        os._exit(0)\n" + MASKING,
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


@IN_PROC
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
    of = batch(submissions, exercises=EXERCISES, limits={"seconds_per_submission": 10})
    with borne():
        begun, known = time.monotonic(), zygotes()
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


# -- what is killed from outside


@pytest.fixture
def killer() -> Iterator[list[threading.Thread]]:
    threads: list[threading.Thread] = []
    yield threads
    for thread in threads:
        thread.join(20)


@IN_PROC
def test_a_killed_zygote_or_worker_costs_no_other_check(killer: list[threading.Thread]) -> None:
    slow = edited(MASKED, MASKING, f"    import time\n    time.sleep(0.5 if scores.shape == (1, 3) else 0)\n{MASKING}")
    students = ["first", "zygote_at_rest", "second", "zygote_at_work", "third", "worker", "last"]
    kills: list[str] = []

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
    of = batch(submissions, exercises=EXERCISES)
    with borne():
        known = zygotes()
        receipts = run(of, started=started, own_zygote=True, without=("namespaces",))
    assert kills == ["zygote_at_rest", "zygote_at_work", "worker"]
    assert list(receipts) == students
    losses = [outcome for receipt in receipts.values() for outcome in lost(receipt).values()]
    assert losses == [], "one killed worker costs nothing: its check runs once more"
    assert zygotes(known) == []


@IN_PROC
def test_workers_in_which_mistakes_wait_to_be_replayed_are_forgotten_with_their_zygote() -> None:
    changes = ("variance", "variance - eps", "variance + 2 * eps", "x.var() + eps", "x.std() + eps", "1 + eps")
    wrong = [{"layer_norm": edited(NORM, "variance + eps", change)} for change in changes]
    of = batch([handed_in(f"s{n}", wrong[n % len(wrong)]) for n in range(12)], exercises=("layer_norm",))

    def started(submission: Submission) -> None:
        if submission.student == "s9":
            os.kill(zygotes(known)[0], signal.SIGKILL)

    with borne(), patch("autograder.grading.schedule.PATIENCE", 1):
        known = zygotes()
        receipts = run(of, started=started, own_zygote=True, without=("namespaces",))
    assert all(receipt.complete for receipt in receipts.values()), "those under way are graded once more, and that does"
    assert any(receipt.diagnoses for receipt in receipts.values())


def test_a_solution_whose_worker_is_ended_is_learnt_from_again() -> None:
    """Without its script a run names no mistake; that a worker was ended must not cost the class its diagnoses."""
    begin_check, ended = Session.begin_check, []

    def ending(session: Session, seed: int) -> None:
        if len(ended) < 4 and session._worker is not None:
            ended.append(session._worker.pid)
            os.kill(session._worker.pid, signal.SIGKILL)
        begin_check(session, seed)

    wrong = handed_in("wrong", {"layer_norm": edited(NORM, "variance + eps", "variance")})
    of = batch([wrong], exercises=("layer_norm",), seed=714)
    with borne(), patch.object(Session, "begin_check", ending):
        receipt = run(of, own_zygote=True, without=("namespaces",))["wrong"]
    assert len(set(ended)) == 4
    assert receipt.diagnoses


class Killed(Zygotes):
    """The first zygotes are killed before they are warm."""

    starts = 0

    def _new(self) -> Zygote:
        zygote = super()._new()
        self.starts += 1
        if self.starts <= 2 * PATIENCE:
            os.kill(zygote._process.pid, signal.SIGKILL)
        return zygote


@pytest.mark.parametrize("without", [(), ("namespaces",)], ids=["in namespaces", "without"])
def test_zygotes_that_are_killed_before_they_are_warm_are_started_anew(without: tuple[str, ...]) -> None:
    with borne(), Killed(without) as zygotes:
        zygotes.begin()
        assert zygotes.get().alive
    assert zygotes.starts == 2 * PATIENCE + 1


def test_a_zygote_that_is_not_needed_any_more_is_not_waited_for() -> None:
    with borne():
        zygote = Zygote()
        zygote.close()
    assert zygote.was_killed


def test_a_zygote_that_ends_by_itself_is_given_up_soon(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    program = tmp_path / "zygote.py"
    program.write_text(f"open({str(starts)!r}, 'a').write('.')\nraise SystemExit(3)\n")
    with patch("autograder.sandbox.host.zygote.PROGRAM", program), Zygotes() as zygotes:
        zygotes.begin()
        with pytest.raises(SandboxError, match="the zygote ended"):
            zygotes.get()
    assert len(starts.read_text()) == PATIENCE


SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1}


@pytest.fixture
def deaf_to_signals() -> Iterator[None]:
    """As under nohup, in the background of a shell, or on a node of `autograder cluster`."""
    heard = {number: signal.signal(number, signal.SIG_IGN) for number in SIGNALS}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    for number, handler in heard.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("deaf_to_signals")
def test_a_worker_takes_signals_also_where_the_grader_does_not() -> None:
    work = {n.name: {"layer_norm": f"import signal\nsignal.raise_signal({n.value})\n{NORM}"} for n in SIGNALS}
    of = batch([handed_in(name, files) for name, files in work.items()], exercises=("layer_norm",))
    for name, receipt in run(of, own_zygote=True).items():
        assert set(lost(receipt).values()) == {"stopped"}, name


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
