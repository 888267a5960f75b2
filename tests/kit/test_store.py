"""Receipts survive: exactly, beside manual scores, a damaged file and a process killed in mid-write."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
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
def store(url: str) -> Iterator[Store]:
    with Store(url) as opened:
        yield opened


def test_a_receipt_comes_back_exactly(store: Store, url: str) -> None:
    kept = receipt(earned="10/3")
    store.add(kept)
    with Store(url) as again:
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
    wanted = ("week08", [("s02", "a" * 64)], "b" * 64, "1.0")
    store.add(receipt(**other))
    assert store.reusable_all(*wanted) == {}
    store.add_all([receipt(earned="1"), receipt(earned="2"), receipt("s04")])
    assert store.reusable_all(*wanted) == {"s02": receipt(earned="2")}
    assert store.reusable_all(*wanted, 2**31 - 1) == {"s02": receipt(earned="2")}
    assert store.reusable_all(*wanted, 5) == {}


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
    assert store.all_adjustments("week08") == {"s02": adjustments}
    assert store.all_adjustments("week09") == {}


def test_questions_about_the_class_are_answered_as_those_about_each_student(store: Store) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    students = [f"s{number:03}" for number in range(1, 13)]
    kept = [
        receipt(
            rng.choice(students),
            earned=str(rng.randrange(4)),
            outcome=rng.choice(["passed", "grader trouble"]),
            assignment=rng.choice(["week08", "week08/quiz"]),
            submission_hash=rng.choice("ab") * 64,
        )
        for _ in range(60)
    ]
    store.add_all(kept)
    found = store.standing_receipts("week08")
    assert list(found) == sorted(found)
    assert found == {s: one for s in students if (one := store.standing("week08", s)) is not None}
    for student in students:
        mine = [r for r in kept if (r.assignment, r.student) == ("week08", student)]
        assert store.history("week08", student) == mine[::-1]
        assert found.get(student) == next((r for r in reversed(mine) if r.complete), mine[-1] if mine else None)
    some = rng.sample(students, 4)
    assert store.standing_receipts("week08", some) == {s: r for s, r in found.items() if s in some}
    work = [(student, rng.choice("ab") * 64) for student in students]
    one_by_one = {s: r for one in work for s, r in store.reusable_all("week08", [one], "b" * 64, "1.0").items()}
    assert one_by_one == store.reusable_all("week08", work, "b" * 64, "1.0")


def test_names_with_any_characters_come_back_as_they_were(store: Store) -> None:
    names = [
        'Zoë, "Q"',
        "O'Neil; DROP TABLE receipts;--",
        "=1+1",
        "学生\n%(x)s :y ?",
        "Zoe\u0308",
        "\U0001f600" * 60,
        " ",
    ]
    store.add_all(receipt(name) for name in names)
    for name in names:
        store.adjust("week08", name, Adjustment("layer_norm", Fraction(1), f"because {name}", name, "2027-01-02"))
    assert store.students() == sorted(names) == list(store.standing_receipts("week08"))
    assert {name: given[0].author for name, given in store.all_adjustments("week08").items()} == {n: n for n in names}
    assert store.claim("week08", "b" * 64, "2.0", [(name, "c" * 64) for name in names], "me", 60) == set(names)


@pytest.mark.parametrize("name", ["a\0b", "half \ud83d", "x" * 256])
def test_a_name_that_not_every_database_can_hold_is_refused_with_all_that_came_with_it(store: Store, name: str) -> None:
    with pytest.raises(GradingError, match=r"the student .* cannot be kept"):
        store.add_all([receipt("s01"), receipt(name)])
    assert store.students() == []


def test_receipts_whose_like_stands_already_are_not_kept_again(store: Store) -> None:
    store.add_new([receipt("s01"), receipt("s02")])
    store.add_new([receipt("s01"), receipt("s02", status="needs attention"), receipt("s03", submission_hash="c" * 64)])
    assert [len(store.history("week08", student)) for student in ("s01", "s02", "s03")] == [1, 2, 1]


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


def test_two_graders_can_keep_receipts_at_a_time(url: str) -> None:
    with Store(url) as one, Store(url) as other:
        for number in range(20):
            one.add(receipt(f"a{number}"))
            other.add(receipt(f"b{number}"))
        assert len(one.students()) == len(other.students()) == 40
