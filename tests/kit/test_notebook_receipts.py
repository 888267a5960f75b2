"""What a workbook asks itself: its receipt, and every command that meets one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import standings
from command_line import Ran, ask
from quiz_course import quiz_bank

from autograder.exports.table import read_table
from autograder.grading.errors import GradingError
from autograder.grading.parts import MODULES, NOTEBOOK, QUIZ, part_of
from autograder.grading.receipt import Receipt
from autograder.grading.score import scores
from autograder.grading.store import Store
from autograder.notebooks.answers import marked
from autograder.notebooks.receipts import marked_answer, receipt_of, unread_answer
from autograder.notebooks.restore import NO_NOTEBOOK
from autograder.quiz.bank import Bank

NAME = "lines/notebook"
WRITTEN = "Two numbers,\n\ttwo \x1b[2Jpoints."
CELLS = {"slope": 6, "line": 4, "quiz-s2_shape": 1, "quiz-s2_name": 1, "explain": 5, "guess": None}


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Bank:
    return quiz_bank(tmp_path_factory.mktemp("bank"))


def receipt(
    bank: Bank,
    student: str = "mira",
    shape: str = "[2]",
    name: str = '"slope"',
    explained: str | None = "Two numbers, two points.",
    mended: Sequence[str] = (),
    worth: int = 5,
    judge: str = "judge",
    handed_in: str | None = None,
) -> Receipt:
    written = {"s2_shape": f"s2_shape = {shape}", "s2_name": f"s2_name = {name}"}
    items = [bank.by_id[item] for item in written]
    answers = [marked_answer(f"quiz-{item.id}", bank, item, marked(bank, item, written)) for item in items]
    answers.append(unread_answer("explain", Fraction(worth), "Why two points?", explained))
    return receipt_of(answers, mended, judge, standings.receipt(student, handed_in=handed_in))


def test_it_says_what_was_written_what_that_earned_and_what_waits(bank: Bank) -> None:
    found = receipt(bank)
    told = [(c.id, c.exercise, c.outcome, c.earned, c.points) for c in found.checks]
    assert told == [
        ("s2_shape", "quiz-s2_shape", "passed", 1, 1),
        ("s2_name", "quiz-s2_name", "failed", 0, 1),
        ("explain", "explain", "waits for a person", 0, 5),
    ]
    assert found.checks[1].message == "Which of the two is the factor?"
    assert found.output == {
        "quiz-s2_shape": "[2]", "quiz-s2_name": "slope", "explain": "Two numbers, two points."
    }  # fmt: skip
    assert [d.name for d in found.diagnoses["quiz-s2_name"]] == ["A slope is added to x"]
    assert (found.assignment, found.complete, found.status) == (NAME, True, "graded")
    assert Receipt.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_an_answer_that_nobody_gave_waits_for_nobody(bank: Bank) -> None:
    found = receipt(bank, name="None", explained=None)
    assert [check.outcome for check in found.checks] == ["passed", "not attempted", "not attempted"]
    assert set(found.output) == {"quiz-s2_shape"}
    assert [score.is_open for score in scores(found)] == [False, False, False]
    assert [score.is_open for score in scores(receipt(bank))] == [False, False, True]


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({}, "graded"),
        ({"shape": "[3]"}, "graded"),
        ({"shape": "'[2,,1]'"}, "needs attention"),
        ({"mended": ["the cell `line` was missing; the released one was put back"]}, "needs attention"),
        ({"mended": [NO_NOTEBOOK], "explained": None}, "not submitted"),
    ],
)
def test_what_a_person_should_look_at_says_so(bank: Bank, changed: dict, status: str) -> None:
    assert receipt(bank, **changed).status == status


def test_hashes_change_with_the_work_and_with_what_judges_it_and_with_nothing_else(bank: Bank) -> None:
    first = receipt(bank)
    assert replace(receipt(bank, handed_in="2027-03-01T10:00:00+00:00"), handed_in=None) == first
    for changed in ({"shape": "[3]"}, {"explained": "No."}, {"explained": None}, {"mended": ["a note"]}):
        other = receipt(bank, **changed)
        assert other.submission_hash != first.submission_hash and other.suite_hash == first.suite_hash, changed
    for changed in ({"worth": 6}, {"judge": "another"}):
        other = receipt(bank, **changed)
        assert other.submission_hash == first.submission_hash and other.suite_hash != first.suite_hash, changed


def test_a_name_of_receipts_says_which_part_it_is_of() -> None:
    assert [part_of(name) for name in ("lines", "lines/quiz", NAME)] == [MODULES, QUIZ, NOTEBOOK]
    for name in ("lines/quizzes", "lines/", "lines/quiz/quiz", "/quiz/"):
        with pytest.raises(GradingError, match="is no part of "):
            part_of(name)


# -- commands


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """mira's explanation waits, noor wrote none, ole has neither notebook nor time."""
    bank = quiz_bank(tmp_path)
    workbook = tmp_path / "solutions/notebooks/lines/lines.ipynb"
    workbook.parent.mkdir(parents=True)
    cells = [{"metadata": {"nbgrader": {"grade_id": name, "points": points}}} for name, points in CELLS.items()]
    workbook.write_text(json.dumps({"cells": [*cells, {"metadata": {}}]}))
    late = "2027-03-09T10:00:00+00:00"
    with Store.in_course(tmp_path) as store:
        store.add_all(
            [
                standings.receipt("mira"),
                receipt(bank, explained=WRITTEN),
                receipt(bank, "noor", explained=None, handed_in=late),
            ]
        )
    return tmp_path


