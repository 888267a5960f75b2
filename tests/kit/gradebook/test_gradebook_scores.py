"""nbgrader's gradebook beside our receipts: nothing that a person typed is lost, and nothing false gets in."""

from __future__ import annotations

import csv
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from grading import have_empty_gradebook
from nbgrader.api import Gradebook

from autograder.course import Assignment, load_course
from autograder.grading.errors import GradingError
from autograder.grading.store import Adjustment, Store
from autograder.notebooks import gradebook as book


def grade_of(theirs: Gradebook, student: str) -> object:
    return theirs.find_grade("layer_norm", "week08", "week08", student)


def test_scores_are_pushed_once_and_then_agree(theirs: Gradebook, store: Store, assignment: Assignment) -> None:
    found = book.entries(theirs, store, assignment)
    assert all(entry.differs for entry in found)
    assert book.push(theirs, assignment, found) == 3
    again = book.entries(theirs, store, assignment)
    assert not any(entry.differs for entry in again)
    assert book.push(theirs, assignment, again) == 0
    points = {e.student: e.theirs for e in again}
    assert points["ana"] == 10
    assert points["=ben"] < 2
    assert points["o, 'neil"] == 0
    assert not any(s.needs_manual_grade for s in theirs.assignment_submissions("week08"))


def test_a_score_typed_in_formgrader_survives_a_push_and_is_pulled_as_an_adjustment(
    theirs: Gradebook, store: Store, assignment: Assignment
) -> None:
    book.push(theirs, assignment, book.entries(theirs, store, assignment))
    grade_of(theirs, "=ben").manual_score = 6.1
    theirs.db.commit()
    found = book.entries(theirs, store, assignment)
    assert [entry.student for entry in found if entry.differs] == ["=ben"]
    book.push(theirs, assignment, found)
    assert grade_of(theirs, "=ben").manual_score == 6.1
    assert [entry.student for entry in book.pull(store, found)] == ["=ben"]
    (kept,) = store.adjustments("week08", "=ben")
    assert (kept.points, kept.author) == (Fraction(61, 10), book.FORMGRADER)
    now = book.entries(theirs, store, assignment)
    assert not any(entry.differs for entry in now)
    assert book.pull(store, now) == []


def test_a_score_typed_with_many_digits_is_pulled_once(theirs: Gradebook, store: Store, assignment: Assignment) -> None:
    book.push(theirs, assignment, book.entries(theirs, store, assignment))
    grade_of(theirs, "ana").manual_score = 5.0000004
    theirs.db.commit()
    assert len(book.pull(store, book.entries(theirs, store, assignment))) == 1
    found = book.entries(theirs, store, assignment)
    assert not any(entry.differs for entry in found)
    assert book.pull(store, found) == []


def test_what_was_pushed_is_there_for_others_and_a_typed_score_goes_before_an_adjustment(
    course: Path, theirs: Gradebook, store: Store, assignment: Assignment
) -> None:
    book.push(theirs, assignment, book.entries(theirs, store, assignment))
    grade_of(theirs, "ana").manual_score = 3
    theirs.db.commit()
    moment = "2026-11-30T00:00:00+00:00"
    store.adjust("week08", "ana", Adjustment("layer_norm", Fraction(7), "shared code", "prof", moment))
    store.adjust("week08", "o, 'neil", Adjustment("layer_norm", Fraction(5), "oral", "prof", moment))
    book.push(theirs, assignment, book.entries(theirs, store, assignment))
    with book.opened(course, load_course(course)) as again:
        assert (grade_of(again, "ana").score, grade_of(again, "o, 'neil").score) == (3, 5)


def test_an_adjustment_of_ours_is_pushed_as_a_manual_score(
    theirs: Gradebook, store: Store, assignment: Assignment
) -> None:
    store.adjust(
        "week08", "ana", Adjustment("layer_norm", Fraction(7), "shared code", "prof", "2026-11-30T00:00:00+00:00")
    )
    book.push(theirs, assignment, book.entries(theirs, store, assignment))
    grade = grade_of(theirs, "ana")
    assert (grade.auto_score, grade.manual_score, grade.score) == (10, 7, 7)


@pytest.mark.parametrize("author", ["teacher", book.FORMGRADER])
def test_a_score_that_was_withdrawn_here_goes_from_the_gradebook_and_does_not_come_back(
    theirs: Gradebook, store: Store, assignment: Assignment, author: str
) -> None:
    given = Adjustment("layer_norm", Fraction(7), "an explanation", author, "2026-11-28T12:00:00+00:00")
    store.adjust("week08", "=ben", given)
    book.push(theirs, assignment, book.entries(theirs, store, assignment))
    assert grade_of(theirs, "=ben").manual_score == 7
    store.adjust("week08", "=ben", replace(given, points=Fraction(0), withdrawn=True))
    found = book.entries(theirs, store, assignment)
    assert [entry.student for entry in found if entry.differs] == ["=ben"]
    assert book.pull(store, found) == []
    assert book.push(theirs, assignment, found) == 1
    assert grade_of(theirs, "=ben").manual_score is None
    assert not any(entry.differs for entry in book.entries(theirs, store, assignment))
    grade_of(theirs, "=ben").manual_score = 3
    assert [entry.student for entry in book.pull(store, book.entries(theirs, store, assignment))] == ["=ben"]


