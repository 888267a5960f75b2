"""nbgrader's gradebook beside our receipts: nothing that a person typed is lost, and nothing false gets in."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from command_line import ask
from grading import batch, handed_in, have_empty_gradebook, run, small_course, solution
from nbgrader.api import Gradebook

from autograder.course import Assignment, load_course
from autograder.grading.errors import GradingError
from autograder.grading.receipt import CheckResult, Receipt
from autograder.grading.store import Adjustment, Store
from autograder.notebooks import gradebook as book
from autograder.notebooks.receipts import Answer, receipt_of, unread_answer

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


@pytest.fixture
def theirs(course: Path) -> Iterator[Gradebook]:
    have_empty_gradebook(course)
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
    assert [entry.student for entry in book.entries(theirs, store, assignment)] == sorted(STUDENTS)


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


# -- what the notebook asks itself


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
