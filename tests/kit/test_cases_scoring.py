"""Points are exact, a batch goes on whatever one hand-in does, and a regrade leaves human work alone."""

from __future__ import annotations

import itertools
import json
import os
import py_compile
import sqlite3
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from grading import ASSIGNMENT, batch, edited, handed_in, run, sharing_zygotes, small_course, solution

from autograder.cli import adjust as adjusting
from autograder.cli import grade as grading
from autograder.grading import GradingError
from autograder.grading.receipt import GRADER_TROUBLE, Receipt, shown
from autograder.grading.score import scores
from autograder.grading.store import Store
from autograder.intake import collect

NORM = solution("layer_norm")
BIASED = NORM.replace("deviation.square().mean(dim=-1, keepdim=True)", "x.var(dim=-1, keepdim=True)")

# -- B28: arithmetic, with a suite in which the students choose what a check yields

SUITE = """
import pytest
from autograder.suite.checking import expect, partial_credit


@pytest.mark.points(4, "a share of four points")
def test_share(student):
    partial_credit(student.share(), "a part of it")


@pytest.mark.points(12.5, "one of seven")
@pytest.mark.parametrize("number", range(7))
def test_seven(student, number):
    expect(student.seven() is True, "not right")


@pytest.mark.points("10/3", "one of three")
@pytest.mark.parametrize("number", range(3))
def test_third(student, number):
    expect(student.third(number) is True, "not right")
"""
GENEROUS = "def share(): return 1\ndef seven(): return True\ndef third(number): return True\n"
SHARES = {
    "zero": ("0", 0),
    "zero_point_zero": ("0.0", 0),
    "half": ("0.5", 2),
    "negative": ("-5 / 4", 0),
    "too_much": ("12 / 10", 4),
    "whole": ("1", 4),
}
NOT_NUMBERS = {"nan": 'float("nan")', "infinity": 'float("inf")', "text": '"3"', "none": "[None][0]", "truth": "True"}


@pytest.fixture(scope="module")
def arithmetic(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Receipt]:
    root = small_course(tmp_path_factory.mktemp("arithmetic"), points="101.5")
    (root / "tests/suites" / ASSIGNMENT / "test_layer_norm.py").write_text(SUITE)
    values = {**{name: value for name, (value, _) in SHARES.items()}, **NOT_NUMBERS}
    work = {name: GENEROUS.replace("return 1\n", f"return {value}\n") for name, value in values.items()}
    work["two_thirds"] = GENEROUS.replace("third(number): return True", "third(number): return number != 1")
    work["nothing"] = "def share(): return 0\ndef seven(): return None\ndef third(number): return 1\n"
    work["all"] = GENEROUS
    return run(batch([handed_in(name, {"layer_norm": source}) for name, source in work.items()], root=root))


def of(receipt: Receipt, check: str) -> list[Fraction]:
    return [c.earned for c in receipt.checks if c.id.startswith(f"layer_norm::{check}")]


@pytest.mark.parametrize(("student", "points"), [(name, points) for name, (_, points) in SHARES.items()])
def test_a_share_is_held_between_nothing_and_the_maximum(
    arithmetic: dict[str, Receipt], student: str, points: int
) -> None:
    assert of(arithmetic[student], "test_share") == [points]
    assert arithmetic[student].complete
    assert arithmetic[student].earned == points + Fraction(195, 2)


@pytest.mark.parametrize("student", NOT_NUMBERS)
def test_a_share_that_is_no_number_is_a_fault_of_the_kit_and_no_zero(
    arithmetic: dict[str, Receipt], student: str
) -> None:
    receipt = arithmetic[student]
    assert [c.outcome for c in receipt.checks].count(GRADER_TROUBLE) == 1
    assert not receipt.complete
    assert GRADER_TROUBLE in receipt.attention()
    assert receipt.earned == Fraction(195, 2)


def test_halves_and_thirds_add_up_exactly(arithmetic: dict[str, Receipt]) -> None:
    assert sum(of(arithmetic["all"], "test_seven")) == Fraction(175, 2)
    assert shown(sum(of(arithmetic["all"], "test_seven"), Fraction(0))) == "87.5"
    assert sum(of(arithmetic["all"], "test_third")) == 10
    assert shown(sum(of(arithmetic["two_thirds"], "test_third"), Fraction(0))) == "6.67"
    assert arithmetic["all"].earned == arithmetic["all"].possible == Fraction(203, 2)
    assert arithmetic["nothing"].earned == 0