def test_a_cell_that_was_added_after_the_submissions_gets_its_grades(
    theirs: Gradebook, store: Store, assignment: Assignment
) -> None:
    theirs.update_or_create_assignment("week08")
    theirs.update_or_create_notebook("week08", "week08")
    theirs.update_or_create_student("ana")
    theirs.update_or_create_submission("week08", "ana")
    book.push(theirs, assignment, book.entries(theirs, store, assignment))
    assert grade_of(theirs, "ana").score == 10


@pytest.mark.parametrize("points", [Fraction(-1), Fraction(11)])
def test_a_score_of_ours_that_cannot_be_is_refused_and_nothing_is_written(
    theirs: Gradebook, store: Store, assignment: Assignment, points: Fraction
) -> None:
    """nbgrader would keep 11 of 10 points."""
    *others, last = book.entries(theirs, store, assignment)
    wrong = replace(last, ours=replace(last.ours, automatic=points))
    with pytest.raises(GradingError, match=f"o, 'neil: layer_norm has {points} of 10 points"):
        book.push(theirs, assignment, [*others, wrong])
    assert theirs.students == [] and theirs.assignments == []


def test_only_who_has_a_receipt_of_the_assignment_has_an_entry(
    theirs: Gradebook, store: Store, assignment: Assignment, receipts: list
) -> None:
    store.add(replace(receipts[0], student="zoe", assignment="names_lab"))
    assert [entry.student for entry in book.entries(theirs, store, assignment)] == sorted(r.student for r in receipts)


@pytest.mark.parametrize("typed", [11.0, -1.0, float("inf")])
def test_a_typed_score_that_cannot_be_is_refused_in_one_sentence(
    theirs: Gradebook, store: Store, assignment: Assignment, typed: float
) -> None:
    book.push(theirs, assignment, book.entries(theirs, store, assignment))
    grade_of(theirs, "ana").manual_score = typed
    theirs.db.commit()
    with pytest.raises(GradingError, match="points for layer_norm of ana, which is worth 10; correct it there"):
        book.pull(store, book.entries(theirs, store, assignment))
    assert store.adjustments("week08", "ana") == []


def test_the_csv_is_quoted_and_no_id_becomes_a_formula(
    theirs: Gradebook, store: Store, assignment: Assignment, tmp_path: Path
) -> None:
    theirs.update_or_create_assignment("week08")
    theirs.update_or_create_notebook("week08", "week08")
    theirs.update_or_create_grade_cell("=written", "week08", "week08", max_score=5, cell_type="markdown")
    book.push(theirs, assignment, book.entries(theirs, store, assignment))
    theirs.find_grade("=written", "week08", "week08", "ana").needs_manual_grade = False
    theirs.db.commit()
    assert book.write_csv(theirs, assignment, tmp_path / "grades.csv") == 3
    with (tmp_path / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert [row[0] for row in rows] == ["student", "'=ben", "ana", "o, 'neil"]
    assert len({len(row) for row in rows}) == 1
    assert sorted(rows[0][1:3]) == ["'=written", "layer_norm"]
    assert sorted(rows[2][1:3]) == ["0", "10"] and rows[2][3:] == ["10", "15", "no"]
    assert rows[3][3:] == ["0", "15", "yes"]


def test_a_result_that_the_grader_spoiled_is_no_score(
    theirs: Gradebook, store: Store, assignment: Assignment, receipts: list
) -> None:
    """nbgrader would show its 0 points as earned."""
    spoiled = [replace(check, outcome="grader trouble", earned=Fraction(0)) for check in receipts[0].checks]
    store.add(replace(receipts[0], student="zoe", checks=tuple(spoiled)))
    book.push(theirs, assignment, book.entries(theirs, store, assignment))
    assert (grade_of(theirs, "zoe").auto_score, grade_of(theirs, "zoe").needs_manual_grade) == (None, True)


# -- faults


def test_an_assignment_that_the_gradebook_does_not_know_is_one_sentence(
    theirs: Gradebook, assignment: Assignment, tmp_path: Path
) -> None:
    with pytest.raises(GradingError, match="nbgrader's gradebook has no week08; grade it"):
        book.write_csv(theirs, assignment, tmp_path / "grades.csv")
    assert not (tmp_path / "grades.csv").exists()


def test_a_refusal_is_told_as_it_is(course: Path) -> None:
    have_empty_gradebook(course)
    with pytest.raises(GradingError, match=r"^no receipts$"), book.opened(course, load_course(course)):
        raise GradingError("no receipts")


def test_a_damaged_gradebook_is_one_sentence(course: Path) -> None:
    folder = course / ".autograder"
    folder.mkdir(exist_ok=True)
    (folder / "gradebook.db").write_bytes(b"this is no database" * 100)
    with (
        pytest.raises(GradingError, match="nbgrader's gradebook cannot be used"),
        book.opened(course, load_course(course)),
    ):
        pass
