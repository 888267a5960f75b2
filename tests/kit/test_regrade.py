"""A regrade shows what it would change before it changes anything, and keeps what people gave."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from command_line import Ran, ask
from example_course import SOLUTION, SUITE, make_course

import autograder.grading.again as again
from autograder import __version__
from autograder.course import load_course
from autograder.grading import GradingError
from autograder.grading.changes import check_changes, reasons
from autograder.grading.receipt import GRADED, CheckResult, Receipt
from autograder.grading.regrade import by_check, compared, plan, to_keep
from autograder.grading.store import Adjustment, Store
from autograder.intake import Submission

NOT_THE_MEANS = """
    if x.shape == (1, 2, 2):
        return x
"""


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three students, graded: `right` has 5 of 5 points, `wrong` 1, `half` 4."""
    folder = make_course(tmp_path_factory.mktemp("regrade"))
    source = (folder / SOLUTION).read_text("utf-8")
    line = "    # TODO: How many rows take part at place t?\n"
    assert source.count(line) == 1
    (folder / "class/half").mkdir()
    (folder / "class/half/running_mean.py").write_text(source.replace(line, NOT_THE_MEANS), "utf-8")
    done = ask("grade", "week08", "class", "--seed", "5", cwd=folder)
    assert points_of(folder) == {"right": 5, "wrong": 1, "half": 4}, done.stdout
    return folder


@pytest.fixture
def course(graded: Path, tmp_path: Path) -> Path:
    """A copy of that class."""
    shutil.copytree(graded, tmp_path / "course")
    return tmp_path / "course"


def receipts_of(course: Path) -> dict[str, list[Receipt]]:
    with Store.in_course(course) as store:
        return {student: store.history("week08", student) for student in ("right", "wrong", "half")}


def points_of(course: Path) -> dict[str, float]:
    return {student: float(receipts[0].earned) for student, receipts in receipts_of(course).items()}


def change_points(course: Path) -> None:
    """`half` gains half a point by this, `wrong` loses as much, `right` keeps all."""
    text = (course / SUITE).read_text("utf-8")
    for old, new in (('points(1, "gives', 'points("1/2", "gives'), ('points(1, "a later', 'points("1/2", "a later'), ('points(2, "right', 'points(3, "right')):  # fmt: skip
        assert text.count(old) == 1
        text = text.replace(old, new)
    (course / SUITE).write_text(text, "utf-8")


def regrade(course: Path, *options: str) -> Ran:
    return ask("regrade", "week08", "class", *options, cwd=course)


def words(text: str) -> str:
    return " ".join(text.split())


def no_grading(*_: Any) -> None:
    raise AssertionError("this was to be known already")


def test_a_regrade_says_who_how_much_which_check_and_why_and_writes_nothing(course: Path) -> None:
    assert "0 of 3 graded again, 3 hold as they are" in regrade(course).stderr
    change_points(course)
    before = receipts_of(course)
    done = regrade(course)
    assert done.returncode == 1
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["wrong", "1", "0.5", "-0.5"] in [line[:4] for line in lines]
    assert ["half", "4", "4.5", "+0.5"] in [line[:4] for line in lines]
    shown = words(done.stdout)
    assert "a later row changes nothing before it: passed (1 of 1) -> passed (0.5 of 0.5)" in shown
    assert "running_mean: right for other sizes 2 -> 3 2 0 +2" in shown  # `right` and `half` gain by it
    assert "right 5" not in shown  # but `right` has the same points in all
    assert "3 of 3 graded again: 1 gains points, 1 loses some" in done.stderr
    assert "why: the checks or the course changed (" in done.stderr
    assert "seed" not in done.stderr
    assert done.stderr.splitlines()[-1] == "nothing was written; the same command with --apply does it"
    assert receipts_of(course) == before


