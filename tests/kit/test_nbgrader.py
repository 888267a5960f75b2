"""Real nbgrader on a class of twelve and their less honest friends: one run of its command line, looked at many times.

All tests of that run stand in this file, so that it is made once.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from grading import run
from nbgrader.plugins import CsvExportPlugin
from nbgrader_class import FORGERS, GRADED, QUIZ_SECRETS, handed_in_class
from nbgrader_pages import Running, pages
from notebook_course import Course, cell_of, planted, shown_text

from autograder.course import load_course
from autograder.grading.batch import Batch
from autograder.grading.receipt import Receipt
from autograder.grading.score import scores as standing_scores
from autograder.grading.store import Store
from autograder.intake import collect
from autograder.notebooks.gradebook import entries, write_csv


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The class handed in, and nbgrader's own command line run over it."""
    made = handed_in_class(tmp_path_factory.mktemp("nbgrader"))
    made.ran["autograde"] = made.nbgrader("autograde", "lines")
    with made.api() as api:
        made.told["feedback"] = api.generate_feedback("lines")
    return made


@pytest.fixture(scope="module")
def ours(course: Course) -> dict[str, dict[str, float]]:
    """What `autograder grade` gives for the same folders, with another seed and without the receipts of that run."""
    assignment = load_course(course.root).assignment("lines")
    names = [exercise.name for exercise in assignment.exercises]
    handed_in = []
    for student in GRADED:
        (submission,) = collect([course.submitted(student)], names, "lines")
        handed_in.append(replace(submission, student=student))
    receipts = run(Batch(course.files, "small", assignment, handed_in, 4242))
    return {
        student: {name: float(sum(c.earned for c in checks)) for name, checks in receipt.exercises().items()}
        for student, receipt in receipts.items()
    }


@pytest.fixture(scope="module")
def cells(course: Course) -> dict[str, dict[str, float | None]]:
    """The score of each cell by student."""
    return course.scores()


@pytest.fixture(scope="module")
def scores(cells: dict[str, dict[str, float | None]]) -> dict[str, dict[str, float | None]]:
    """Those of exercises and of answers in words."""
    return {s: {name: v for name, v in found.items() if not name.startswith("quiz-")} for s, found in cells.items()}


@pytest.fixture(scope="module")
def notebooks(course: Course) -> dict[str, Receipt]:
    """The receipts of what the notebooks ask themselves."""
    with Store.in_course(course.root) as store:
        return store.standing_receipts("lines/notebook")


def test_the_run_ends_well_and_drops_nobody(course: Course, scores: dict[str, Any]) -> None:
    for done in course.ran.values():
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    assert set(scores) == set(GRADED)
    assert all((course.root / f"autograded/notebooks/{name}/lines/lines.ipynb").is_file() for name in GRADED)


@pytest.mark.parametrize("student", GRADED)
def test_module_scores_are_those_of_our_grader(student: str, scores: dict[str, Any], ours: dict[str, Any]) -> None:
    assert {name: scores[student][name] for name in ("slope", "line")} == ours[student]


def test_the_class_has_the_scores_it_deserves(scores: dict[str, Any]) -> None:
    """The comparison above would not see a fault that both graders share."""
    full = {"slope": 6.0, "line": 4.0, "explain": 0.0}
    for student in (
        "right",
        "extra_numpy",
        "loop_in_cell",
        "warns",
        "exits",
        "edited_cells",
        "deleted_cells",
        "renamed",
    ):
        assert scores[student] == full, student
    assert scores["wrong"] == {**full, "slope": 1.5}
    for student in ("loop_in_module", "os_exit"):
        assert scores[student] == {**full, "slope": 0.0}


@pytest.mark.parametrize("student", ["tampered_tests", "tampered_modules", *FORGERS])
def test_no_forgery_gains_a_point(course: Course, student: str, scores: dict[str, Any]) -> None:
    assert scores[student] == scores["wrong"]
    assert "GOT IT" not in "".join(map(shown_text, course.autograded(student)["cells"]))
    assert shown_text(cell_of(course.autograded(student), "slope")).startswith("slope: 1.5 of 6 points\n")


def test_a_text_as_result_earns_nothing_and_noise_costs_nothing(course: Course, scores: dict[str, Any]) -> None:
    """nbgrader alone gives full marks for a text, and none for anything on stderr."""
    assert scores["text_result"] == scores["right"]
    assert scores["replaced_assertions"]["slope"] == 1.5
    assert any("noise" in shown_text(c) for c in course.autograded("warns")["cells"])
    assert scores["warns"] == scores["right"]


def test_what_follows_a_cell_that_never_ends_is_not_run(course: Course) -> None:
    shown = [shown_text(c) for c in course.autograded("loop_in_cell")["cells"] if c["cell_type"] == "code"]
    assert shown[1] == "did not end within 0.5 seconds"
    assert shown[2].startswith("not run, because an earlier cell did not end")


