"""The workbook's text becomes the same notebooks every time, and its author is told in one sentence what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from notebook_course import WORKBOOK
from small_course import small_course

from autograder.authoring import AuthoringError
from autograder.authoring.workbook import built, cut

PLACE = "solutions/workbooks/lines.py"
TEST = 'check("slope")\n'
HIDDEN = TEST + "### BEGIN HIDDEN TESTS\nassert False\n### END HIDDEN TESTS\n"


def course(root: Path, text: str | None = WORKBOOK) -> Any:
    return small_course(root, **{PLACE: text})


def cells(notebook: bytes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(notebook)["cells"]
    return found


def test_one_text_gives_the_same_bytes_and_a_new_cell_changes_no_other(tmp_path: Path) -> None:
    first = built(*course(tmp_path / "a"))
    assert built(*course(tmp_path / "b")) == first
    more = WORKBOOK.replace("# %%\nfrom line", "# %%\nprint(0)\n\n# %%\nprint(0)\n\n# %%\nfrom line")
    longer = cells(built(*course(tmp_path / "c", more)))
    assert cells(built(*course(tmp_path / "d", more))) == longer
    added = [cell for cell in longer if cell["source"] == ["print(0)"]]
    assert len({cell["id"] for cell in longer}) == len(longer)
    assert len(added) == 2
    assert [cell for cell in longer if cell not in added] == cells(first)


def test_students_get_no_answer_and_every_mark(tmp_path: Path) -> None:
    of = course(tmp_path)
    complete, released = built(*of), cut(*of)
    assert b"PLANTED" in complete and b"PLANTED" not in released
    marks = [[cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells(n)] for n in (complete, released)]
    assert marks[0] == marks[1]
    assert cell_of(released, "slope")["metadata"]["nbgrader"]["points"] == 6
    assert all(cell["metadata"]["nbgrader"]["checksum"] for cell in cells(released) if cell["metadata"])


def cell_of(notebook: bytes, grade_id: str) -> dict[str, Any]:
    return next(c for c in cells(notebook) if c["metadata"].get("nbgrader", {}).get("grade_id") == grade_id)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (TEST, HIDDEN, "the cell slope has hidden tests, which nothing runs and nbgrader prints into feedback; move"),
        (TEST, TEST + "#begin hidden_tests\n", "the cell slope has hidden tests, which"),
        ("# # Lines", "# # ### BEGIN HIDDEN TESTS\n# # Lines", "the cell number 1 has hidden tests"),
        ('"points": 6', '"points": 5', "the cell `slope` must be worth 6 points, as in course.yml"),
        ('"points": 6, ', "", "the cell `slope` must be worth 6 points, as in course.yml"),
        ('"grade_id": "slope"', '"grade_id": "curve"', "has no autograded cell with the grade_id `slope`"),
        ('"grade": false, "grade_id": "setup"', '"grade": true, "points": 1, "grade_id": "setup"', "`setup`, which is no"),
        ('"grade_id": "setup"', '"grade_id": "predict"', "two cells have the grade_id `predict`"),
        ('"grade_id": "setup"', '"grade_id": 3', "the marks of a cell are not nbgrader's"),
        ('"grade_id": "setup"', '"grade_id": "setup", "point": 1', "the marks of a cell are not nbgrader's"),
    ],
)  # fmt: skip
def test_a_fault_of_the_text_is_one_sentence(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert WORKBOOK.count(old) == 1
    of = course(tmp_path, WORKBOOK.replace(old, new))
    for make in (built, cut):
        with pytest.raises(AuthoringError) as raised:
            make(*of)
        assert sentence in str(raised.value)
        assert str(raised.value).startswith(PLACE)
        assert "\n" not in str(raised.value)


def test_a_text_that_is_no_utf8_is_one_sentence(tmp_path: Path) -> None:
    of = course(tmp_path)
    (tmp_path / PLACE).write_bytes("# %%\nprint('ü')\n".encode("latin-1"))
    with pytest.raises(AuthoringError, match="lines.py cannot be read; save it as UTF-8"):
        built(*of)