def test_what_was_shown_is_applied_without_grading_a_second_time(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change_points(course)
    told = json.loads(regrade(course, "--json").stdout)
    assert {one["student"]: (one["before"], one["after"]) for one in told["changes"]} == {
        "half": ("4", "9/2"),
        "wrong": ("1", "1/2"),
    }
    assert not told["applied"]
    monkeypatch.setattr(again, "grade", no_grading)
    done = regrade(course, "--apply")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "written: the new results of 3")
    assert points_of(course) == {"right": 5, "wrong": 0.5, "half": 4.5}
    assert [receipt.seed for receipt in receipts_of(course)["wrong"]] == [5, 5]
    assert not list((course / ".autograder").glob("regrade*"))
    assert "0 of 3 graded again, 3 hold as they are" in regrade(course).stderr


def test_what_was_shown_is_not_applied_when_the_checks_changed_since(course: Path) -> None:
    change_points(course)
    regrade(course)
    suite = course / SUITE
    suite.write_text(
        suite.read_text("utf-8").replace('"1/2", "a later', '"1/4", "a later').replace("points(3", 'points("13/4"'),
        "utf-8",
    )
    regrade(course, "--apply")
    assert points_of(course) == {"right": 5, "wrong": 0.25, "half": 4.5}


def test_nobody_is_lowered_who_is_not_to_be_and_later_runs_leave_it_so(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_points(course)
    assert "wrong 1 0.5 -0.5" in words(regrade(course, "--never-lower").stdout)
    done = regrade(course, "--never-lower", "--apply")
    assert "stays at 1 (--never-lower)" in words(done.stdout)
    assert "not lowered (--never-lower): 1" in done.stderr
    assert points_of(course) == {"right": 5, "wrong": 1, "half": 4.5}
    assert [float(receipt.earned) for receipt in receipts_of(course)["wrong"]] == [1, 0.5, 1]
    monkeypatch.setattr(again, "grade", no_grading)
    assert "3 hold as they are" in regrade(course).stderr
    assert "3 unchanged, receipts reused" in ask("grade", "week08", "class", cwd=course).stderr
    assert points_of(course)["wrong"] == 1
    assert "kept at a regrade whose result is lower" in words(ask("history", "wrong", cwd=course).stdout)


def test_points_given_by_hand_stand_and_the_regrade_says_what_they_hide(course: Path) -> None:
    given = ["adjust", "week08", "wrong", "running_mean", "3", "--reason", "oral exam", "--author", "Ada"]
    assert ask(*given, cwd=course).returncode == 0
    change_points(course)
    done = regrade(course, "--apply")
    shown = words(done.stdout)
    assert "wrong 3 3 0" in shown
    assert "running_mean: manual score 3 kept, automatic changed from 1 to 0.5" in shown
    assert "1 gains points, 0 lose some" in done.stderr
    assert ask("show", "wrong", cwd=course).stdout.startswith("wrong: 3 of 5 points")
    taken_back = [*given[:4], "--withdraw", "--reason", "another student", "--author", "Ada"]
    done = ask(*taken_back, cwd=course)
    assert done.stdout == "wrong: running_mean stands at 0.5 of 5 by the checks again (Ada)\n"
    assert ask("show", "wrong", cwd=course).stdout.startswith("wrong: 0.5 of 5 points")
    refused = ask(*taken_back, cwd=course)
    assert refused.returncode == 2
    assert 'autograder: "wrong" has no points by hand for running_mean' in refused.stderr
    for wrong in ([*given, "--withdraw"], [*given[:4], *given[5:]]):
        refused = ask(*wrong, cwd=course)
        assert (refused.returncode, "give either the POINTS, or --withdraw" in refused.stderr) == (2, True)


def test_a_stopped_regrade_changes_nothing_and_goes_on(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change_points(course)
    before, real = receipts_of(course), again.grade
    graded: list[str] = []

    def stopping(batch: Any, finished: Any, *others: Any) -> None:
        def one(receipt: Receipt) -> None:
            finished(receipt)
            graded.append(receipt.student)
            if len(graded) == 1:
                raise KeyboardInterrupt

        real(batch, one, *others)

    monkeypatch.setattr(again, "grade", stopping)
    done = regrade(course, "--apply")
    assert (done.returncode, done.stderr) == (130, "stopped; nothing was changed, the same command goes on\n")
    assert receipts_of(course) == before
    assert regrade(course, "--apply").returncode == 0
    assert sorted(graded) == ["half", "right", "wrong"]
    assert points_of(course) == {"right": 5, "wrong": 0.5, "half": 4.5}


def test_everybody_keeps_their_seed_unless_one_is_given_for_all(course: Path) -> None:
    ask("grade", "week08", "class/half", "--force", "--seed", "6", cwd=course)
    change_points(course)
    regrade(course, "--apply")
    assert {who: receipts[0].seed for who, receipts in receipts_of(course).items()} == {
        "right": 5,
        "wrong": 5,
        "half": 6,
    }
    done = regrade(course, "--seed", "6", "--apply")
    assert "2 of 3 graded again, 1 holds as it is" in done.stderr
    assert "why: seed 5 -> 6, 2 of 2" in done.stderr
    assert {receipts[0].seed for receipts in receipts_of(course).values()} == {6}


def test_work_that_changed_or_is_not_there_is_left_alone_and_named(course: Path) -> None:
    change_points(course)
    file = course / "class/wrong/running_mean.py"
    file.write_text(file.read_text("utf-8") + "\n", "utf-8")
    shutil.copytree(course / "class/right", course / "class/newcomer")
    shutil.rmtree(course / "class/half")
    done = regrade(course, "--apply")
    assert "1 of 1 graded again" in done.stderr
    assert done.stderr.splitlines()[-4:-1] == [
        "never graded yet: newcomer; `autograder grade week08` does it",
        "handed in something else since: wrong; `autograder grade week08` does it",
        "not among the submissions given here: half; what they have stays as it is",
    ]
    assert points_of(course) == {"right": 5, "wrong": 1, "half": 4}


def test_a_file_of_old_results_that_is_damaged_is_begun_anew(course: Path) -> None:
    change_points(course)
    (course / ".autograder/regrade.sqlite").write_bytes(b"this is no database" * 100)
    assert regrade(course, "--apply").returncode == 0
    assert points_of(course)["wrong"] == 0.5


# -- on receipts alone

WORK = Submission("ana")
BASE = load_course(Path(__file__).parents[2]).assignment("week08")


def receipt(*checks: CheckResult, **changed: Any) -> Receipt:
    fields: dict[str, Any] = {
        "course": "c", "assignment": "week08", "student": "ana", "name": None, "status": GRADED,
        "submission_hash": WORK.digest, "suite_hash": "s", "kit_version": __version__, "seed": 1, "torch_version": "2",
        "isolation": "full", "graded_at": "2026-01-01T00:00:00+00:00", "seconds": 0.1, "checks": checks,
    }  # fmt: skip
    return Receipt(**fields | changed)


def check(name: str, outcome: str = "passed", earned: object = 1, **changed: Any) -> CheckResult:
    fields = {"title": f"does {name}", "public": True, "points": Fraction(1), "exercise": "embedding"}
    return CheckResult(f"embedding::{name}", outcome=outcome, earned=Fraction(str(earned)), **fields | changed)


@pytest.mark.parametrize(
    ("changed", "seed", "is_due"),
    [
        ({}, None, False),
        ({}, 1, False),
        ({}, 2, True),
        ({"suite_hash": "t"}, None, True),
        ({"kit_version": "0.0"}, None, True),
        ({"suite_hash": "t", "kept_over": f"s {__version__}"}, None, False),
        ({"suite_hash": "t", "kept_over": f"r {__version__}"}, None, True),
        ({"checks": (check("a", "grader trouble", 0),)}, None, True),
    ],
)
def test_only_what_decides_a_result_makes_a_regrade_due(changed: Any, seed: int | None, is_due: bool) -> None:
    found = plan([WORK], {"ana": receipt(**changed)}, "s", seed)
    assert found.due == ([(WORK, seed or 1)] if is_due else [])
    assert found.unchanged == ([] if is_due else ["ana"])


def test_a_check_is_the_same_under_another_name_if_its_title_is() -> None:
    before = receipt(check("a"), check("b", "failed", 0), check("gone"), check("same"))
    after = receipt(check("a", "failed", 0), check("bb", title="does b"), check("same"), check("new"))
    assert [
        (change.check.id.split("::")[1], change.gain, change.sentence) for change in check_changes(before, after)
    ] == [
        ("a", -1, "passed (1 of 1) -> failed (0 of 1)"),
        ("bb", 1, "failed (0 of 1) -> passed (1 of 1)"),
        ("new", 1, "new: passed (1 of 1)"),
        ("gone", -1, "no longer there, was passed (1 of 1)"),
    ]
    assert check_changes(before, before) == []


def test_reasons_are_all_that_can_decide_a_result() -> None:
    before = receipt(check("a", "grader trouble", 0))
    after = receipt(check("a"), check("b"), suite_hash="t", kit_version="9", seed=2, torch_version="3", isolation="no")
    assert reasons(before, before) == ["the grader was at fault before"]
    assert reasons(before, after) == [
        "the checks or the course changed (s -> t)",
        "points that can be earned: 1 -> 2",
        f"kit {__version__} -> 9",
        "torch 2 -> 3",
        "seed 1 -> 2",
        "isolation full -> no",
        "the grader was at fault before",
    ]
    assert reasons(after, replace(after, submission_hash="x")) == ["something else was handed in"]


def test_a_fault_of_the_grader_keeps_the_last_good_result() -> None:
    before, after = receipt(check("a")), receipt(check("a", "grader trouble", 0))
    one = compared(before, after, [], BASE, never_lower=False)
    assert (one.failed, one.is_different, to_keep([one])) == (True, True, [])


def test_a_lower_result_of_the_checks_is_not_kept_though_points_by_hand_hide_it() -> None:
    """Somebody may withdraw them."""
    before, after = receipt(check("a")), receipt(check("a", "failed", 0), suite_hash="t")
    by_hand = [Adjustment("embedding", Fraction(1), "oral exam", "Ada", "2026-01-02")]
    one = compared(before, after, by_hand, BASE, never_lower=True)
    assert (one.gain, one.is_kept) == (0, True)
    assert to_keep([one]) == [after, replace(before, kept_over=after.judged_by)]
    assert to_keep([compared(before, after, by_hand, BASE, never_lower=False)]) == [after]


def test_points_on_another_scale_cannot_be_lower() -> None:
    before, after = receipt(check("a")), receipt(check("a", points=Fraction(2)))
    with pytest.raises(GradingError, match=r"ana could earn 1 points before and 2 now"):
        compared(before, after, [], BASE, never_lower=True)


def test_when_it_was_handed_in_is_no_change_by_a_regrade() -> None:
    before = receipt(check("a"))
    after = receipt(check("a"), suite_hash="t", handed_in="2027-03-20T00:00:00+00:00")
    one = compared(before, after, [], BASE, never_lower=True)
    assert (one.standing.points, one.new.points, one.is_kept) == (Fraction(1, 2), Fraction(1, 2), False)


def test_checks_are_counted_over_the_class() -> None:
    pairs = [("failed", 0, "passed", 1), ("passed", 1, "failed", 0), ("passed", 1, "timed out", 0)]
    found = [
        compared(receipt(check("a", o, e), check("b")), receipt(check("a", p, f), check("b")), [], BASE, False)
        for o, e, p, f in pairs
    ]
    ((one, gain, lose, points),) = by_check(found)
    assert (one.check.id, gain, lose, points) == ("embedding::a", 1, 2, -1)
