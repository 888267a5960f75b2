"""`autograder grade` on what instructors really point it at: second thoughts, rosters with gaps, wrong paths."""

from __future__ import annotations

import gc
import json
import shutil
import subprocess
import weakref
from fractions import Fraction
from pathlib import Path

import pytest
from command_line import ROOT, ask
from nursery import nursery
from standings import assignment, receipt

from autograder.cli import grade
from autograder.grading.final import final_scores
from autograder.grading.store import Adjustment, Store
from autograder.reports.terminal import Row

SOLUTIONS = ROOT / "solutions" / "week08"


@pytest.fixture
def hand_in(tmp_path: Path) -> Path:
    """A class folder with one student, who handed in layer_norm."""
    folder = tmp_path / "class" / "ana"
    folder.mkdir(parents=True)
    shutil.copy(SOLUTIONS / "layer_norm.py", folder)
    return folder


def mark(store: str) -> str:
    return json.loads(ask("show", "ana", "--json", "--store", store, cwd=ROOT).stdout)["earned"]


def test_work_that_is_handed_in_again_stands_again(hand_in, tmp_path):
    store = f"sqlite:///{tmp_path / 'receipts.sqlite'}"
    right = (hand_in / "layer_norm.py").read_text("utf-8")
    marks = []
    for source in (right, "def layer_norm(x, gamma, beta, eps=1e-5):\n    return x\n", right):
        (hand_in / "layer_norm.py").write_text(source, "utf-8")
        ran = ask("grade", "week08", hand_in.parent, "--store", store, cwd=ROOT)
        marks.append(mark(store))
    assert "receipts reused" in ran.stderr
    assert marks[0] == marks[2] == "10" != marks[1]


def test_who_is_not_in_the_roster_is_named_and_keeps_the_mark(hand_in, tmp_path):
    store = f"sqlite:///{tmp_path / 'receipts.sqlite'}"
    assert ask("grade", "week08", hand_in.parent, "--store", store, cwd=ROOT).returncode == 0
    roster = tmp_path / "roster.csv"
    roster.write_text("student_id,name\nben,Ben\n", "utf-8")
    ran = ask("grade", "week08", hand_in.parent, "--store", store, "--roster", roster, cwd=ROOT)
    assert ran.returncode == 1
    assert "ana is not in the roster" in ran.stdout
    assert mark(store) == "10"
    ran = ask("grade", "week08", hand_in.parent, "--store", store, "--roster", roster, "--json", cwd=ROOT)
    assert [receipt["student"] for receipt in json.loads(ran.stdout)] == ["ben"]
    assert "ana is not in the roster" in ran.stderr


@pytest.mark.parametrize("option", [[], ["--force"]])
def test_who_hands_in_nothing_this_time_keeps_what_stands(hand_in, tmp_path, option):
    """Late-comers are graded with the roster of the whole class."""
    store = f"sqlite:///{tmp_path / 'receipts.sqlite'}"
    assert ask("grade", "week08", hand_in.parent, "--store", store, cwd=ROOT).returncode == 0
    roster = tmp_path / "roster.csv"
    roster.write_text("student_id,name\nana,Ana\nben,Ben\ncem,Cem\n", "utf-8")
    hand_in.rename(hand_in.parent / "ben")
    ran = ask("grade", "week08", hand_in.parent, "--store", store, "--roster", roster, "--json", *option, cwd=ROOT)
    told = {receipt["student"]: (receipt["earned"], receipt["status"]) for receipt in json.loads(ran.stdout)}
    assert told == {"ana": ("10", "graded"), "ben": ("10", "graded"), "cem": ("0", "not submitted")}
    assert "nothing was handed in now for ana; what they have stays" in ran.stderr
    assert mark(store) == "10"


def test_a_class_is_looked_up_in_portions_and_told_in_order(hand_in, tmp_path, monkeypatch):
    monkeypatch.setattr(grade, "AT_ONCE", 2)
    names = ["ana", "ben", "cem", "dan", "eva"]
    for name in names[1:]:
        shutil.copytree(hand_in, hand_in.parent / name)
    (hand_in.parent / "cem/layer_norm.py").write_text("1/0\n", "utf-8")
    command = ("grade", "week08", hand_in.parent, "--store", f"sqlite:///{tmp_path / 'receipts.sqlite'}")
    first = ask(*command, cwd=ROOT)
    (hand_in.parent / "dan/layer_norm.py").write_text("2/0\n", "utf-8")
    table, again = ask(*command, cwd=ROOT), ask(*command, "--json", cwd=ROOT)
    assert "(4 unchanged, receipts reused)" in table.stderr and "(5 unchanged" in again.stderr
    told = {receipt["student"]: receipt["earned"] for receipt in json.loads(again.stdout)}
    assert list(told) == names and [name for name in names if told[name] == "10"] == ["ana", "ben", "eva"]
    for ran in (first, table):
        assert [line.split()[0] for line in ran.stdout.splitlines() if line.split()[:1] and line.split()[0] in names][
            :5
        ] == names


def test_points_that_a_person_gives_while_others_are_graded_are_told(hand_in, tmp_path, monkeypatch):
    given, add_all = Adjustment("layer_norm", Fraction(2), "talked", "ada", "2026-01-01T00:00:00+00:00"), Store.add_all

    def add_and_adjust(self, new):
        kept = list(new)
        add_all(self, kept)
        if kept:
            self.adjust("week08", "ana", given)

    monkeypatch.setattr(Store, "add_all", add_and_adjust)
    ran = ask("grade", "week08", hand_in.parent, "--store", f"sqlite:///{tmp_path / 'receipts.sqlite'}", cwd=ROOT)
    assert "layer_norm: manual score 2 kept" in ran.stdout
    assert next(line for line in ran.stdout.splitlines() if line.startswith(" ana")).split()[-2:] == ["2", "note"]


def test_a_scheduler_with_tls_takes_keys(hand_in):
    ran = ask("grade", "week08", hand_in.parent, "--scheduler", "tls://127.0.0.1:1", cwd=ROOT)
    assert ran.returncode == 2
    assert "tls:// takes --tls-ca-file, --tls-cert and --tls-key" in ran.stderr


def test_a_row_of_the_table_does_not_keep_its_receipt(tmp_path):
    """Those of a class of ten thousand are a gigabyte."""
    whole = receipt("ana")
    row = Row.of(whole, final_scores(whole, [], assignment(tmp_path)), [])
    alive = weakref.ref(whole)
    del whole
    gc.collect()
    assert row.student == "ana" and alive() is None


@pytest.mark.parametrize(
    ("path", "sentence"),
    [("README.md", "holds no submission"), (".", "holds the course itself"), ("..", "holds the course itself")],
)
def test_path_that_holds_no_submission_is_refused(path, sentence):
    ran = ask("grade", "week08", path, cwd=ROOT)
    assert ran.returncode == 2
    assert sentence in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("option", ["--submission=/nowhere", "--submission=data/sample_class"])
def test_plain_pytest_says_in_one_sentence_what_is_wrong_with_a_submission(option):
    ran = nursery().run("-m", "pytest", "-q", "tests/suites/week08/test_layer_norm.py", option)
    assert ran.returncode == 4
    assert "INTERNALERROR" not in ran.stdout + ran.stderr


def test_no_grades_are_kept_in_the_repository():
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    ran = subprocess.run(["git", "ls-files", ".autograder"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout == ""