def adjusted(course: Path, cell: str, points: str, name: str = NAME) -> Ran:
    return ask("adjust", name, "mira", cell, points, "--reason", "well put", "--author", "tutor", cwd=course)


def test_a_student_reads_what_waits_and_an_instructor_also_what_was_written(course: Path) -> None:
    assert "10 of 10 points in lines\n" in ask("show", "mira", cwd=course).stdout
    plain = ask("show", "mira", "--assignment", NAME, cwd=course).stdout
    whole = ask("show", "mira", "--assignment", NAME, "--instructor", cwd=course).stdout
    for shown in (plain, whole):
        assert "note: 5 points wait for a person" in shown
        assert "waits for a person" in shown.split("\nexplain  0 of 5\n")[1]
        assert "Which of the two is the factor?" in shown and "A slope is added to x" in shown
    assert "written:\nTwo numbers,\n        two \N{REPLACEMENT CHARACTER}[2Jpoints." in whole and "points." not in plain
    assert json.loads(ask("show", "mira", "--assignment", NAME, "--json", cwd=course).stdout)["final"] == "1"


def test_feedback_on_answers_is_held_back_with_the_hints(course: Path) -> None:
    path = course / "course.yml"
    path.write_text(path.read_text().replace("points: 10\n", "points: 10\n    hint: never\n"))
    shown = ask("show", "mira", "--assignment", NAME, cwd=course).stdout
    assert "Which of the two" not in shown and "A slope is added" not in shown
    assert "hints are given in class" in shown and "waits for a person" in shown


def test_pages_say_that_nobody_has_read_an_answer_yet_and_then_who_did(course: Path) -> None:
    def pages() -> str:
        for command in ("report", "dashboard"):
            done = ask(command, NAME, cwd=course)
            assert done.returncode == 0, done.stderr
        folder = course / "reports/lines_notebook"
        return "\n".join((folder / name).read_text("utf-8") for name in ("students/mira.html", "dashboard.html"))

    before = pages()
    for said in ("Week 1: Lines: questions of the notebook", "not read yet, of 5", "Waits for a person: 1"):
        assert said in before
    assert "5 points are still open: a person reads these answers" in before
    adjusted(course, "explain", "4")
    after = pages()
    for said in ("not read yet", "still open", "Waits for a person: 1", "instead of 0"):
        assert said not in after
    assert "4 of 5 points by hand" in after and "explain 4 by hand" in after