@pytest.mark.parametrize("student", ["exits", "asks"])
def test_leftovers_of_a_session_do_not_stop_the_notebook(course: Course, student: str) -> None:
    shown = [shown_text(c) for c in course.autograded(student)["cells"]]
    assert any("tensor([2.]" in said for said in shown)
    assert any(("delete the line" in said) for said in shown)


def test_what_cells_show_is_bounded_whatever_they_do_to_the_runner(course: Course) -> None:
    path = course.root / "autograded/notebooks/floods/lines/lines.ipynb"
    assert path.stat().st_size < 60_000
    assert any("[output truncated]" in shown_text(c) for c in course.autograded("floods")["cells"])


def test_mended_notebooks_say_so_and_wait_for_a_person(course: Course) -> None:
    flags = course.waiting()
    for student in ("edited_cells", "deleted_cells", "replaced_assertions", "unreadable"):
        assert "**Mended before grading**" in "".join(course.autograded(student)["cells"][0]["source"])
        assert flags[student, "slope"]
    assert not flags["right", "slope"]
    told = "".join(course.autograded("deleted_cells")["cells"][0]["source"])
    assert all(f"`{name}` was missing" in told for name in ("setup", "slope", "line", "explain"))


# -- questions of the quiz


@pytest.mark.parametrize(
    ("student", "points"),
    [("right", 0), ("answers_right", 3), ("answers_wrong", 0), ("answers_unread", 0), ("forged_answers", 0)],
)
def test_a_question_earns_what_its_answer_cell_says(student: str, points: int, cells: dict[str, Any]) -> None:
    """Whatever variables, outputs and the cell with the points hold."""
    names = ("quiz-s1_drawn", "quiz-s2_shape", "quiz-s2_name")
    assert [cells[student][name] for name in names] == [points / 3] * 3


@pytest.mark.parametrize("student", ["right", "answers_right", "answers_wrong", "forged_answers", "printed_marks"])
def test_the_receipt_of_a_notebook_says_what_its_cells_say_and_no_more(
    course: Course, student: str, cells: dict[str, Any], notebooks: dict[str, Receipt]
) -> None:
    """Nothing that was printed, patched or left in outputs is in it."""
    found = notebooks[student]
    assert {score.exercise: score.points for score in standing_scores(found)} == {
        name: value for name, value in cells[student].items() if name not in ("slope", "line")
    }
    assert found.earned == (3 if student == "answers_right" else 0)
    assert "1.0" not in found.output.values() and "offset" not in {**found.output, "quiz-s2_name": ""}.values()


def test_everybody_has_a_receipt_of_the_notebook_and_the_gradebook_agrees(
    course: Course, notebooks: dict[str, Receipt]
) -> None:
    assert set(notebooks) == set(GRADED)
    status = {student: receipt.status for student, receipt in notebooks.items()}
    assert [status[s] for s in ("right", "only_modules", "unreadable", "answers_unread", "deleted_cells")] == [
        "graded", "not submitted", "needs attention", "needs attention", "needs attention",
    ]  # fmt: skip
    assert "the cell `line` was missing; the released one was put back" in notebooks["deleted_cells"].notes
    assert {c.exercise: c.outcome for c in notebooks["scripts"].checks}["explain"] == "waits for a person"
    assert "<script>run_1()</script>" in notebooks["scripts"].output["explain"]
    with course.gradebook() as gradebook, Store.in_course(course.root) as store:
        found = entries(gradebook, store, load_course(course.root).assignment("lines"))
    assert len(found) == len(GRADED) * 6
    assert not [entry for entry in found if entry.differs]


def test_answers_that_cannot_be_read_are_asked_back_and_wait_for_a_person(course: Course) -> None:
    told = [
        shown_text(cell_of(course.autograded("answers_unread"), f"quiz-{n}"))
        for n in ("s1_drawn", "s2_shape", "s2_name")
    ]
    assert all("please rewrite" in said for said in told)
    assert '" is not a number; write one, such as 0.125 or 1/8' in told[0]
    assert "the answer cell is no Python" in told[1]
    assert "s2_name is given no value; write it as in" in told[2]
    flags = course.waiting()
    assert flags["answers_unread", "quiz-s2_name"]
    assert not flags["answers_wrong", "quiz-s2_name"]
    assert "nothing was written behind the =" in shown_text(cell_of(course.autograded("right"), "quiz-s2_name"))


def test_feedback_on_an_answer_speaks_of_the_idea_and_not_of_the_key(course: Course) -> None:
    said = shown_text(cell_of(course.autograded("answers_wrong"), "quiz-s2_name"))
    page = course.feedback("answers_wrong")
    for shown in (said, page):
        assert "failed: What is the height at zero called?" in said
        assert "Which of the two is the factor?" in shown


# -- what reaches students


def test_solutions_do_not_reach_the_release_and_stubs_do(course: Course) -> None:
    folder = course.root / "assignments/notebooks/lines"
    assert "raise NotImplementedError" in (folder / "slope.py").read_text("utf-8")
    assert (folder / "selfcheck/notebook.py").is_file()
    ours = {path.name: path.read_bytes() for path in (course.root / "assignments/lines").glob("*.py")}
    assert {path.name: path.read_bytes() for path in folder.glob("*.py")} == ours


