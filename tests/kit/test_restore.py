"""A submitted notebook in whatever state comes out whole: every released cell once, answers kept, mends named."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.notebooks import restore
from autograder.notebooks.restore import ReleasedCell, restored

Cell = dict[str, Any]
File = dict[str, Any]


def released(grade_id: str, source: str, **changed: Any) -> ReleasedCell:
    usual: dict[str, Any] = {"cell_type": "code", "locked": True, "grade": False, "solution": False, "task": False}
    return ReleasedCell(
        **{**usual, "grade_id": grade_id, "source": source, "points": None, "checksum": "c0", **changed}
    )


RELEASE = [
    released("setup", "import torch"),
    released("softmax", "raise NotImplementedError", locked=False, solution=True),
    released("softmax_test", 'check("softmax")', grade=True, points=3.0),
    released("mask_test", 'check("mask")', grade=True, points=3.0),
    released("explain", "YOUR ANSWER", cell_type="markdown", locked=False, grade=True, solution=True, points=5.0),
    released("essay", "Write.", cell_type="markdown", task=True, points=2.0),
]
ANSWERS = {"softmax": "def softmax(x): return x.softmax(-1)", "explain": "Because rows sum to one."}


def cell(kind: Any, source: Any, grade_id: Any = None, **more: Any) -> Cell:
    made: Cell = {"cell_type": kind, "metadata": {}, "source": source, **more}
    if grade_id is not None:
        made["metadata"] = {"nbgrader": {"grade_id": grade_id, "grade": True, "points": 99, "schema_version": 3}}
    return made


def submitted() -> File:
    """As Jupyter saves it: the answers given, two cells of the student's own, one of them with an output."""
    cells = [cell(r.cell_type, ANSWERS.get(r.grade_id, r.source), r.grade_id) for r in RELEASE]
    mine = cell("code", "print(1)", outputs=[{"output_type": "stream", "name": "stdout", "text": "1"}])
    return {
        "cells": [*cells[:2], mine, *cells[2:], cell("markdown", "my notes")],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def saved(notebook: Any) -> bytes:
    return json.dumps(notebook).encode()


def by_id(notebook: Any) -> dict[str, Any]:
    """The released cells of a restored notebook; each is there once."""
    marked = [c for c in notebook.cells if "nbgrader" in c.metadata]
    found = {c.metadata.nbgrader["grade_id"]: c for c in marked}
    assert len(marked) == len(found)
    return found


def assert_whole(data: bytes, answers: dict[str, str] | None = None) -> tuple[Any, list[str]]:
    """Every released cell is there once, with all that belongs to the release; nothing else came with the file."""
    notebook, notes = restored(data, RELEASE)
    found = by_id(notebook)
    assert set(found) == {r.grade_id for r in RELEASE}
    for expected in RELEASE:
        got = found[expected.grade_id]
        assert got.cell_type == expected.cell_type
        assert dict(got.metadata.nbgrader) == expected.metadata()
        if expected.locked:
            assert got.source == expected.source
        elif answers is not None:
            assert got.source == answers.get(expected.grade_id, expected.source)
    assert all(c.get("outputs", []) == [] and c.get("execution_count") is None for c in notebook.cells)
    assert all(set(c.metadata) <= {"nbgrader"} for c in notebook.cells)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.kernelspec.name == "python3"
    assert len({c.id for c in notebook.cells}) == len(notebook.cells)
    nbformat.validate(notebook)
    nbformat.writes(notebook).encode()
    json.dumps(notebook, allow_nan=False)
    assert all(isinstance(note, str) and "\n" not in note and len(note) < 300 for note in notes)
    return notebook, notes


def free(notebook: Any) -> list[str]:
    return [c.source for c in notebook.cells if "nbgrader" not in c.metadata]


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


# B12, B40: what the file says about itself


def _v3(file: File) -> File:
    """In the format of 2013."""
    cells = [
        {
            "cell_type": c["cell_type"],
            "metadata": c["metadata"],
            **({"input": c["source"], "language": "python", "outputs": []} if c["cell_type"] == "code" else c),
        }
        for c in file["cells"]
    ]
    return {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": ""},
        "worksheets": [{"cells": cells, "metadata": {}}],
    }


def _with(change: Callable[[File], Any]) -> Callable[[File], File]:
    def changed(file: File) -> File:
        change(file)
        return file

    return changed


def _each(**fields: Any) -> Callable[[File], File]:
    return _with(lambda file: [c.update(fields) for c in file["cells"]])


WIDGETS = {"application/vnd.jupyter.widget-state+json": {"abc": {}}}
VIEW = {"output_type": "display_data", "data": {"application/vnd.jupyter.widget-view+json": {}}, "metadata": {}}
ODD_BUT_WHOLE: dict[str, Callable[[File], File]] = {
    "ids_in_an_older_format": _with(lambda f: (f.update(nbformat_minor=4), _each(id="a")(f))),
    "null_ids": _each(id=None),
    "the_same_id_everywhere": _each(id="same"),
    "ids_of_the_wrong_kind": _each(id=["x", {"y": 1}]),
    "no_ids": lambda f: f,
    "version_3": _v3,
    "widget_state_without_state": _with(lambda f: f["metadata"].update(widgets=WIDGETS)),
    "widget_view": _each(outputs=[VIEW]),
    "big_old_outputs": _each(
        outputs=[{"output_type": "stream", "name": "stdout", "text": "all tests passed " * 60_000}]
    ),
    "outputs_that_are_none": _each(outputs=None),
    "outputs_of_the_wrong_kind": _each(outputs={"a": 1}, execution_count="x"),
    "kernel_of_ones_own": _with(lambda f: f["metadata"].update(kernelspec={"name": "conda-env-dl-py"})),
    "no_kernel": _with(lambda f: f["metadata"].clear()),
    "metadata_none": _with(lambda f: f.update(metadata=None)),
    "metadata_list": _with(lambda f: f.update(metadata=[1])),
    "kernel_of_the_wrong_kind": _with(lambda f: f["metadata"].update(kernelspec=[1])),
    "language_of_the_wrong_kind": _with(lambda f: f["metadata"].update(kernelspec={"language": 3})),
    "no_version": _with(lambda f: (f.pop("nbformat"), f.pop("nbformat_minor"))),
    "version_is_text": _with(lambda f: f.update(nbformat="4", nbformat_minor="x")),
    "later_minor": _with(lambda f: f.update(nbformat_minor=17)),
    "source_in_lines": _with(lambda f: [c.update(source=c["source"].splitlines(keepends=True)) for c in f["cells"]]),
    "lines_of_the_wrong_kind": _with(lambda f: [c.update(source=[None, c["source"], 3, ["x"]]) for c in f["cells"]]),
    "metadata_of_cells_of_the_wrong_kind": _with(
        lambda f: f["cells"].extend({**cell("code", ""), "metadata": odd} for odd in (None, [1], "nbgrader", 7))
    ),
    "marks_of_the_wrong_kind": _with(
        lambda f: f["cells"].extend({**cell("code", ""), "metadata": {"nbgrader": odd}} for odd in ([1], "grade_id", 7))
    ),
    "attachments_and_tags": _with(
        lambda f: [
            c["metadata"].update(tags=["x"], jupyter={"source_hidden": True}, editable=False) for c in f["cells"]
        ]
    ),
    "cells_that_are_none": _with(lambda f: f["cells"].extend([None, 3, "x", []])),
    "ids_to_grade_of_the_wrong_kind": _with(
        lambda f: f["cells"].extend([cell("code", "", 7), cell("code", "", ["setup"]), cell("code", "", {"a": 1})])
    ),
    "type_of_the_wrong_kind": _with(lambda f: f["cells"].extend([cell([], ""), cell({}, ""), cell(None, "")])),
}


@pytest.mark.parametrize("oddity", ODD_BUT_WHOLE)
def test_an_odd_container_costs_nothing(oddity: str) -> None:
    notebook, notes = assert_whole(saved(ODD_BUT_WHOLE[oddity](submitted())), ANSWERS)
    assert notes == []
    assert "print(1)" in free(notebook)
    assert len(nbformat.writes(notebook)) < 20_000


def test_a_byte_order_mark_is_no_trouble() -> None:
    assert assert_whole(b"\xef\xbb\xbf" + saved(submitted()), ANSWERS)[1] == []


def _deep(brackets: int) -> bytes:
    return b'{"cells":' + b"[" * brackets + b"]" * brackets + b"}"


UNREADABLE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty"),
    "blank": (b" \r\n\t", "is empty"),
    "html": (b"<!DOCTYPE html><html><script>x</script></html>", "is an HTML page"),
    "html_after_blanks": (b"\n\n <HTML>", "is an HTML page"),
    "git_conflict": (b'{"cells": [\n<<<<<<< HEAD\n=======\n>>>>>>> origin/main\n]}', "conflict markers of git"),
    "cut_off": (saved(submitted())[:300], "is not JSON"),
    "binary": (bytes(range(256)), "is not JSON"),
    "zeros": (bytes(1000), "is not JSON"),
    "zip": (b"PK\x03\x04" + bytes(30), "is not JSON"),
    "utf16": (json.dumps(submitted()).encode("utf-16"), "is not JSON"),
    "a_python_file": (b"import torch\n", "is not JSON"),
    "root_is_a_list": (b"[]", "JSON but no notebook"),
    "root_is_null": (b"null", "JSON but no notebook"),
    "root_is_nan": (b"NaN", "JSON but no notebook"),
    "no_cells": (b"{}", "no list of cells"),
    "cells_are_a_dict": (b'{"cells": {}, "nbformat": 4}', "no list of cells"),
    "made_by_a_newer_format": (saved({**submitted(), "nbformat": 5}), "made by a newer format; save"),
    "old_and_broken": (b'{"nbformat": 3, "worksheets": 7}', "old format"),
    "worksheets_in_depth": (b'{"nbformat": 3, "worksheets": [{"cells": [{"cell_type": 5}]}]}', "old format"),
    "r": (saved({**submitted(), "metadata": {"kernelspec": {"name": "ir", "language": "R"}}}), "not a Python notebook"),
    "deep": (_deep(100_000), "is not JSON"),
    "long_number": (b'{"cells": ' + b"1" * 5000 + b"}", "is not JSON"),
    "too_many_cells": (saved({"cells": [cell("code", "1")] * 100_000}), "100000 cells; more than 2000"),
    "too_many_parts": (b'{"cells": [' + b"[]," * 4_000_000 + b"0]}", "too many parts"),
}


