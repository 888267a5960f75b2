"""`autograder nbgrade`: a class of notebooks in one process, with the grades of nbgrader's own command."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from grading import sharing_zygotes, small_course, solution

from autograder.authoring.workbook import built
from autograder.course import CourseFiles, load_course
from autograder.notebooks.batch import DONE, NO_NOTEBOOK, UNCHANGED, ClassOfNotebooks, Row
from autograder.notebooks.bench import Bench

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
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with a small workbook, and a class of four."""
    root = small_course(tmp_path_factory.mktemp("course"))
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
    found = Bench(root)
    yield found
    found.close()


def graded(root: Path, bench: Bench, force: bool = False) -> dict[str, Row]:
    course = load_course(root)
    rows: list[Row] = []
    here = os.getcwd()
    with sharing_zygotes():
        ClassOfNotebooks(root, course, course.assignment("week08"), bench).grade(2, force, rows.append)
    assert os.getcwd() == here
    return {row.student: row for row in rows}


@pytest.fixture(scope="module")
def first(root: Path, bench: Bench) -> dict[str, Row]:
    return graded(root, bench)


def test_everybody_has_a_row_and_the_gradebook_the_points_of_the_receipt(first: dict[str, Row]) -> None:
    assert {s: r.outcome for s, r in first.items()} == {
        "alone": NO_NOTEBOOK, "empty": DONE, "right": DONE, "wrong": DONE,
    }  # fmt: skip
    assert {s: r.score for s, r in first.items()} == {
        "alone": None,
        "empty": 0,
        "right": 10,
        "wrong": first["wrong"].score,
    }
    assert all(row.score == float(row.receipt.earned) for row in first.values() if row.outcome == DONE)
    assert first["alone"].receipt.earned == 10, "without a notebook the modules are graded all the same"


def test_cells_ran_beside_the_submitted_module_and_the_score_stands_in_the_notebook(
    root: Path, first: dict[str, Row]
) -> None:
    def cells(student: str) -> list[dict]:
        return json.loads((root / f"autograded/notebooks/{student}/week08/week08.ipynb").read_text())["cells"]

    shown = {s: "".join(cells(s)[1]["outputs"][0].get("text", [])) for s in ("right", "wrong")}
    assert "-1.3416" in shown["right"]
    assert "1., 2., 3., 4." in shown["wrong"]
    score = cells("wrong")[-1]["outputs"][-1]
    assert score["output_type"] == "execute_result"
    assert float("".join(score["data"]["text/plain"])) == float(first["wrong"].receipt.earned)


def test_only_what_changed_is_graded_again(root: Path, bench: Bench, first: dict[str, Row]) -> None:
    again = graded(root, bench)
    assert {row.outcome for row in again.values()} == {UNCHANGED, NO_NOTEBOOK}
    assert {s: r.score for s, r in again.items()} == {s: r.score for s, r in first.items()}
    time.sleep(0.02)
    (root / "submitted/notebooks/wrong/week08/layer_norm.py").write_text(RIGHT)
    third = graded(root, bench)
    assert {s for s, r in third.items() if r.outcome == DONE} == {"wrong"}
    assert third["wrong"].score == 10
