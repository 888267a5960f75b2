"""`autograder nbgrade`: a class of notebooks in one process, with the grades of nbgrader's own command."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from grading import have_empty_gradebook, sharing_zygotes, small_course, solution

from autograder.authoring.workbook import built
from autograder.course import CourseError, CourseFiles, load_course
from autograder.grading.errors import GradingError
from autograder.grading.reuse import reusable
from autograder.intake import collect
from autograder.notebooks import batch
from autograder.notebooks.batch import DONE, NO_NOTEBOOK, UNCHANGED, ClassOfNotebooks, Row
from autograder.notebooks.bench import Bench, bench_of
from autograder.notebooks.bridge import faults_stop

RIGHT = solution("layer_norm")
WRONG = RIGHT + "\n\ndef layer_norm(x, gamma, beta, eps=1e-5):\n    return x\n"
WORKBOOK = """\
# %% nbgrader={"grade": false, "grade_id": "start", "locked": true, "schema_version": 3, "solution": false, "task": false}
import torch
from layer_norm import layer_norm

# %%
print(layer_norm(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), torch.ones(4), torch.zeros(4)))

# %% nbgrader={"grade": true, "grade_id": "layer_norm", "locked": true, "points": 10, "schema_version": 3, "solution": false, "task": false}
from selfcheck.notebook import check

