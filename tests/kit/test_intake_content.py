"""Intake looks at content only to say what cannot be graded, and reads nothing but the exercises' files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hand_ins import GOOD, THREE, one, put, said

from autograder.intake import collect, files

# -- nothing to grade (B03)


def test_absent_empty_and_unreadable_are_different(tmp_path: Path) -> None:
    put(tmp_path / "class", {"s01/": b"", "s02/layer_norm.py": b""})
    rows = collect([tmp_path / "class"], ["layer_norm"], "week08", THREE)
    assert [(row.student, row.status) for row in rows] == [
        ("s01", "not submitted"),
        ("s02", "unreadable"),
        ("s03", "not submitted"),
    ]
    assert [row.notes[0] for row in rows] == [
        "class/s01 is empty; hand in your exercise files.",
        "layer_norm.py is empty; save your work and hand it in again.",
        "Nothing was handed in; hand in your exercise files.",
    ]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "layer_norm.py is empty"),
        (b"\xef\xbb\xbf \r\n", "layer_norm.py is empty"),
        (b"<!DOCTYPE html><html></html>", "is a web page; download the raw file"),
        (b"\xef\xbb\xbf\n <HTML lang='en'>", "is a web page"),
        ("x = 1\n".encode("utf-16"), "UTF-16"),
        ("x = 1\n".encode("utf-16-be"), "zero bytes"),
        (b"x = 1\0\n", "zero bytes"),
        (b'{"cells": [], "nbformat": 4}', "notebook"),
        (b"PK\x03\x04rest", "zip file under a .py name"),
        (b"{\\rtf1 x = 1}", "word processor"),
        (b"#" * (files.MAX_FILE_BYTES + 1), "larger than 1 MB"),
    ],
)
def test_a_file_that_is_no_python_text_is_unreadable(tmp_path: Path, content: bytes, sentence: str) -> None:
    row = one(tmp_path, {"layer_norm.py": content})
    assert (row.status, dict(row.files)) == ("unreadable", {})
    assert sentence in said(row)


def test_one_unreadable_file_leaves_the_others(tmp_path: Path) -> None:
    row = one(tmp_path, {"layer_norm.py": b"", "embedding.py": GOOD}, ("embedding", "layer_norm"))
    assert (row.status, list(row.files)) == ("needs attention", ["embedding"])


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_conflict_marker_is_named_with_its_line_and_the_file_passed_on(tmp_path: Path, end: bytes) -> None:
    content = end.join([b"import torch", b"", b"<<<<<<< HEAD", b"x = 1", b"=======", b"x = 2", b">>>>>>> b"])
    row = one(tmp_path, {"layer_norm.py": content})
    assert row.status == "ready"
    assert row.files["layer_norm"].content == content
    assert "conflict marker in line 3" in said(row)


def test_an_underlined_heading_is_no_conflict(tmp_path: Path) -> None:
    assert one(tmp_path, {"layer_norm.py": b'"""Title\n=======\n"""\n'}).notes == ()


# -- files that would matter elsewhere (B07, B08, N06)


def test_the_students_tests_and_settings_are_listed_and_never_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extras = ("conftest.py", "measurement_test.py", "pytest.ini", "test_own.py", "ln.so", "layer_norm.ipynb")
    opened: list[str] = []
    real = os.open

    def watched(path: str, *arguments: Any, **keywords: Any) -> int:
        opened.append(os.path.basename(path))
        return real(path, *arguments, **keywords)

    put(tmp_path / "s02", {"layer_norm.py": GOOD, "__pycache__/layer_norm.cpython-311.pyc": b"\0"})
    put(tmp_path / "s02", dict.fromkeys(extras, b"import nosuchmodule"))
    monkeypatch.setattr(os, "open", watched)
    row = one(tmp_path, {})
    assert row.status == "ready"
    assert row.ignored == tuple(sorted(extras))
    assert "layer_norm.ipynb is a notebook and was not graded" in said(row)
    assert not set(extras) & set(opened)
    assert "layer_norm.py" in opened


@pytest.mark.parametrize("name", ["random.py", "torch.py", "typing.py", "sitecustomize.py", "numpy/__init__.py"])
def test_a_file_that_hides_a_module_is_ignored_and_named(tmp_path: Path, name: str) -> None:
    row = one(tmp_path, {"layer_norm.py": GOOD, name: b"X = 1"})
    shown = name.removesuffix("__init__.py")
    assert (row.status, list(row.files), row.ignored) == ("ready", ["layer_norm"], (shown,))
    assert f"{shown} was ignored; rename it" in said(row)


def test_a_package_beside_the_file_is_named_and_the_file_graded(tmp_path: Path) -> None:
    row = one(tmp_path, {"layer_norm.py": GOOD, "layer_norm/__init__.py": b""})
    assert (row.status, row.files["layer_norm"].content) == ("ready", GOOD)
    assert "The folder layer_norm/ was ignored" in said(row)


def test_the_list_of_ignored_files_stays_short(tmp_path: Path) -> None:
    row = one(tmp_path, {"layer_norm.py": GOOD, **{f"{number:03}.txt": b"" for number in range(200)}})
    assert len(row.ignored) == 51
    assert row.ignored[-1] == "and 150 more"


def test_the_list_of_notes_stays_short(tmp_path: Path) -> None:
    names = ("embedding.py", *(f"plot{number}_layer_norm_feed_forward.py" for number in range(200)))
    row = one(tmp_path, dict.fromkeys(names, GOOD), ("embedding", "layer_norm", "feed_forward"))
    assert len(row.notes) == 41
