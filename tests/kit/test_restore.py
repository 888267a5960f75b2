"""A submitted notebook in whatever state comes out whole: every released cell once, answers kept, mends named."""

from __future__ import annotations

import pytest
from notebook_files import ANSWERS, RELEASE, assert_whole, by_id, cell, free, released, saved, submitted


def test_a_good_notebook_is_left_as_it_is() -> None:
    notebook, notes = assert_whole(saved(submitted()), ANSWERS)
    assert notes == []
    assert [c.source for c in notebook.cells] == [c["source"] for c in submitted()["cells"]]
    assert [c.id for c in notebook.cells] == [f"cell-{n}" for n in range(8)], "not made up anew at each reading"


def test_a_released_cell_has_the_marks_that_nbgrader_writes() -> None:
    marks = {"grade": True, "grade_id": "a", "locked": True, "schema_version": 3, "solution": False, "task": False}
    assert released("a", "", grade=True, points=3.0).metadata() == {
        **marks, "cell_type": "code", "points": 3.0, "checksum": "c0",
    }  # fmt: skip
    assert released("a", "", checksum=None).metadata() == {**marks, "grade": False, "cell_type": "code"}


# B09


def test_of_two_copies_of_an_answer_the_last_counts_and_none_is_lost() -> None:
    file = submitted()
    file["cells"].insert(1, cell("code", "def softmax(x): return x", "softmax"))
    notebook, notes = assert_whole(saved(file), ANSWERS)
    assert notes == ["the cell `softmax` was there 2 times; the last one counts"]
    assert "def softmax(x): return x" in free(notebook)


def test_a_copied_and_edited_test_cell_is_a_cell_like_any_other() -> None:
    file = submitted()
    file["cells"].append(cell("code", "assert True", "softmax_test"))
    notebook, notes = assert_whole(saved(file), ANSWERS)
    assert notes == ["the cell `softmax_test` was there 2 times; the first one counts"]
    assert "assert True" in free(notebook)


# B10


@pytest.mark.parametrize(
    "gone", [["mask_test"], ["softmax_test", "mask_test"], ["setup"], [r.grade_id for r in RELEASE]]
)
def test_deleted_cells_are_put_back_where_they_were(gone: list[str]) -> None:
    file = submitted()
    file["cells"] = [c for c in file["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") not in gone]
    notebook, notes = assert_whole(saved(file), {k: v for k, v in ANSWERS.items() if k not in gone})
    assert notes == [f"the cell `{name}` was missing; the released one was put back" for name in gone]
    assert list(by_id(notebook)) == [r.grade_id for r in RELEASE]
    assert free(notebook) == ["print(1)", "my notes"]


def test_moved_cells_are_known_by_their_id() -> None:
    file = submitted()
    file["cells"].reverse()
    _, notes = assert_whole(saved(file), ANSWERS)
    assert notes == []


# B11


@pytest.mark.parametrize("kind", ["markdown", "raw", "code"])
@pytest.mark.parametrize("place", range(6))
def test_a_retyped_cell_gets_its_type_back_and_keeps_its_answer(kind: str, place: int) -> None:
    file = submitted()
    marked = [c for c in file["cells"] if "nbgrader" in c["metadata"]][place]
    was, marked["cell_type"] = marked["cell_type"], kind
    _, notes = assert_whole(saved(file), ANSWERS)
    name = RELEASE[place].grade_id
    assert notes == ([] if was == kind else [f"the cell `{name}` had become a {kind} cell; it is a {was} cell"])


def test_an_edited_test_is_the_released_one_again() -> None:
    file = submitted()
    file["cells"][3]["source"] = "pass"
    _, notes = assert_whole(saved(file), ANSWERS)
    assert notes == ["the cell `softmax_test` had been changed; the released one is used"]


def test_marks_that_a_student_changed_or_made_up_do_not_count() -> None:
    file = submitted()
    for mark in [c["metadata"]["nbgrader"] for c in file["cells"] if "nbgrader" in c["metadata"]]:
        mark.update(points=float("nan"), locked=False, solution=True, checksum=[], schema_version=99, task=True)
    file["cells"].append(cell("code", "1000", "bonus"))
    notebook, notes = assert_whole(saved(file), ANSWERS)
    assert notes == []
    assert "1000" in free(notebook)
