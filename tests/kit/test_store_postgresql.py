"""A class on PostgreSQL gets what it gets on SQLite, to the byte."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import ask
from postgres import NewDatabase
from test_cases_scoring import BIASED, NORM, class_course, hand_in

from autograder.cli import adjust
from autograder.grading import GradingError, Receipt
from autograder.grading.store import Store


def without_clock(receipt: Receipt) -> Receipt:
    checks = tuple(replace(check, seconds=0.0) for check in receipt.checks)
    return replace(receipt, graded_at="", seconds=0.0, checks=checks)


def test_the_same_class_has_the_same_tables_and_receipts_on_both(tmp_path: Path, postgresql: NewDatabase) -> None:
    course = class_course(tmp_path)
    hand_in(course, "s01", NORM)
    hand_in(course, "s02", BIASED)
    hand_in(course, "s03", "print('\\0 \\ud800')\nraise ValueError('\\0')\n")
    urls = [f"sqlite:///{course / 'its.sqlite'}", postgresql()]

    def grade(url: str, *options: str) -> str:
        done = ask(
            "grade", "week08", "class", "--roster", "roster.csv", "--seed", "1", "--store", url, *options, cwd=course
        )
        assert done.returncode == 1, done.stderr
        return done.stdout

    first, second = (grade(url) for url in urls)
    assert first == second
    assert "s02" in first
    with Store(urls[0]) as one, Store(urls[1]) as other:
        ours = {student: without_clock(receipt) for student, receipt in one.standing_receipts("week08").items()}
        assert ours == {s: without_clock(receipt) for s, receipt in other.standing_receipts("week08").items()}
        assert list(ours) == ["s01", "s02", "s03", "s04", "s05", "s06"]
        moved = postgresql()
        with Store(moved) as copy:
            copy.add_all(one.standing_receipts("week08").values())
    for url in (urls[0], moved):
        adjust.run(course, "week08", "s02", "layer_norm", "9", "oral exam", "R. Marker", url)
    assert grade(urls[0]) == grade(moved)
    assert grade(urls[0], "--json") == grade(moved, "--json")


def test_a_server_that_is_not_there_and_a_missing_driver_are_told_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"postgresql://staff:geheim@/grades?host={tmp_path}"
    with pytest.raises(GradingError, match=r"the receipts at .* cannot be read: .*") as raised:
        Store(url)
    assert "geheim" not in str(raised.value)
    assert "\n" not in str(raised.value)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(GradingError, match=r"pip install 'autograder\[postgresql\]'"):
        Store(url)