@pytest.mark.parametrize("student", ["wrong", "tampered_modules", "fake_receipt"])
def test_no_file_of_a_student_is_overwritten(course: Course, student: str) -> None:
    handed_in = course.submitted(student)
    for path in handed_in.rglob("*.py"):
        graded = course.root / "autograded/notebooks" / student / "lines" / path.relative_to(handed_in)
        assert graded.read_bytes() == path.read_bytes()


def test_a_link_in_a_hand_in_brings_nothing_along(course: Course) -> None:
    """nbgrader follows links when it copies: into the graded folder, and from there into the feedback."""
    for step in ("submitted", "autograded", "feedback"):
        assert {p.name for p in (course.root / step / "notebooks/links/lines").iterdir()} <= {
            "slope.py", "line.py", "lines.ipynb", "lines.html",
        }  # fmt: skip
    assert "mine.txt was a link to" in course.ran["autograde"].stderr


def test_planted_strings_reach_nobody(course: Course) -> None:
    """What stands in hidden tests, references, traces, mistakes and answers; other students; folders of the machine."""
    with course.gradebook() as gradebook:
        CsvExportPlugin(to=str(course.root / "grades.csv")).export(gradebook)
        write_csv(gradebook, load_course(course.root).assignment("lines"), course.root / "lines.csv")
    names = [*(name.encode() for name in planted()), *(b"SECRET_OF_" + name.encode() for name in GRADED)]
    names += QUIZ_SECRETS
    assert len(names) >= 12 + len(GRADED)
    own = [str(course.root).encode(), str(Path(__file__).parents[2]).encode()]
    looked_at = 0
    for top in ("assignments", "autograded", "feedback"):
        for path in (path for path in (course.root / top).rglob("*") if path.is_file()):
            found, student = path.read_bytes(), path.relative_to(course.root).parts[2]
            allowed = {b"SECRET_OF_" + student.encode()} | (set(own) if student == "edited_gradebook" else set())
            assert [name for name in (*names, *own) if name in found and name not in allowed] == [], path
            looked_at += 1
    assert looked_at > 100
    exported = (course.root / "grades.csv").read_bytes() + (course.root / "lines.csv").read_bytes()
    assert not [name for name in (*names, *own) if name in exported]


def test_nothing_that_a_student_wrote_runs_in_a_page(course: Course) -> None:
    for name, page in pages(course, "scripts").items():
        parser = Running()
        parser.feed(page)
        assert parser.found == [], name
        assert "<strong>bold</strong>" in page
        assert "<h1>Lines, drawn with your own modules" in page


# -- folders that nbgrader has trouble with


def test_a_bad_timestamp_does_not_end_the_run_of_the_class(course: Course, scores: dict[str, Any]) -> None:
    assert scores["bad_time"] == scores["right"]
    assert "timestamp.txt holds no time; it is not used" in course.ran["autograde"].stderr


def test_a_notebook_under_another_name_is_graded(course: Course, scores: dict[str, Any]) -> None:
    assert scores["renamed"] == scores["right"]
    assert (course.submitted("renamed") / "lines (1).ipynb").is_file()


@pytest.mark.parametrize("student", ["only_modules", "two_names"])
def test_who_handed_in_no_notebook_has_a_row_that_says_so(course: Course, student: str, scores: dict[str, Any]) -> None:
    """nbgrader alone passes over the one, and gives the other an error for a row without scores."""
    assert scores[student] == scores["right"]
    told = "".join(course.autograded(student)["cells"][0]["source"])
    assert "there is no notebook, or none of the released name" in told
    assert course.waiting()[student, "slope"]
    assert not (course.submitted(student) / "lines.ipynb").exists(), "nothing is written where students hand in"
    assert f"{student}, lines: there is no notebook" in course.ran["autograde"].stderr


def test_a_notebook_without_modules_is_told_what_is_missing(course: Course, scores: dict[str, Any]) -> None:
    assert scores["only_notebook"] == {"slope": 0.0, "line": 0.0, "explain": 0.0}
    assert "slope.py was not handed in" in shown_text(cell_of(course.autograded("only_notebook"), "slope"))


# -- the configuration


def test_our_configuration_is_in_force(course: Course) -> None:
    assert (course.root / ".autograder/gradebook.db").is_file()
    assert not (course.root / "gradebook.db").exists()
    assert not (course.root / "autograded/right").exists()
    with course.api() as api:
        from nbgrader.converters import Autograde

        converter = Autograde(coursedir=api.coursedir, parent=api)
        names = [getattr(step, "__name__", str(step)).rpartition(".")[2] for step in converter.autograde_preprocessors]
    assert names.index("GradeModules") == names.index("SaveAutoGrades") - 1
    assert "Execute" not in names