def test_points_that_wait_go_nowhere_until_a_person_gave_them(course: Path) -> None:
    for form, said in (("csv", "is not in the file"), ("moodle", "has no score"), ("junit", "is not in the file")):
        done = ask("export", form, NAME, cwd=course)
        assert (done.returncode, done.stderr) == (
            1,
            f"mira {said}: explain waits for a person; read it in formgrader and `autograder gradebook pull`\n",
        )
    assert [row["student"] for row in read_table((course / "lines_notebook.csv").read_bytes())] == ["noor"]
    assert "mira" not in (course / "lines_notebook_moodle.csv").read_text()
    assert "4 of 5 by hand" in adjusted(course, "explain", "4").stdout
    assert ask("export", "csv", NAME, cwd=course).returncode == 0
    rows = {row["student"]: row for row in read_table((course / "lines_notebook.csv").read_bytes())}
    assert (rows["mira"]["explain"], rows["mira"]["final"], rows["mira"]["possible"]) == ("4", "5", "7")
    assert rows["mira"]["by_hand"] == "explain: well put (tutor)"
    assert (rows["noor"]["raw"], rows["noor"]["late_percent"], rows["noor"]["final"]) == ("1", "10", "0.9")


def test_points_given_by_hand_are_kept_shown_and_taken_back(course: Path) -> None:
    assert adjusted(course, "explain", "4").returncode == 0
    shown = ask("show", "mira", "--assignment", NAME, cwd=course).stdout
    assert "explain  4 of 5, given by tutor: well put" in shown and "5 points wait" not in shown
    how = ("--withdraw", "--reason", "too soon", "--author", "tutor")
    back = ask("adjust", NAME, "mira", "explain", *how, cwd=course)
    assert "explain has no points again, and waits for some" in back.stdout
    told = ask("history", "mira", "--assignment", NAME, cwd=course).stdout
    assert "explain: 4 points by hand by tutor: well put" in told and "points by hand withdrawn" in told


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["export", "classroom", NAME], "classroom is made for the modules; write `autograder export classroom lines`"),
        (["export", "csv", "lines/pictures"], "lines/pictures is no part of lines; there are lines, lines/quiz and"),
        (["report", "lines/quiz"], "there is no receipt for lines/quiz yet"),
        (["regrade", NAME, "."], "only modules are regraded; `autograder nbgrade lines` does lines/notebook again"),
        (
            ["adjust", NAME, "mira", "slope", "1"],
            "slope is no cell with points of lines/notebook; it has quiz-s2_shape,",
        ),
        (["adjust", NAME, "mira", "explain", "6"], "between 0 and 5, the points of explain"),
        (["adjust", NAME, "ole", "explain", "1"], 'no receipt for "ole" in lines/notebook; `autograder nbgrade lines`'),
        (["gradebook", "diff", NAME], '"lines/notebook" is not an assignment of this course; it has lines'),
    ],
)
def test_what_is_not_done_is_one_sentence(course: Path, arguments: list[str], sentence: str) -> None:
    how = ["--reason", "r", "--author", "a"] if arguments[0] == "adjust" else []
    done = ask(*arguments, *how, cwd=course)
    assert done.returncode == 2
    assert sentence in done.stderr and done.stderr.count("\n") == 1


def test_a_workbook_that_cannot_be_read_is_one_sentence(course: Path) -> None:
    (course / "solutions/notebooks/lines/lines.ipynb").write_text("{}")
    done = adjusted(course, "explain", "1")
    assert done.returncode == 2
    assert "solutions/notebooks/lines/lines.ipynb cannot be read; `autograder release lines`" in done.stderr