check("layer_norm")

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain", "locked": false, "points": 5, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# The mean is taken off.
# ### END SOLUTION
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with a small workbook, and a class of four."""
    root = small_course(tmp_path_factory.mktemp("course"))
    have_empty_gradebook(root)
    (root / "solutions/workbooks").mkdir(exist_ok=True)
    (root / "solutions/workbooks/week08.py").write_text(WORKBOOK)
    files = CourseFiles(root)
    notebook = files.notebook("week08")
    notebook.parent.mkdir(parents=True, exist_ok=True)
    notebook.write_bytes(built(files, load_course(root).assignment("week08")))
    for student, text in {"right": RIGHT, "wrong": WRONG, "alone": RIGHT, "empty": None}.items():
        folder = root / "submitted/notebooks" / student / "week08"
        folder.mkdir(parents=True)
        if student != "alone":
            shutil.copy(notebook, folder)
        if text is not None:
            (folder / "layer_norm.py").write_text(text)
    return root


@pytest.fixture(scope="module")
def bench(root: Path) -> Iterator[Bench]:
    found = bench_of(root)
    yield found
    found.close()


def the_class(root: Path) -> ClassOfNotebooks:
    course = load_course(root)
    return ClassOfNotebooks(root, course, course.assignment("week08"))


def graded(root: Path, bench: Bench) -> dict[str, Row]:
    rows: list[Row] = []
    here = os.getcwd()
    with sharing_zygotes():
        the_class(root).grade(2, False, rows.append)
    assert os.getcwd() == here
    assert not bench._prepared, "what was run ahead was used"
    return {row.student: row for row in rows}


@pytest.fixture(scope="module")
def first(root: Path, bench: Bench) -> dict[str, Row]:
    return graded(root, bench)


def test_everybody_has_a_row_and_the_gradebook_the_points_of_the_receipt(first: dict[str, Row]) -> None:
    assert {s: r.outcome for s, r in first.items()} == {
        "alone": NO_NOTEBOOK, "empty": DONE, "right": DONE, "wrong": DONE,
    }  # fmt: skip
    assert {s: r.score for s, r in first.items()} == {
        "alone": 10,
        "empty": 0,
        "right": 10,
        "wrong": first["wrong"].score,
    }
    assert all(row.score == float(row.receipt.earned) for row in first.values())
    assert [row.student for row in first.values() if row.notes] == ["alone"]
    assert "there is no notebook" in first["alone"].notes[0]
    assert first["alone"].needs_manual_grade


def test_cells_ran_beside_the_submitted_module_and_the_score_stands_in_the_notebook(
    root: Path, first: dict[str, Row]
) -> None:
    def cells(student: str) -> list[dict]:
        return json.loads((root / f"autograded/notebooks/{student}/week08/week08.ipynb").read_text())["cells"]

    shown = {s: "".join(cells(s)[1]["outputs"][0].get("text", [])) for s in ("right", "wrong")}
    assert "-1.3416" in shown["right"]
    assert "1., 2., 3., 4." in shown["wrong"]
    score = cells("wrong")[-2]["outputs"][-1]
    assert score["output_type"] == "execute_result"
    assert float("".join(score["data"]["text/plain"])) == float(first["wrong"].receipt.earned)


def test_only_what_changed_is_graded_again(root: Path, bench: Bench, first: dict[str, Row]) -> None:
    again = graded(root, bench)
    assert {row.outcome for row in again.values()} == {UNCHANGED, NO_NOTEBOOK}
    assert {s: r.score for s, r in again.items()} == {s: r.score for s, r in first.items()}
    time.sleep(0.02)
    (root / "submitted/notebooks/wrong/week08/layer_norm.py").write_text(RIGHT)
    with sqlite3.connect(root / ".autograder/receipts.sqlite") as database:
        database.execute("delete from receipts where assignment = 'week08/notebook' and student = 'empty'")
    third = graded(root, bench)
    assert {s for s, r in third.items() if r.outcome == DONE} == {"wrong", "empty"}, "what changed or has no receipt"
    assert third["wrong"].score == 10
    kept = {student: len(bench.store.history("week08/notebook", student)) for student in third}
    assert kept == dict.fromkeys(third, 1), "the answers are the same"


def test_the_other_command_finds_the_same_receipts(root: Path, bench: Bench, first: dict[str, Row]) -> None:
    """As `autograder grade week08 submitted/notebooks` reads it, there are other files and folders beside the modules."""
    assignment = load_course(root).assignment("week08")
    handed_in = collect([root / "submitted/notebooks"], ["layer_norm"], "week08")
    found = reusable(bench.store, bench.files, assignment, handed_in)
    assert set(found) == set(first)
    assert all(found[s].graded_at == bench.store.standing("week08", s).graded_at for s in first)


FAULTS = [CourseError("course.yml is gone"), GradingError("no worker")]


@pytest.mark.parametrize("fault", [*FAULTS, SystemExit("a link is in the way"), KeyboardInterrupt(), ValueError("odd")])
def test_only_what_is_one_students_trouble_lets_the_run_go_on(
    root: Path, first: dict[str, Row], monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    def fails(self: batch._Autograde, *_: object) -> None:
        with faults_stop(self, {"nbgrader": {"assignment": "week08", "student": "right"}}):
            raise fault

    monkeypatch.setattr(batch._Autograde, "convert_single_notebook", fails)
    left, there = the_class(root), root / "autograded/notebooks/right"
    shutil.copytree(there, root / "kept")
    try:
        if isinstance(fault, ValueError):
            assert left._through_nbgrader("right") == "ValueError: odd"
        elif isinstance(fault, KeyboardInterrupt):
            with pytest.raises(KeyboardInterrupt):
                left._through_nbgrader("right")
        else:
            with pytest.raises(GradingError, match=str(fault)):
                left._through_nbgrader("right")
        assert not list(there.rglob("*.ipynb")), "nothing half done is left behind"
    finally:
        shutil.rmtree(there, ignore_errors=True)
        (root / "kept").rename(there)


def test_a_name_that_is_a_pattern_is_nobody_elses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """nbgrader takes the name of a student for a pattern."""
    root = small_course(tmp_path)
    for student in ("[ab]", "a", "b", "*"):
        (root / "submitted/notebooks" / student / "week08").mkdir(parents=True)
    seen: list[str] = []
    monkeypatch.setattr(batch._Autograde, "convert_notebooks", lambda self: seen.extend(self.assignments))
    monkeypatch.setattr(ClassOfNotebooks, "_released", lambda self: [])
    everybody = the_class(root)
    for student in everybody.students:
        assert everybody._through_nbgrader(student) == ""
    assert [Path(folder).parent.name for folder in seen] == ["*", "[ab]", "a", "b"]


def test_where_nothing_was_submitted_or_can_be_generated_is_one_sentence(tmp_path: Path) -> None:
    root = small_course(tmp_path)
    with pytest.raises(GradingError, match="put each student's notebook and modules into submitted/notebooks/STUDENT"):
        the_class(root)
    have_empty_gradebook(root)
    (root / "submitted/notebooks/ana/week08").mkdir(parents=True)
    with pytest.raises(GradingError, match="nbgrader cannot generate week08: `nbgrader generate_assignment week08`"):
        the_class(root)


def test_when_what_judges_changes_everybody_is_graded_again(root: Path, bench: Bench, first: dict[str, Row]) -> None:
    assignment = load_course(root).assignment("week08")
    before = bench.judge(assignment)
    path = root / "tests/suites/week08/test_layer_norm.py"
    text = path.read_text()
    path.write_text(f"{text}\n# weighed anew\n")
    assert bench.judge(assignment) != before
    assert {row.outcome for row in graded(root, bench).values()} == {DONE, NO_NOTEBOOK}
    path.write_text(text)
