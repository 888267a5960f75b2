"""nbgrader's gradebook and what the workbook itself asks: answers that are marked, and words that a person reads."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path

import pytest
from command_line import ask
from nbgrader.api import Gradebook

from autograder.course import Assignment
from autograder.grading.errors import GradingError
from autograder.grading.receipt import CheckResult, Receipt
from autograder.grading.store import Adjustment, Store
from autograder.notebooks import gradebook as book
from autograder.notebooks.receipts import Answer, receipt_of, unread_answer

CELLS = {"quiz-rows": 2, "explain": 5}


@pytest.fixture
def asked(theirs: Gradebook, store: Store, receipts: list) -> Gradebook:
    """The gradebook of a workbook with a question and an explanation, and receipts of both."""
    theirs.update_or_create_assignment("week08")
    theirs.update_or_create_notebook("week08", "week08")
    for name, points in {"layer_norm": 10, **CELLS}.items():
        theirs.update_or_create_grade_cell(name, "week08", "week08", max_score=points, cell_type="code")
        theirs.update_or_create_source_cell(name, "week08", "week08", cell_type="code", source="")
    for name in ("answer-rows", "explain"):
        theirs.update_or_create_solution_cell(name, "week08", "week08")
    for modules in receipts:
        store.add(notebook_receipt(modules))
    return theirs


def notebook_receipt(modules: Receipt, earned: str = "3/2", worth: int = 2) -> Receipt:
    """Of a question in part right, and an explanation, which neil did not write."""
    check = CheckResult("rows", "quiz-rows", "How many?", True, Fraction(worth), "partly", Fraction(earned))
    written = None if modules.student == "o, 'neil" else "Because."
    answers = [Answer(check, "rows = 3"), unread_answer("explain", Fraction(5), "Why?", written)]
    return receipt_of(answers, (), "judge", modules)


def cell_of(theirs: Gradebook, student: str, name: str) -> object:
    return theirs.find_grade(name, "week08", "week08", student)


def scored(theirs: Gradebook, student: str, name: str) -> tuple:
    grade = cell_of(theirs, student, name)
    return grade.auto_score, grade.manual_score, grade.needs_manual_grade


def type_in(theirs: Gradebook, student: str, comment: str = "", **scores: float) -> None:
    """As formgrader keeps what a person types: a comment stands at the cell that students write in."""
    for name, points in scores.items():
        cell_of(theirs, student, name.replace("__", "-")).manual_score = points
    for place in ("explain", "answer-rows"):
        theirs.find_comment(place, "week08", "week08", student).manual_comment = comment
    theirs.db.commit()


def test_points_of_answers_are_pushed_and_what_waits_for_a_person_goes_on_waiting(
    asked: Gradebook, store: Store, assignment: Assignment
) -> None:
    found = book.entries(asked, store, assignment)
    assert {e.exercise for e in found if e.student == "ana" and e.differs} == {"layer_norm", "quiz-rows"}
    assert book.push(asked, assignment, found) == 3 + 3 + 1
    assert scored(asked, "ana", "quiz-rows") == (1.5, None, False)
    assert scored(asked, "ana", "explain") == (None, None, True)
    assert scored(asked, "o, 'neil", "explain") == (0, None, False)
    again = book.entries(asked, store, assignment)
    assert not any(entry.differs for entry in again)
    assert book.push(asked, assignment, again) == 0


def test_scores_typed_for_answers_come_here_with_the_words_beside_them(
    asked: Gradebook, store: Store, assignment: Assignment
) -> None:
    book.push(asked, assignment, book.entries(asked, store, assignment))
    type_in(asked, "ana", "Good.\n\tWhich weights?\x1b[31m", explain=4, quiz__rows=2)
    found = book.entries(asked, store, assignment)
    assert [(e.student, e.exercise) for e in found if e.differs] == [("ana", "quiz-rows"), ("ana", "explain")]
    assert len(book.pull(store, found)) == 2
    words = "score typed in formgrader: Good. Which weights?\N{REPLACEMENT CHARACTER}[31m"
    kept = {a.exercise: (a.points, a.reason, a.author) for a in store.adjustments("week08/notebook", "ana")}
    assert kept == {"quiz-rows": (2, words, "formgrader"), "explain": (4, words, "formgrader")}
    assert store.adjustments("week08", "ana") == []
    again = book.entries(asked, store, assignment)
    assert not any(entry.differs for entry in again) and book.pull(store, again) == []
    book.push(asked, assignment, again)
    assert scored(asked, "ana", "explain")[:2] == (None, 4)


def test_words_that_changed_are_pulled_again_in_one_line_that_tables_can_show(
    asked: Gradebook, store: Store, assignment: Assignment
) -> None:
    book.push(asked, assignment, book.entries(asked, store, assignment))
    for comment in ("", "x" * 5000, "=1+1"):
        type_in(asked, "ana", comment, explain=4)
        assert len(book.pull(store, book.entries(asked, store, assignment))) == 1
    reasons = [adjustment.reason for adjustment in store.adjustments("week08/notebook", "ana")]
    assert reasons[0] == "score typed in formgrader" and reasons[2] == "score typed in formgrader: =1+1"
    assert reasons[1].endswith("x…") and len(reasons[1]) == len("score typed in formgrader: ") + 200
    store.adjust("week08/notebook", "ana", Adjustment("explain", Fraction(4), "as typed", "prof", "2026-11-30T00:00"))
    assert book.pull(store, book.entries(asked, store, assignment)) == []


def test_points_given_here_for_an_answer_are_pushed_but_over_no_typed_score(
    asked: Gradebook, store: Store, assignment: Assignment
) -> None:
    book.push(asked, assignment, book.entries(asked, store, assignment))
    type_in(asked, "=ben", explain=1)
    for student in ("ana", "=ben"):
        given = Adjustment("explain", Fraction(4), "well put", "prof", "2026-11-30T00:00:00+00:00")
        store.adjust("week08/notebook", student, given)
    assert book.push(asked, assignment, book.entries(asked, store, assignment)) == 1
    assert scored(asked, "ana", "explain") == (None, 4, False)
    assert scored(asked, "=ben", "explain")[:2] == (None, 1)


def test_what_somebody_has_to_look_at_is_still_to_be_looked_at_after_a_push(
    asked: Gradebook, store: Store, assignment: Assignment, receipts: list
) -> None:
    """As an answer that could not be read, which nbgrader's run has left to a person."""
    book.push(asked, assignment, book.entries(asked, store, assignment))
    cell_of(asked, "ana", "quiz-rows").needs_manual_grade = True
    asked.db.commit()
    store.add(notebook_receipt(receipts[0], "1"))
    assert book.push(asked, assignment, book.entries(asked, store, assignment)) == 1
    assert scored(asked, "ana", "quiz-rows") == (1, None, True)


