"""nbgrader's gradebook beside our receipts: nothing that a person typed is lost, and nothing false gets in."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from grading import batch, handed_in, run, small_course, solution
from nbgrader.api import Gradebook

from autograder.course import Assignment, load_course
from autograder.grading.errors import GradingError
from autograder.grading.store import Adjustment, Store
from autograder.notebooks import gradebook as book

STUDENTS = {
    "ana": solution("layer_norm"),
    "=ben": solution("layer_norm") + "\n\ndef layer_norm(x, gamma, beta, eps=1e-5):\n    return x\n",
    "o, 'neil": "",
}


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return small_course(tmp_path)


@pytest.fixture
def assignment(course: Path) -> Assignment:
    return load_course(course).assignment("week08")


@pytest.fixture(scope="module")
def receipts(tmp_path_factory: pytest.TempPathFactory) -> list:
    root = small_course(tmp_path_factory.mktemp("graded"))
    submissions = [handed_in(student, {"layer_norm": text}) for student, text in STUDENTS.items()]
    return list(run(batch(submissions, exercises=["layer_norm"], root=root)).values())


@pytest.fixture
def store(course: Path, receipts: list) -> Iterator[Store]:
    with Store.in_course(course) as found:
        for receipt in receipts:
            found.add(receipt)
        yield found


@pytest.fixture(scope="module")
def empty_gradebook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once: nbgrader starts a program for each new one."""
    root = small_course(tmp_path_factory.mktemp("new"))
    with book.opened(root, load_course(root)):
        return root / ".autograder/gradebook.db"


@pytest.fixture
def theirs(course: Path, empty_gradebook: Path) -> Iterator[Gradebook]:
    (course / ".autograder").mkdir(exist_ok=True)
    shutil.copy(empty_gradebook, course / ".autograder")
    with book.opened(course, load_course(course)) as found:
        yield found


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
    grade_of(theirs, "=ben").manual_score = 6.5
    theirs.db.commit()
    found = book.entries(theirs, store, assignment)
    assert [entry.student for entry in found if entry.differs] == ["=ben"]
    book.push(theirs, assignment, found)
    assert grade_of(theirs, "=ben").manual_score == 6.5
    assert [entry.student for entry in book.pull(store, assignment, found)] == ["=ben"]
    (kept,) = store.adjustments("week08", "=ben")
    assert (kept.points, kept.author) == (Fraction(13, 2), book.FORMGRADER)
    now = book.entries(theirs, store, assignment)
    assert not any(entry.differs for entry in now)
    assert book.pull(store, assignment, now) == []


def test_an_adjustment_of_ours_is_pushed_as_a_manual_score(
    theirs: Gradebook, store: Store, assignment: Assignment
) -> None:
    store.adjust(
        "week08", "ana", Adjustment("layer_norm", Fraction(7), "shared code", "prof", "2026-11-30T00:00:00+00:00")
    )
    book.push(theirs, assignment, book.entries(theirs, store, assignment))
    grade = grade_of(theirs, "ana")
    assert (grade.auto_score, grade.manual_score, grade.score) == (10, 7, 7)


def test_a_cell_that_was_added_after_the_submissions_gets_its_grades(
    theirs: Gradebook, store: Store, assignment: Assignment
) -> None:
    theirs.update_or_create_assignment("week08")
    theirs.update_or_create_notebook("week08", "week08")
    theirs.update_or_create_student("ana")
    theirs.update_or_create_submission("week08", "ana")
    book.push(theirs, assignment, book.entries(theirs, store, assignment))
    assert grade_of(theirs, "ana").score == 10


@pytest.mark.parametrize("typed", [11.0, -1.0, float("inf")])
def test_a_typed_score_that_cannot_be_is_refused_in_one_sentence(
    theirs: Gradebook, store: Store, assignment: Assignment, typed: float
) -> None:
    book.push(theirs, assignment, book.entries(theirs, store, assignment))
    grade_of(theirs, "ana").manual_score = typed
    theirs.db.commit()
    with pytest.raises(GradingError, match="points for layer_norm of ana, which is worth 10; correct it there"):
        book.pull(store, assignment, book.entries(theirs, store, assignment))
    assert store.adjustments("week08", "ana") == []


def test_the_csv_is_quoted_and_no_id_becomes_a_formula(
    theirs: Gradebook, store: Store, assignment: Assignment, tmp_path: Path
) -> None:
    book.push(theirs, assignment, book.entries(theirs, store, assignment))
    assert book.write_csv(theirs, assignment, tmp_path / "grades.csv") == 3
    with (tmp_path / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert [row[0] for row in rows] == ["student", "'=ben", "ana", "o, 'neil"]
    assert len({len(row) for row in rows}) == 1
    assert rows[2][1:] == ["10", "10", "10", "no"]


def test_a_damaged_gradebook_is_one_sentence(course: Path) -> None:
    folder = course / ".autograder"
    folder.mkdir(exist_ok=True)
    (folder / "gradebook.db").write_bytes(b"this is no database" * 100)
    with (
        pytest.raises(GradingError, match="nbgrader's gradebook cannot be used"),
        book.opened(course, load_course(course)),
    ):
        pass
