"""A notebook handed in instead of Python files: its cells are graded as the modules they are (B01, B03, B09, B12, B40)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from grading import ASSIGNMENT, EXERCISES, ROOT, batch, handed_in, lost, run, solution, with_body

from autograder.course import CourseFiles, load_course
from autograder.intake import Part, Submission, collect, parts_of

PARTS = {
    "layer_norm": Part(frozenset({"layer_norm"}), {}),
    "feed_forward": Part(frozenset({"gelu", "FeedForward"}), {}),
    "block": Part(frozenset({"Block"}), {"layer_norm": ["layer_norm"], "feed_forward": ["FeedForward", "gelu"]}),
}
QUICK = ("masked_softmax", "multi_head", "layer_norm", "feed_forward", "transformer_block")
IMPORTS = "import torch\nfrom torch import nn"
NORM = "def layer_norm(x, gamma, beta):\n    return x"
FORWARD = "def gelu(x):\n    return x\n\nclass FeedForward(nn.Module):\n    pass"
BLOCK = "class Block(nn.Module):\n    pass"


def code(source: str | list[str], **other: Any) -> dict[str, Any]:
    cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
    return cell | other


def notebook(*sources: Any, **other: Any) -> bytes:
    cells = [code(source) if isinstance(source, str) else source for source in sources]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells, **other}).encode()


def one(root: Path, tree: Mapping[str, bytes], parts: Mapping[str, Part] = PARTS) -> Submission:
    """What is collected from a single student's folder."""
    for name, content in tree.items():
        (root / "s02" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "s02" / name).write_bytes(content)
    (submission,) = collect([root / "s02"], list(parts), ASSIGNMENT, parts=parts)
    return submission


def text(submission: Submission, exercise: str) -> str:
    return submission.files[exercise].content.decode()


def said(submission: Submission) -> str:
    return "\n".join(submission.notes)


ALL = (IMPORTS, NORM, "print(layer_norm(torch.ones(2), 1, 0))", FORWARD, BLOCK)


def test_each_exercise_gets_its_cells_and_those_of_nobody(tmp_path: Path) -> None:
    row = one(tmp_path, {"my work.ipynb": notebook(*ALL)})
    assert (row.status, list(row.files)) == ("ready", list(PARTS))
    assert text(row, "layer_norm") == "\n\n".join([IMPORTS, NORM, ALL[2]]) + "\n"
    assert "gelu" in text(row, "feed_forward") and "def layer_norm" not in text(row, "feed_forward")
    assert text(row, "block").startswith(
        "from layer_norm import layer_norm\nfrom feed_forward import FeedForward, gelu\n"
    )
    assert "took layer_norm.py, feed_forward.py, block.py from the cells of my work.ipynb" in said(row)
    assert "my work.ipynb" not in row.ignored


def test_a_python_file_counts_before_a_notebook(tmp_path: Path) -> None:
    row = one(tmp_path, {"layer_norm.py": b"x = 1\n", "all.ipynb": notebook(*ALL)})
    assert text(row, "layer_norm") == "x = 1\n" and "FeedForward" in text(row, "feed_forward")
    assert row.files["block"].path == "all.ipynb"


def test_what_no_cell_defines_is_missing(tmp_path: Path) -> None:
    row = one(tmp_path, {"all.ipynb": notebook(IMPORTS, NORM, "from block import Block")})
    assert list(row.files) == ["layer_norm"] and "block.py is missing" in said(row)


def test_of_a_cell_that_stands_twice_the_later_counts_and_nothing_is_counted_twice(tmp_path: Path) -> None:
    row = one(tmp_path, {"all.ipynb": notebook(NORM, NORM.replace("return x", "return x + 1"))})
    namespace: dict[str, Any] = {}
    exec(text(row, "layer_norm"), namespace)  # the test's own text
    assert namespace["layer_norm"](1, 0, 0) == 2


def test_two_notebooks_with_one_exercise_are_left_to_staff_and_copies_are_not(tmp_path: Path) -> None:
    row = one(tmp_path / "a", {"a.ipynb": notebook(NORM), "b.ipynb": notebook(NORM + " + 1", FORWARD)})
    assert (row.status, list(row.files)) == ("needs attention", ["feed_forward"])
    assert "layer_norm is in 2 notebooks (a.ipynb, b.ipynb)" in said(row)
    copies = one(tmp_path / "b", {"a.ipynb": notebook(NORM), "a (1).ipynb": notebook(NORM)})
    assert (copies.status, list(copies.files)) == ("ready", ["layer_norm"])


def test_commands_of_notebooks_are_no_python(tmp_path: Path) -> None:
    cells = ["%matplotlib inline\n!pip install torch\nimport torch", f"%%time\n{NORM}", "%%bash\nclass Block:"]
    row = one(tmp_path, {"all.ipynb": notebook(*cells)})
    assert list(row.files) == ["layer_norm"]
    compile(text(row, "layer_norm"), "layer_norm.py", "exec")
    assert "# !pip install torch" in text(row, "layer_norm")