@pytest.mark.parametrize("state", UNREADABLE)
def test_an_unreadable_file_becomes_the_release_and_one_sentence(state: str) -> None:
    data, why = UNREADABLE[state]
    notebook, notes = assert_whole(data, {})
    assert free(notebook) == []
    assert len(notes) == 1
    assert why in notes[0]


def test_a_file_over_the_limit_is_not_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(restore, "MAX_BYTES", 1000)
    path = tmp_path / "a.ipynb"
    path.write_bytes(saved(submitted()) + b" " * 100_000)
    data = restore.content_of(path)
    assert len(data) == 1001
    assert "more than" in assert_whole(data, {})[1][0]


def test_a_notebook_that_is_a_folder_reads_as_empty_and_one_that_is_not_there_as_none(tmp_path: Path) -> None:
    assert restore.content_of(tmp_path) == b""
    assert restore.content_of(tmp_path / "none") is None


def test_who_handed_in_no_notebook_gets_the_released_one_and_one_sentence() -> None:
    notebook, notes = restored(None, RELEASE)
    assert list(by_id(notebook)) == [r.grade_id for r in RELEASE]
    assert notes == ["there is no notebook, or none of the released name; hand it in beside the modules"]


def test_a_language_cannot_bring_markup_into_the_note() -> None:
    language = "<script>alert(1)</script>\n# Full marks"
    notes = assert_whole(saved({"metadata": {"kernelspec": {"language": language}}, "cells": []}), {})[1]
    assert not set("<>\n#") & set(notes[0])


