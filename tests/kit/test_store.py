"""Receipts survive: exactly, beside manual scores, a damaged file and a process killed in mid-write."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from autograder import __version__
from autograder.course import CourseFiles, load_course
from autograder.grading import CheckResult, GradingError, Receipt
from autograder.grading.hashes import suite_hash
from autograder.grading.receipt import told_by_intake
from autograder.grading.reuse import reusable
from autograder.grading.score import manual_notes, scores
from autograder.grading.store import Adjustment, Store
from autograder.intake import HandedIn, Submission

ROOT = Path(__file__).parents[2]


def receipt(student: str = "s02", *, earned: str = "1", outcome: str = "passed", **changes: Any) -> Receipt:
    checks = (
        CheckResult("layer_norm::test_a", "layer_norm", "a title", True, Fraction("10/3"), outcome, Fraction(earned)),
        CheckResult("layer_norm::test_b", "layer_norm", "äöü 学", False, Fraction(1, 8), "failed", Fraction(0), "said"),
        CheckResult("sampling::test_c", "sampling", "another", True, Fraction(2), "timed out", Fraction(0)),
    )
    fields: dict[str, Any] = {
        "course": "mini_gpt",
        "assignment": "week08",
        "student": student,
        "name": 'Zoë, "Q"\n\u2028',
        "status": "graded",
        "submission_hash": "a" * 64,
        "suite_hash": "b" * 64,
        "kit_version": "1.0",
        "seed": 2**31 - 1,
        "torch_version": "2.13.0",
        "isolation": "process only",
        "graded_at": "2027-01-01T00:00:00+00:00",
        "seconds": 0.25,
        "checks": checks,
        "notes": ("a note", "\x00 and \ud7ff"),
        "reading": ("layer_norm.py: read",),
        "ignored": ("x.txt",),
        "files": {"layer_norm": "layer_norm.py sha256:0"},
        "attempt": None,
        "output": {"layer_norm": "printed\n"},
        "flags": {"layer_norm": ("torch.softmax",)},
    }
    return Receipt(**{**fields, **changes})


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store.in_course(tmp_path) as opened:
        yield opened


def test_a_receipt_comes_back_exactly(store: Store, tmp_path: Path) -> None:
    kept = receipt(earned="10/3")
    store.add(kept)
    with Store.in_course(tmp_path) as again:
        (back,) = again.history("week08", "s02")
    assert back == kept
    assert back.earned == Fraction(10, 3)
    assert back.remarks == (*kept.notes, "layer_norm.py: read")
    assert back.possible == Fraction(10, 3) + Fraction(1, 8) + 2


def test_the_newest_complete_receipt_stands(store: Store) -> None:
    store.add(receipt(earned="1"))
    store.add(receipt(earned="2"))
    store.add(receipt(earned="0", outcome="grader trouble"))
    standing = store.standing("week08", "s02")
    assert standing is not None
    assert standing.earned == 2
    assert [int(r.earned) for r in store.history("week08", "s02")] == [0, 2, 1]
    store.add(receipt("s03", earned="0", outcome="grader trouble"))
    lonely = store.standing("week08", "s03")
    assert lonely is not None
    assert not lonely.complete
    assert store.standing("week08", "nobody") is None


def test_only_modules_decide_whether_a_receipt_holds_and_it_says_what_intake_says_now(store: Store) -> None:
    files, assignment = CourseFiles(ROOT), load_course(ROOT).assignment("week08")

    def handed_in(path: str, content: bytes, **said: Any) -> Submission:
        return Submission("s02", files={"layer_norm": HandedIn("layer_norm", path, content)}, **said)

    before = handed_in("week08/norm.py", b"x = 1", status="ready", notes=("rename it",), ignored=("week08/a.txt",))
    held = {"submission_hash": before.digest, "suite_hash": suite_hash(files, assignment), "kit_version": __version__}
    kept = receipt(**told_by_intake(before), **held, reading=("layer_norm.py: line 1 ...",))
    store.add(kept)
    again = handed_in("layer_norm.py", b"x = 1", status="needs attention", name="Zoë", attempt="2027-01-02")
    (found,) = reusable(store, files, assignment, [again]).values()
    assert found == receipt(**told_by_intake(again), **held, reading=kept.reading)
    assert (found.status, found.notes, found.ignored, found.attempt) == ("needs attention", (), (), "2027-01-02")
    assert found.files["layer_norm"].startswith("layer_norm.py ")
    assert reusable(store, files, assignment, [handed_in("layer_norm.py", b"x = 2", status="ready")]) == {}


@pytest.mark.parametrize(
    "other",
    [
        {"submission_hash": "c" * 64},
        {"suite_hash": "c" * 64},
        {"kit_version": "1.1"},
        {"assignment": "week09"},
        {"student": "s03"},
        {"outcome": "grader trouble"},
    ],
)
def test_a_receipt_is_reused_for_exactly_the_same_work_only(store: Store, other: dict[str, str]) -> None:
    wanted = ("week08", "s02", "a" * 64, "b" * 64, "1.0")
    store.add(receipt(**other))
    assert store.reusable(*wanted, None) is None
    store.add(receipt())
    assert store.reusable(*wanted, None) is not None
    assert store.reusable(*wanted, 2**31 - 1) is not None
    assert store.reusable(*wanted, 5) is None


def test_a_manual_score_survives_every_regrade(store: Store) -> None:
    store.add(receipt(earned="1"))
    before = store.standing("week08", "s02")
    store.adjust("week08", "s02", Adjustment("layer_norm", Fraction("7/3"), "oral exam", "R. Marker", "2027-01-02"))
    store.adjust("week08", "s02", Adjustment("layer_norm", Fraction("8/3"), "second look", "R. Marker", "2027-01-03"))
    store.add(receipt(earned="10/3"))
    now = store.standing("week08", "s02")
    assert now is not None
    adjustments = store.adjustments("week08", "s02")
    by_exercise = {score.exercise: score for score in scores(now, adjustments)}
    assert by_exercise["layer_norm"].points == Fraction(8, 3)
    assert by_exercise["layer_norm"].automatic == Fraction(10, 3)
    assert by_exercise["sampling"].points == 0
    assert [a.reason for a in adjustments] == ["oral exam", "second look"]
    assert manual_notes(now, before, adjustments) == [
        "layer_norm: manual score 2.67 kept, automatic changed from 1 to 3.33"
    ]
    assert manual_notes(now, now, adjustments) == ["layer_norm: manual score 2.67 kept"]
    assert store.adjusted("week08") == {"s02"}


@pytest.mark.parametrize("damage", ["half", "garbage", "header"])
def test_a_damaged_file_is_reported_and_left_as_it_is(tmp_path: Path, damage: str) -> None:
    with Store.in_course(tmp_path) as store:
        for number in range(200):
            store.add(receipt(f"s{number:03}"))
    path = tmp_path / ".autograder/receipts.sqlite"
    content = path.read_bytes()
    path.write_bytes(
        {
            "half": content[: len(content) // 2],
            "garbage": b"this is no database" * 100,
            "header": bytes(100) + content[100:],
        }[damage]
    )
    for leftover in tmp_path.glob(".autograder/receipts.sqlite-*"):
        leftover.unlink()
    broken = path.read_bytes()

    def use() -> None:
        with Store.in_course(tmp_path) as store:
            for number in range(200):
                store.standing("week08", f"s{number:03}")
            store.add(receipt("new"))

    with pytest.raises(GradingError) as raised:
        use()
    assert str(path) in str(raised.value)
    assert "damaged" in str(raised.value)
    assert path.read_bytes() == broken


def test_a_store_of_a_newer_kit_is_refused(tmp_path: Path) -> None:
    Store.in_course(tmp_path).close()
    with sqlite3.connect(tmp_path / ".autograder/receipts.sqlite") as database:
        database.execute("UPDATE kit SET schema = 99")
    with pytest.raises(GradingError, match="upgrade"):
        Store.in_course(tmp_path)


WRITER = """
import sys
sys.path[:0] = [{root!r}, {kit!r}]
from pathlib import Path
from test_store import Store, receipt
with Store.in_course(Path({course!r})) as store:
    for number in range(100_000):
        store.add(receipt(f"{run}_{{number}}"))
        print(number, flush=True)
"""


def test_a_process_killed_in_mid_write_loses_nothing_that_it_kept(tmp_path: Path) -> None:
    for run in ("first", "second"):
        program = WRITER.format(root=str(ROOT), kit=str(Path(__file__).parent), course=str(tmp_path), run=run)
        writer = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        said = [writer.stdout.readline() for _ in range(20)]
        time.sleep(0.05)
        os.kill(writer.pid, signal.SIGKILL)
        said += writer.stdout.read().split("\n")
        writer.wait()
        told = [int(line) for line in said if line.strip().isdigit()]
        assert len(told) >= 20
        with Store.in_course(tmp_path) as store:
            assert set(store.students()) >= {f"{run}_{number}" for number in told[:-1]}
            store.add(receipt("after"))
            assert store.standing("week08", "after") is not None


def test_two_processes_can_keep_receipts_at_a_time(tmp_path: Path) -> None:
    with Store.in_course(tmp_path) as one, Store.in_course(tmp_path) as other:
        for number in range(20):
            one.add(receipt(f"a{number}"))
            other.add(receipt(f"b{number}"))
        assert len(one.students()) == len(other.students()) == 40