def test_the_total_is_the_sum_of_its_parts(arithmetic: dict[str, Receipt]) -> None:
    for receipt in arithmetic.values():
        assert receipt.earned == sum(c.earned for c in receipt.checks)
        assert all(0 <= c.earned <= c.points for c in receipt.checks)
        assert Receipt.from_dict(json.loads(json.dumps(receipt.to_dict()))).earned == receipt.earned


@pytest.mark.parametrize(
    ("points", "text"),
    [("1/8", "0.13"), ("1/3", "0.33"), ("2/3", "0.67"), ("10", "10"), ("0", "0"), ("3/5", "0.6"), ("199/200", "1")],
)
def test_points_are_rounded_half_up_once_where_they_are_shown(points: str, text: str) -> None:
    assert shown(Fraction(points)) == text


# -- B29: one bad hand-in


def hand_in(root: Path, student: str, source: str) -> None:
    folder = root / "class" / student
    folder.mkdir(parents=True)
    (folder / "layer_norm.py").write_text(source)


def class_course(folder: Path) -> Path:
    """The small course, and a roster of a class of six."""
    limits = "{seconds_per_check: 0.5, seconds_per_submission: 5, memory_mb: 2048, output_kb: 16}"
    root = small_course(folder, limits=limits)
    (root / "roster.csv").write_text("student_id,name\n" + "".join(f"s0{i},Student {i}\n" for i in range(1, 7)))
    return root


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return class_course(tmp_path)


def grade_folder(root: Path, *, roster: bool = True) -> int:
    with sharing_zygotes():
        return grading.run(
            course=root,
            assignment=ASSIGNMENT,
            paths=[root / "class"],
            roster=root / "roster.csv" if roster else None,
            store=None,
            seed=1,
            force=False,
            fresh_workers=False,
            as_json=False,
        )