def test_a_cell_that_writes_the_file_is_the_file(tmp_path: Path) -> None:
    row = one(tmp_path, {"colab.ipynb": notebook("import os", f"%%writefile layer_norm.py\n{NORM}\n")})
    assert text(row, "layer_norm") == f"{NORM}\n"


def test_imports_from_the_future_come_first(tmp_path: Path) -> None:
    row = one(tmp_path, {"all.ipynb": notebook(IMPORTS, f"from __future__ import annotations\n{BLOCK}", NORM, FORWARD)})
    assert text(row, "block").startswith("from __future__ import annotations\nfrom layer_norm import")
    compile(text(row, "block"), "block.py", "exec")


# -- odd containers (B12)

OLD = {
    "nbformat": 3,
    "nbformat_minor": 0,
    "metadata": {},
    "worksheets": [{"cells": [{"cell_type": "code", "input": NORM.splitlines(keepends=True), "language": "python"}]}],
}
WIDGETS = {"widgets": {"application/vnd.jupyter.widget-state+json": {"abc": {}}}}


@pytest.mark.parametrize(
    "content",
    [
        notebook(code(NORM, id="a"), nbformat_minor=4),
        notebook(code(NORM, id=None)),
        json.dumps(OLD).encode(),
        notebook(NORM, metadata=WIDGETS),
        notebook(code(NORM, outputs=[{"output_type": "stream", "text": "all tests passed " * 120_000}])),
        b"\xef\xbb\xbf" + notebook(NORM),
        notebook(NORM, metadata={"kernelspec": {"name": "conda-env-dl-py", "language": "python"}}),
        notebook(NORM, None, 7, {"cell_type": "code"}, {"cell_type": "code", "source": 3}),
        notebook(code([f"{line}\n" for line in NORM.split("\n")])),
    ],
    ids=["ids too early", "null id", "format 3", "widgets", "2 MB of output", "mark", "kernel", "odd cells", "lines"],
)
def test_a_notebook_that_is_valid_enough_is_read(tmp_path: Path, content: bytes) -> None:
    row = one(tmp_path, {"week.ipynb": content})
    assert (row.status, list(row.files)) == ("ready", ["layer_norm"])
    assert "all tests passed" not in text(row, "layer_norm")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"<!DOCTYPE html><html></html>", "is a web page; download the raw file"),
        (b'{"cells": [\n<<<<<<< HEAD\n{}]}', "has a git conflict marker in line 2"),
        (b"[]", "is no notebook"),
        (b"{", "cannot be read as a notebook"),
        (b"[" * 100_000, "cannot be read as a notebook"),
        (b"\xff\xfe{\0}\0", "is saved as UTF-16"),
        (notebook(NORM, nbformat=5), "was made by a newer format; save it as version 4"),
        (notebook(NORM, nbformat="4"), "is no notebook"),
        (notebook(NORM, metadata={"kernelspec": {"name": "ir", "language": "R"}}), "is not a Python notebook"),
    ],
)
def test_a_notebook_that_cannot_be_read_is_a_row_that_says_why(tmp_path: Path, content: bytes, sentence: str) -> None:
    row = one(tmp_path, {"week.ipynb": content})
    assert (row.status, dict(row.files)) == ("unreadable", {})
    assert f"week.ipynb {sentence}" in said(row)


def test_odd_cells_are_no_error(tmp_path: Path) -> None:
    for number, cells in enumerate(({}, 3, None, [[]], [{"cell_type": "code", "source": [1, None]}])):
        row = one(tmp_path / str(number), {"week.ipynb": notebook(cells=cells)})
        assert (row.status, dict(row.files)) == ("needs attention", {})


def test_notebooks_are_not_opened_when_no_exercise_is_missing(tmp_path: Path) -> None:
    files = {f"{name}.py": b"x = 1\n" for name in PARTS}
    row = one(tmp_path, {**files, "week08.ipynb": b"broken"})
    assert (row.status, row.ignored) == ("ready", ("week08.ipynb",))


# -- the course's own exercises


def test_a_notebook_with_all_exercises_of_the_course_earns_what_the_modules_earn(tmp_path: Path) -> None:
    wrong = with_body(solution("layer_norm"), "layer_norm", "return x * gamma + beta")
    cells = [wrong if name == "layer_norm" else solution(name) for name in EXERCISES]
    without_siblings = ["\n".join(line for line in cell.splitlines() if not _imports_sibling(line)) for cell in cells]
    parts = parts_of(CourseFiles(ROOT), load_course(ROOT).assignment(ASSIGNMENT))
    assert list(parts) == list(EXERCISES)
    row = one(tmp_path, {"week08.ipynb": notebook(*without_siblings)}, parts)
    assert list(row.files) == list(EXERCISES)
    modules = handed_in("modules", {name: solution(name) for name in EXERCISES} | {"layer_norm": wrong})
    receipts = run(batch([row, modules], exercises=QUICK))
    assert lost(receipts["s02"]) == lost(receipts["modules"]) != {}


def _imports_sibling(line: str) -> bool:
    return line.startswith("from ") and line.split()[1] in EXERCISES
