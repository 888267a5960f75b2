"""`autograder verify` on the exercise of CONTRIBUTING.md: what holds, and what it says when something does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from example_course import ROOT, SOLUTION, SUITE, make_course
from grading import sharing_zygotes

from autograder.authoring import release
from autograder.cli import main
from autograder.course import CourseFiles, load_course
from autograder.grading.kills import load_kills, unproved
from autograder.proof.page import is_current

MISTAKES = "reference/mistakes/running_mean.yml"


@pytest.fixture(autouse=True)
def _zygotes_are_shared() -> Iterator[None]:
    with sharing_zygotes():
        yield


def verified(root: Path, *options: str) -> tuple[int, str]:
    """Exit code and output of a run with two seeds, after a release."""
    release(CourseFiles(root), load_course(root).assignment("week08"), force=True)
    done = CliRunner().invoke(main, ["--course", str(root), "verify", "week08", "--seeds", "2", *options])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def changed(root: Path, path: str, old: str, new: str) -> None:
    text = (root / path).read_text("utf-8")
    assert old in text
    (root / path).write_text(text.replace(old, new, 1), "utf-8")


def test_the_example_holds_and_its_page_and_kills_are_kept(tmp_path: Path) -> None:
    root = make_course(tmp_path)
    files, assignment = CourseFiles(root), load_course(root).assignment("week08")
    code, said = verified(root)
    assert code == 1 and "docs/kill-matrix-week08.md is not current" in said
    code, said = verified(root, "--write")
    assert code == 0, said
    assert "3 of 3 mistakes are caught (100.0%)." in said
    assert "3 are called by their own name" in said and "1 of 1 other right answers get full marks" in said
    assert is_current(files, assignment)
    kills = load_kills(files, assignment, "running_mean")
    assert kills is not None and set(kills) == {"divides_by_the_length", "counts_from_zero", "adds_up_sequences"}
    assert all(kill.always for kill in kills.values())
    page = (root / "docs/kill-matrix-week08.md").read_text("utf-8")
    assert "| Every place is divided by the length of the sequence | ● |" in page and "| yes + 1 of 1 |" in page
    changed(root, SUITE, "T, C in ((2, 5, 3)", "T, C in ((3, 5, 3)")
    assert not is_current(files, assignment)
    assert load_kills(files, assignment, "running_mean") is None


FAULTS = {
    "a mistake survives": (
        MISTAKES,
        'replace: "return x.cumsum(dim=1) / x.shape[1]"',
        'replace: "return x.cumsum(dim=1) / (counts + 0)"',
        "running_mean mistake divides_by_the_length: survives with seed 1, 2; give a check",
    ),
    "a mistake is caught that is said to survive": (
        MISTAKES,
        "course: Week 8 §1\n    edit: [{find: dim=1",
        "course: Week 8 §1\n    survives: nobody adds up\n    edit: [{find: dim=1",
        "adds_up_sequences: is caught, so that `survives` is wrong",
    ),
    "a right answer is refused": (
        MISTAKES,
        "/ weights.sum(1, keepdim=True)) @ x",
        "/ weights.sum(1, keepdim=True)) @ x.float()",
        "running_mean equivalent with_a_matrix: raised in running_mean::test_keeps_dtype_and_argument",
    ),
    "a right answer comes near the tolerance": (
        MISTAKES,
        "/ weights.sum(1, keepdim=True)) @ x",
        "/ weights.sum(1, keepdim=True)) @ x * (1 + 5e-5)",
        "a right answer takes",
    ),
    "a mistake is caught narrowly": (
        MISTAKES,
        'replace: "return x.cumsum(dim=1) / x.shape[1]"',
        'replace: "return x.cumsum(dim=1) / (counts + 5e-9) if x.dtype == torch.float64 else x.cumsum(1) / counts"',
        "divides_by_the_length: caught at",
    ),
    "a mistake written otherwise is another one": (
        MISTAKES,
        "return sums / x.shape[-2]",
        "return sums / (x.shape[-2] + 3)",
        "0 of 1 mistakes written otherwise are named, fewer than 80%",
    ),
    "a mistake is called what it is not": (
        MISTAKES,
        "return sums / x.shape[-2]",
        "return x.cumsum(dim=0) / torch.arange(1, x.shape[1] + 1, dtype=x.dtype)[:, None]",
        "1 of 1 mistakes written otherwise are called something else, more than 2%",
    ),
    "the solution is wrong": (
        SOLUTION,
        "[:, None]  # [T,1]",
        "[:, None] + 0.5  # [T,1]",
        "solution: failed in running_mean::",
    ),
    "a section does not exist": (SOLUTION, "(Week 8 §1)", "(Week 8 §7)", f"{SOLUTION}:1: week 8 has no section 7"),
    "a section is misspelt": (SUITE, "Week 8 §1", "week 8 section 1", 'write "week 8 section 1" as in "Week 8 §9"'),
    "a hint of the ladder gives a line of the solution away": (
        MISTAKES,
        "return ___ / ___",
        "return x.cumsum(dim=1) / counts",
        "holds a line of the solution of running_mean",
    ),
}


TOGETHER = (
    ["a mistake survives", "a section does not exist", "a section is misspelt"],
    ["a mistake is caught that is said to survive", "a mistake is called what it is not"],
    ["a right answer is refused", "a mistake is caught narrowly", "a mistake written otherwise is another one"],
    ["a right answer comes near the tolerance", "a hint of the ladder gives a line of the solution away"],
    ["the solution is wrong"],
)
"""Faults that do not hide each other are tried in one run."""


@pytest.mark.parametrize("faults", TOGETHER, ids=" and ".join)
def test_what_does_not_hold_is_said(tmp_path: Path, faults: list[str]) -> None:
    root = make_course(tmp_path)
    release(CourseFiles(root), load_course(root).assignment("week08"))
    for fault in faults:
        changed(root, *FAULTS[fault][:3])
    done = CliRunner().invoke(main, ["--course", str(root), "verify", "week08", "--seeds", "2", "--write"])
    assert done.exit_code == 1, done.output
    for fault in faults:
        assert FAULTS[fault][3] in done.output, fault
    assert not (root / "docs").exists(), "nothing is written while something does not hold"


def test_every_fault_is_tried() -> None:
    assert sorted(fault for faults in TOGETHER for fault in faults) == sorted(FAULTS)


def test_a_reason_lets_a_narrow_check_stand(tmp_path: Path) -> None:
    root = make_course(tmp_path)
    changed(root, MISTAKES, "keepdim=True)) @ x", "keepdim=True)) @ x * (1 + 5e-5)")
    for check in ("random_input", "keeps_dtype_and_argument", "no_look_ahead"):
        changed(root, SUITE, f"def test_{check}", f'@pytest.mark.narrow("by a factor near 1")\ndef test_{check}')
    changed(root, SUITE, "dtype=torch.float64)\n    leaves", "dtype=torch.float64, rtol=1e-3)\n    leaves")
    code, said = verified(root, "--write")
    assert code == 0, said
    assert "by a factor near 1" in (root / "docs/kill-matrix-week08.md").read_text("utf-8")


def test_a_missing_file_of_mistakes_is_one_sentence(tmp_path: Path) -> None:
    root = make_course(tmp_path)
    (root / MISTAKES).unlink()
    code, said = verified(root)
    assert code == 2 and said.startswith("autograder: ") and said.rstrip().endswith("running_mean.yml does not exist")


@pytest.mark.parametrize("name", load_course(ROOT).assignments)
def test_the_page_and_the_kills_are_those_of_the_present_sources(name: str) -> None:
    """When this fails: autograder verify ASSIGNMENT --write."""
    files, assignment = CourseFiles(ROOT), load_course(ROOT).assignment(name)
    assert is_current(files, assignment)
    assert unproved(files, assignment) == []