def test_an_empty_notebook_names_every_missing_cell() -> None:
    assert len(assert_whole(saved({"cells": []}), {})[1]) == len(RELEASE)


def test_lone_surrogates_become_question_marks() -> None:
    file = submitted()
    file["cells"][1]["source"] = 's = "\ud800"'
    assert_whole(saved(file), {**ANSWERS, "softmax": 's = "?"'})


def test_an_endless_cell_is_cut_with_a_note() -> None:
    file = submitted()
    file["cells"][1]["source"] = "#" * 10_000_000
    notebook, notes = assert_whole(saved(file))
    assert len(by_id(notebook)["softmax"].source) == restore.MAX_SOURCE
    assert notes == ["1 cells were too long; the first 100000 characters of each were read"]


def test_nothing_is_executed(tmp_path: Path) -> None:
    trap = f"open({str(tmp_path / 'ran')!r}, 'w')"
    file = submitted()
    file["cells"][1]["source"] = file["cells"][2]["source"] = trap
    file["metadata"]["kernelspec"] = {"name": trap, "argv": ["touch", str(tmp_path / "ran")], "language": "python"}
    assert_whole(saved(file))
    assert list(tmp_path.iterdir()) == []


# anything at all

ODD_VALUES: list[Any] = [
    None,
    True,
    -1,
    1e400,
    float("nan"),
    10**40,
    "",
    "x",
    "\ud800",
    "<b>",
    [],
    {},
    ["a"],
    {"a": [1]},
]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a JSON document, as a container and a key."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    for key in keys:
        yield value, key
        yield from places(value[key])


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32), changes=st.integers(1, 8), old=st.booleans())
def test_mangled_notebooks_come_out_whole(seed: int, changes: int, old: bool) -> None:
    """Parts are exchanged, removed, doubled and swapped at random."""
    chance = random.Random(seed)
    file = _v3(submitted()) if old else submitted()
    for _ in range(changes):
        container, key = chance.choice(list(places(file)) or [(file, "cells")])
        other = chance.choice([*ODD_VALUES, *(c[k] for c, k in places(submitted()))])
        way = chance.randrange(3)
        if way == 0 or (isinstance(container, dict) and way == 2):
            container[key] = other
        elif way == 1:
            del container[key]
        else:
            container.insert(chance.randrange(len(container) + 1), json.loads(json.dumps(container[key])))
    assert_whole(saved(file))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_come_out_whole(data: bytes) -> None:
    assert_whole(data)


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_damaged_bytes_come_out_whole(seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray(saved(submitted()))
    for _ in range(chance.randrange(1, 6)):
        start = chance.randrange(len(data))
        data[start : start + chance.randrange(8)] = chance.choice(string.printable).encode() * chance.randrange(4)
    assert_whole(bytes(data))