def test_a_class_with_every_kind_of_bad_hand_in_gets_all_its_rows(
    course: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    hand_in(course, "s01", NORM)
    hand_in(course, "s02", f"while True:\n    pass\n{NORM}")
    hand_in(course, "s03", f"raise SystemError('no')\n{NORM}")
    (course / "class/s05/layer_norm.py").mkdir(parents=True)
    hand_in(course, "s06", NORM)
    assert grade_folder(course) == 1
    printed = capfd.readouterr()
    assert "6 of 6 submissions graded" in printed.err
    assert "3 of 6 need attention" in printed.err
    assert "Traceback" not in printed.out + printed.err
    with Store.in_course(course) as store:
        rows = {student: store.standing(ASSIGNMENT, student) for student in store.students()}
    assert list(rows) == ["s01", "s02", "s03", "s04", "s05", "s06"]
    earned = {student: receipt and int(receipt.earned) for student, receipt in rows.items()}
    assert earned == {"s01": 10, "s02": 0, "s03": 10, "s04": 0, "s05": 0, "s06": 10}
    said = {student: receipt.attention() if receipt else [] for student, receipt in rows.items()}
    assert (said["s01"], said["s02"], said["s03"]) == ([], ["timed out"], [])
    assert (said["s04"], said["s05"], said["s06"]) == (["not submitted"], ["unreadable"], [])
    noted = rows["s03"].remarks if rows["s03"] else ()
    assert any("line 1 raised SystemError" in note for note in noted)
    assert all(receipt and receipt.notes for receipt in (rows["s04"], rows["s05"]))


def test_a_store_that_fails_stops_the_run_and_gives_nobody_a_zero(course: Path) -> None:
    """Rows are written as students finish; what cannot be written is an error of the kit."""
    for student in ("s01", "s02", "s03"):
        hand_in(course, student, NORM)
    Store.in_course(course).close()
    is_second = "WHEN (SELECT count(*) FROM receipts) = 1"  # whoever that is: several are graded at a time
    full = f"CREATE TRIGGER full BEFORE INSERT ON receipts {is_second} BEGIN SELECT RAISE(FAIL, 'disk full'); END"
    with sqlite3.connect(course / ".autograder/receipts.sqlite") as database:
        database.execute(full)
    with pytest.raises(GradingError, match="disk full"):
        grade_folder(course, roster=False)
    with Store.in_course(course) as store:
        assert len(store.students()) == 1


# -- B31: regrading


def test_a_regrade_keeps_the_manual_score_and_updates_the_automatic_one(
    course: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (course / "roster.csv").write_text("student_id,name\ns02,\n")
    hand_in(course, "s02", BIASED)
    assert grade_folder(course) == 0
    with Store.in_course(course) as store:
        first = store.standing(ASSIGNMENT, "s02")
    assert first is not None
    assert 0 < first.earned < 9
    adjusting.run(course, ASSIGNMENT, "s02", "layer_norm", "9", "oral exam", "R. Marker", None)

    def stands() -> tuple[Receipt, Fraction, str]:
        with Store.in_course(course) as store:
            receipt = store.standing(ASSIGNMENT, "s02")
            assert receipt is not None
            (adjustment,) = store.adjustments(ASSIGNMENT, "s02")
        (score,) = scores(receipt, [adjustment])
        return receipt, score.points, adjustment.reason

    # (a) the same file again
    assert grade_folder(course) == 0
    receipt, points, reason = stands()
    assert (receipt.earned, points, reason) == (first.earned, 9, "oral exam")

    # (b) a right file
    (course / "class/s02/layer_norm.py").write_text(NORM)
    capfd.readouterr()
    assert grade_folder(course) == 0
    receipt, points, reason = stands()
    assert (receipt.earned, points, reason) == (10, 9, "oral exam")
    changed = f"manual score 9 kept, automatic changed from {shown(first.earned)} to 10"
    assert changed in " ".join(capfd.readouterr().out.split())

    # (c) the grader itself fails
    reference = course / "reference/layer_norm.py"
    right = reference.read_text()
    reference.write_text("raise RuntimeError('the oracle cannot be read')\n")
    with pytest.raises(GradingError, match=r"layer_norm\.py cannot be loaded"):
        grade_folder(course)
    reference.write_text("def layer_norm(*arguments):\n    raise RuntimeError('the oracle is out of order')\n")
    assert grade_folder(course) == 1
    receipt, points, reason = stands()
    assert (receipt.earned, points, reason) == (10, 9, "oral exam")
    assert receipt.complete
    assert GRADER_TROUBLE in capfd.readouterr().out
    reference.write_text(right)

    # (d) other hidden tests
    suite = course / "tests/suites" / ASSIGNMENT / "test_layer_norm.py"
    suite.write_text(suite.read_text().replace("test_uses_population_variance", "test_mean_of_squares"))
    assert grade_folder(course) == 0
    receipt, points, reason = stands()
    assert (receipt.earned, points, reason) == (10, 9, "oral exam")
    assert "layer_norm::test_mean_of_squares" in {c.id for c in receipt.checks}
    with Store.in_course(course) as store:
        history = store.history(ASSIGNMENT, "s02")
    assert [int(r.earned) for r in history if r.complete] == [10, 10, int(first.earned)]
    assert all(r.graded_at for r in history)


# -- B30: stale code


TWIN = edited(NORM, "variance + eps", "variance - eps")  # as long as the right one
UNCHANGED = "def layer_norm(x, gamma, beta, eps=1e-5):\n    return x\n"


def test_every_hand_in_is_graded_with_its_own_code_in_every_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when a compiled copy of an earlier file with the same path, size and time lies beside it."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    root = small_course(tmp_path)
    path = root / "class/s02/layer_norm.py"
    path.parent.mkdir(parents=True)
    orders = list(itertools.permutations({"right": NORM, "twin": TWIN, "unchanged": UNCHANGED}.items()))
    submissions = []
    for number, order in enumerate(orders):
        for name, source in order:
            path.write_text(source)
            os.utime(path, (1_700_000_000, 1_700_000_000))
            py_compile.compile(str(path), doraise=True)
            (submission,) = collect([path.parent], ["layer_norm"], ASSIGNMENT)
            submissions.append(replace(submission, student=f"{name}_{number}"))
    assert len(NORM) == len(TWIN)
    receipts = run(batch(submissions, root=root))
    for name in ("right", "twin", "unchanged"):
        found = {tuple(c.outcome for c in receipts[f"{name}_{i}"].checks) for i in range(len(orders))}
        assert len(found) == 1, name
    assert receipts["right_0"].earned == 10
    assert 0 < receipts["twin_0"].earned < 10
    assert receipts["unchanged_0"].earned == 0
