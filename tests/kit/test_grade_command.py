"""`autograder grade` on what instructors really point it at: second thoughts, rosters with gaps, wrong paths."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import ROOT, ask
from nursery import nursery

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