def test_a_cell_with_points_that_came_after_the_submissions_gets_its_grades(
    asked: Gradebook, store: Store, assignment: Assignment
) -> None:
    for student in ("ana", "o, 'neil"):
        asked.update_or_create_student(student)
        submission = asked.update_or_create_submission("week08", student)
        for grade in [g for n in submission.notebooks for g in n.grades]:
            asked.db.delete(grade)
    asked.db.commit()
    book.push(asked, assignment, book.entries(asked, store, assignment))
    assert scored(asked, "ana", "quiz-rows") == (1.5, None, False)
    assert scored(asked, "ana", "explain") == (None, None, True)
    assert scored(asked, "o, 'neil", "explain") == (0, None, False)


def test_points_of_a_cell_that_the_workbook_has_no_more_are_left_out(
    asked: Gradebook, store: Store, assignment: Assignment
) -> None:
    asked.db.delete(asked.find_grade_cell("quiz-rows", "week08", "week08"))
    asked.db.commit()
    found = book.entries(asked, store, assignment)
    assert {entry.exercise for entry in found} == {"layer_norm", "explain"}
    book.push(asked, assignment, found)
    assert {cell.name for cell in asked.find_notebook("week08", "week08").grade_cells} == {"layer_norm", "explain"}


def test_a_gradebook_made_anew_gets_the_answers_back(
    theirs: Gradebook, store: Store, assignment: Assignment, receipts: list
) -> None:
    store.add(notebook_receipt(receipts[0]))
    book.push(theirs, assignment, book.entries(theirs, store, assignment))
    assert scored(theirs, "ana", "quiz-rows") == (1.5, None, False)
    assert theirs.find_assignment("week08").max_score == 10 + 2 + 5


def test_a_cell_of_other_points_than_the_receipts_is_refused_and_nothing_is_written(
    asked: Gradebook, store: Store, assignment: Assignment, receipts: list
) -> None:
    store.add(notebook_receipt(receipts[0], "3", worth=3))
    sentence = "ana: quiz-rows is worth 3 points here and 2 in the gradebook; run `nbgrader generate_assignment week08`"
    with pytest.raises(GradingError, match=sentence):
        book.push(asked, assignment, book.entries(asked, store, assignment))
    assert asked.students == []


def test_a_typed_score_above_the_points_of_its_cell_is_refused(
    asked: Gradebook, store: Store, assignment: Assignment
) -> None:
    book.push(asked, assignment, book.entries(asked, store, assignment))
    type_in(asked, "ana", explain=6)
    with pytest.raises(GradingError, match="formgrader has 6 points for explain of ana, which is worth 5; correct it"):
        book.pull(store, book.entries(asked, store, assignment))
    assert store.adjustments("week08/notebook", "ana") == []


def test_an_answer_that_nobody_has_read_is_no_0_in_the_csv(
    asked: Gradebook, store: Store, assignment: Assignment, tmp_path: Path
) -> None:
    book.push(asked, assignment, book.entries(asked, store, assignment))
    book.write_csv(asked, assignment, tmp_path / "grades.csv")
    with (tmp_path / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert [(row["explain"], row["needs_manual_grade"]) for row in rows.values()] == [
        ("", "yes"), ("", "yes"), ("0", "no"),
    ]  # fmt: skip
    assert {row["quiz-rows"] for row in rows.values()} == {"1.5"}


def test_the_commands_carry_answers_too(course: Path, asked: Gradebook, store: Store) -> None:
    assert ask("gradebook", "diff", "week08", cwd=course).returncode == 1
    assert "of 9 grades in nbgrader's gradebook changed" in ask("gradebook", "push", "week08", cwd=course).stdout
    assert "all 9 grades agree" in ask("gradebook", "diff", "week08", cwd=course).stdout
    asked.db.expire_all()
    type_in(asked, "ana", "[bold]Good", explain=4)
    shown = ask("gradebook", "diff", "week08", cwd=course).stdout
    assert "waits for a person" in shown and "1 of 9 grades differ" in shown
    pulled = ask("gradebook", "pull", "week08", cwd=course).stdout
    assert "ana: explain stands at 4 by hand (score typed in formgrader: [bold]Good)" in pulled
    told = ask("show", "ana", "--assignment", "week08/notebook", cwd=course).stdout
    assert "explain  4 of 5, given by formgrader: score typed in formgrader: [bold]Good" in told
