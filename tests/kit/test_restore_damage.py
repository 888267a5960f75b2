"""What a notebook file says about itself, and files that are none: a whole notebook comes out all the same."""

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
from notebook_files import ANSWERS, RELEASE, File, assert_whole, by_id, cell, free, saved, submitted

from autograder.notebooks import restore
from autograder.notebooks.restore import restored


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
