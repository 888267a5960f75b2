"""Intake finds each exercise's file whatever it is called and wrapped in, and never guesses in silence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hand_ins import GOOD, OTHER, one, said

# -- a plain hand-in


def test_files_under_their_own_names_are_ready_and_unchanged(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf# d\xe9j\xe0\r\nx = 1\r"
    row = one(tmp_path, {"layer_norm.py": content, "feed_forward.py": GOOD}, ("layer_norm", "feed_forward"))
    assert (row.status, row.notes, row.ignored, row.name) == ("ready", (), (), "Bo")
    assert row.files["layer_norm"].content == content
    assert list(row.files) == ["layer_norm", "feed_forward"]


def test_a_missing_exercise_is_absent_and_named(tmp_path: Path) -> None:
    row = one(tmp_path, {"layer_norm.py": GOOD}, ("layer_norm", "feed_forward"))
    assert row.status == "ready"
    assert list(row.files) == ["layer_norm"]
    assert "feed_forward.py is missing" in said(row)


def test_the_digest_depends_on_exercises_and_bytes_only(tmp_path: Path) -> None:
    first = one(tmp_path / "a", {"layer_norm.py": GOOD, "feed_forward.py": OTHER}, ("layer_norm", "feed_forward"))
    wrapped = {"week08/feed_forward.py": OTHER, "week08/layer_norm (1).py": GOOD, "week08/notes.txt": b""}
    again = one(tmp_path / "b", wrapped, ("feed_forward", "layer_norm"))
    os.utime(tmp_path / "a/s02/layer_norm.py", (0, 0))
    swapped = one(tmp_path / "c", {"layer_norm.py": OTHER, "feed_forward.py": GOOD}, ("layer_norm", "feed_forward"))
    assert first.digest == again.digest != swapped.digest


# -- other names (B01)


@pytest.mark.parametrize(
    "name",
    [
        "layer_norm (1).py",
        "layer_norm(1).py",
        "Layer_Norm.py",
        "layer_norm-2.py",
        "s02_layer_norm_FINAL.py",
        "layer-norm.py",
        "LayerNorm.py",
        "layernorm.py",
        "layer_norm.py.txt",
        "layer_norm.PY",
        "layer norm.py",
        "layer_norm - Copy (2).py",
        "am_layer_norm.py",
        "Bo_layer_norm_v2.py",
        "week08_layer_norm.py",
    ],
)
def test_the_only_file_with_nearly_the_name_is_taken_and_said(tmp_path: Path, name: str) -> None:
    row = one(tmp_path, {name: GOOD})
    assert row.status == "ready"
    assert row.files["layer_norm"].content == GOOD
    assert row.files["layer_norm"].path == name
    assert f"graded {name} as layer_norm.py" in said(row)


@pytest.mark.parametrize("near", ["layer_norm (1).py", "Layer_Norm.py", "s02_layer_norm_FINAL.py"])
def test_the_name_and_nearly_the_name_with_other_content_are_left_to_staff(tmp_path: Path, near: str) -> None:
    row = one(tmp_path, {"layer_norm.py": GOOD, near: OTHER, "embedding.py": GOOD}, ("embedding", "layer_norm"))
    assert row.status == "needs attention"
    assert list(row.files) == ["embedding"]
    assert "layer_norm.py" in said(row)
    assert near in said(row)


def test_an_empty_file_beside_a_copy_is_left_to_staff(tmp_path: Path) -> None:
    row = one(tmp_path, {"layer_norm.py": b"", "layer_norm (1).py": GOOD})
    assert (row.status, dict(row.files)) == ("needs attention", {})


def test_a_copy_with_the_same_content_is_harmless(tmp_path: Path) -> None:
    row = one(tmp_path, {"layer_norm.py": GOOD, "layer_norm (1).py": GOOD})
    assert row.status == "ready"
    assert row.files["layer_norm"].path == "layer_norm.py"
    assert "the same" in said(row)
    assert row.ignored == ("layer_norm (1).py",)


def test_a_helper_with_the_exercise_in_its_name_does_not_hold_up_the_exercise(tmp_path: Path) -> None:
    row = one(tmp_path, {"layer_norm.py": GOOD, "plot_layer_norm.py": OTHER})
    assert row.status == "ready"
    assert row.files["layer_norm"].path == "layer_norm.py"
    assert "plot_layer_norm.py was not graded" in said(row)


def test_the_longest_exercise_name_wins(tmp_path: Path) -> None:
    row = one(tmp_path, {"s02_multi_head_attention.py": GOOD}, ("attention", "multi_head_attention"))
    assert list(row.files) == ["multi_head_attention"]


def test_a_name_that_fits_two_exercises_is_nobodys_guess(tmp_path: Path) -> None:
    row = one(tmp_path, {"layer_norm_and_feed_forward.py": GOOD}, ("layer_norm", "feed_forward"))
    assert (row.status, dict(row.files)) == ("needs attention", {})
    assert "feed_forward.py or layer_norm.py" in said(row)


def test_a_name_that_fits_two_exercises_does_not_hold_up_files_with_their_own_names(tmp_path: Path) -> None:
    names = ("layer_norm.py", "feed_forward.py", "compare_layer_norm_feed_forward.py")
    row = one(tmp_path, dict.fromkeys(names, GOOD), ("layer_norm", "feed_forward"))
    assert (row.status, row.ignored) == ("ready", names[2:])


@pytest.mark.parametrize("name", ["test_layer_norm.py", "layer_norm_test.py", "layer_norm.py.bak", "layer_norm.pyc"])
def test_tests_and_backups_are_not_answers(tmp_path: Path, name: str) -> None:
    row = one(tmp_path, {name: GOOD, "embedding.py": GOOD}, ("embedding", "layer_norm"))
    assert list(row.files) == ["embedding"]
    assert "layer_norm.py is missing" in said(row)


def test_a_notebook_instead_of_the_file_is_named(tmp_path: Path) -> None:
    row = one(tmp_path, {"layer_norm.ipynb": b"{}"})
    assert row.status == "needs attention"
    assert "layer_norm.ipynb is a notebook and was not graded" in said(row)


def test_an_unknown_name_is_reported_not_zero(tmp_path: Path) -> None:
    row = one(tmp_path, {"attn.py": GOOD})
    assert row.status == "needs attention"
    assert "No exercise file was found" in said(row)
    assert row.ignored == ("attn.py",)


# -- folders around the files


@pytest.mark.parametrize("wrapper", ["hw1/", "a/b/", "a/b/c/"])
def test_wrapper_folders_are_looked_through(tmp_path: Path, wrapper: str) -> None:
    row = one(tmp_path, {f"{wrapper}layer_norm.py": GOOD, "README.md": b"", f"{wrapper}.git/layer_norm.py": OTHER})
    assert row.status == "ready"
    assert row.files["layer_norm"].path == f"{wrapper}layer_norm.py"
    assert row.ignored == ("README.md",)


def test_copies_further_down_never_replace_or_complete_the_files(tmp_path: Path) -> None:
    tree = {"layer_norm.py": GOOD, "old/layer_norm.py": OTHER, "old/embedding.py": OTHER}
    row = one(tmp_path, tree, ("embedding", "layer_norm"))
    assert row.status == "needs attention"
    assert row.files["layer_norm"].content == GOOD
    assert "embedding" not in row.files
    assert "old/embedding.py" in said(row)
    assert row.ignored == ("old/",)


@pytest.mark.parametrize("folder", ["selfcheck/stand_ins", "rigs", "examples", "tests", "venv/lib"])
def test_files_that_came_with_the_bundle_are_never_answers(tmp_path: Path, folder: str) -> None:
    row = one(tmp_path, {f"{folder}/layer_norm.py": OTHER, "embedding.py": GOOD}, ("embedding", "layer_norm"))
    assert (row.status, list(row.files)) == ("ready", ["embedding"])
    only = one(tmp_path / "only", {f"{folder}/layer_norm.py": OTHER})
    assert (only.status, dict(only.files)) == ("needs attention", {})


def test_one_file_in_two_folders_is_left_to_staff(tmp_path: Path) -> None:
    row = one(tmp_path, {"day1/layer_norm.py": GOOD, "day2/layer_norm.py": OTHER})
    assert (row.status, dict(row.files)) == ("needs attention", {})
    assert "day1/layer_norm.py, day2/layer_norm.py" in said(row)


def test_each_exercise_in_a_folder_of_its_own_is_found(tmp_path: Path) -> None:
    tree = {"layer_norm/layer_norm.py": GOOD, "embedding/embedding.py": OTHER}
    row = one(tmp_path, tree, ("embedding", "layer_norm"))
    assert (row.status, list(row.files)) == ("ready", ["embedding", "layer_norm"])
