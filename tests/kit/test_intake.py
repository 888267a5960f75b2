"""Intake finds each student's files whatever they are called and wrapped in, and never guesses in silence."""

import os
import socket
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from autograder.intake import IntakeError, Roster, Submission, collect, files

EXERCISES = ("embedding", "masked_softmax", "multi_head", "layer_norm", "feed_forward", "transformer_block")
GOOD = b"def layer_norm(x, gamma, beta, eps=1e-5):\n    return x\n"
OTHER = b"def layer_norm(x, gamma, beta, eps=1e-5):\n    return x * gamma + beta\n"
THREE = Roster({"s01": "Ana", "s02": "Bo", "s03": None})


def put(root: Path, tree: Mapping[str, bytes]) -> Path:
    """Writes files by relative name; a name that ends in / is an empty folder."""
    root.mkdir(parents=True, exist_ok=True)
    for name, content in tree.items():
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return root


def one(root: Path, tree: Mapping[str, bytes], exercises: tuple[str, ...] = ("layer_norm",)) -> Submission:
    """What is collected from a single student's folder."""
    (submission,) = collect([put(root / "s02", tree)], exercises, "week08", Roster({"s02": "Bo"}))
    assert submission.student == "s02"
    return submission


def said(submission: Submission) -> str:
    return "\n".join(submission.notes)


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


# -- what is not a regular file (I01-I05)


def test_a_link_is_never_followed(tmp_path: Path) -> None:
    put(tmp_path, {"secret/layer_norm.py": OTHER, "class/s01/": b"", "class/s02/": b""})
    (tmp_path / "class/s01/layer_norm.py").symlink_to(tmp_path / "secret/layer_norm.py")
    (tmp_path / "class/s02/week08").symlink_to(tmp_path / "secret")
    (tmp_path / "class/s03").symlink_to(tmp_path / "secret")
    rows = collect([tmp_path / "class"], ["layer_norm"], "week08", THREE)
    assert all(not row.files for row in rows)
    assert [row.status for row in rows] == ["unreadable", "needs attention", "unreadable"]
    assert "layer_norm.py is a symbolic link" in said(rows[0])
    assert "s03 is a symbolic link" in said(rows[2])


def test_a_folder_that_becomes_a_link_is_not_followed(tmp_path: Path) -> None:
    put(tmp_path, {"secret/layer_norm.py": OTHER, "s02/week08/layer_norm.py": GOOD})
    tree = files.FolderTree(tmp_path / "s02")
    (entry,) = tree.children("week08")
    (tmp_path / "s02/week08").rename(tmp_path / "s02/elsewhere")
    (tmp_path / "s02/week08").symlink_to(tmp_path / "secret")
    with pytest.raises(files.Refused):
        entry.load(1000)
    with pytest.raises(files.Refused):
        tree.children("week08")


@pytest.mark.parametrize("target", ["/dev/zero", "nowhere", "layer_norm.py"])
def test_links_to_devices_to_nothing_and_to_themselves_are_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "s02").mkdir()
    (tmp_path / "s02/layer_norm.py").symlink_to(target)
    assert one(tmp_path, {}).status == "unreadable"


def test_a_pipe_does_not_block(tmp_path: Path) -> None:
    (tmp_path / "s02").mkdir()
    os.mkfifo(tmp_path / "s02/layer_norm.py")
    row = one(tmp_path, {})
    assert row.status == "unreadable"
    assert "layer_norm.py is a named pipe" in said(row)


def test_a_file_that_becomes_a_pipe_does_not_block(tmp_path: Path) -> None:
    put(tmp_path, {"layer_norm.py": GOOD})
    (entry,) = files.FolderTree(tmp_path).children("")
    (tmp_path / "layer_norm.py").unlink()
    os.mkfifo(tmp_path / "layer_norm.py")
    with pytest.raises(files.Refused, match="is a named pipe"):
        entry.load(1000)


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "s02").mkdir()
    monkeypatch.chdir(tmp_path / "s02")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("layer_norm.py")
        row = one(tmp_path, {})
    assert "layer_norm.py is a socket" in said(row)


def test_a_folder_in_place_of_a_file_is_unreadable(tmp_path: Path) -> None:
    row = one(tmp_path, {"layer_norm.py/x.py": GOOD})
    assert row.status == "unreadable"
    assert "layer_norm.py is a folder" in said(row)


def test_a_sparse_terabyte_is_refused_by_its_size(tmp_path: Path) -> None:
    with (put(tmp_path / "s02", {}) / "layer_norm.py").open("wb") as file:
        try:
            file.truncate(10**12)
        except OSError:
            pytest.skip("this file system has no such files")
    row = one(tmp_path, {})
    assert row.status == "unreadable"
    assert "larger than 1 MB" in said(row)


@pytest.mark.parametrize(("name", "left"), [("layer_norm.py", ["embedding"]), ("private", ["embedding", "layer_norm"])])
def test_what_may_not_be_read_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, left: list[str]
) -> None:
    real = os.open

    def denying(path: str, *arguments: object, **keywords: object) -> int:  # root may read everything
        if path == name:
            raise PermissionError(13, "Permission denied", path)
        return real(path, *arguments, **keywords)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", denying)
    tree = {"week08/layer_norm.py": GOOD, "week08/embedding.py": GOOD, "private/": b""}
    row = one(tmp_path, tree, ("embedding", "layer_norm"))
    assert (row.status, list(row.files)) == ("needs attention", left)
    assert "could not be read (Permission denied)" in said(row)


def test_thousands_of_files_are_refused_unless_exercises_lie_above_them(tmp_path: Path) -> None:
    half = files.MAX_ENTRIES // 2 + 1
    many = {f"{folder}/{number}.txt": b"" for folder in ("a", "b") for number in range(half)}
    row = one(tmp_path, many)
    assert row.status == "unreadable"
    assert "More than 2,000 files" in said(row)
    assert one(tmp_path, {"layer_norm.py": GOOD}).status == "ready"


def test_a_very_deep_folder_is_not_descended_for_ever(tmp_path: Path) -> None:
    row = one(tmp_path, {"d/" * 60 + "layer_norm.py": GOOD})
    assert (row.status, dict(row.files)) == ("needs attention", {})


def test_without_folder_descriptors_links_are_still_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_BY_DESCRIPTOR", False)
    monkeypatch.setattr(files, "_FILE", os.O_RDONLY)
    put(tmp_path, {"secret/layer_norm.py": OTHER, "s02/week08/layer_norm.py": GOOD})
    assert one(tmp_path, {}).files["layer_norm"].content == GOOD
    (tmp_path / "s02/week08/layer_norm.py").unlink()
    (tmp_path / "s02/week08/layer_norm.py").symlink_to(tmp_path / "secret/layer_norm.py")
    assert one(tmp_path, {}).status == "unreadable"
    with pytest.raises(files.Refused):
        files.FolderTree(tmp_path / "s02").children("week08/layer_norm.py")


# -- files that would matter elsewhere (B07, B08, N06)


def test_the_students_tests_and_settings_are_listed_and_never_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extras = ("conftest.py", "measurement_test.py", "pytest.ini", "test_own.py", "ln.so", "layer_norm.ipynb")
    opened: list[str] = []
    real = os.open

    def watched(path: str, *arguments: object, **keywords: object) -> int:
        opened.append(os.path.basename(path))
        return real(path, *arguments, **keywords)  # type: ignore[arg-type]

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


# -- whose it is (B05, R01, R02)

ODD_IDS = ["ana [lab 2]", "b+c", "o'neil (x)", "Zoë-学", "007", "-rf", "a b", "a.b", "=1+1", "%s", "~x", "$HOME"]


@pytest.mark.parametrize("with_roster", [True, False])
def test_every_id_arrives_exactly(tmp_path: Path, with_roster: bool) -> None:
    put(tmp_path / "class [v2]", {f"{student}/layer_norm.py": student.encode() for student in ODD_IDS})
    roster = Roster(dict.fromkeys(ODD_IDS, None)) if with_roster else None
    rows = collect([tmp_path / "class [v2]"], ["layer_norm"], "hw 1 [v2]", roster)
    assert [row.student for row in rows] == sorted(ODD_IDS)
    assert all(row.status == "ready" and row.files["layer_norm"].content == row.student.encode() for row in rows)


@pytest.mark.parametrize("form", ["{}/layer_norm.py", "hw 1 [v2]_{}_attempt_2025-03-03-11-00-00/layer_norm.py"])
def test_every_id_arrives_exactly_in_every_form_of_name(tmp_path: Path, form: str) -> None:
    put(tmp_path, {form.format(student): GOOD for student in ODD_IDS})
    put(tmp_path, {f"x_{student}_2025-03-03-11-00-00_layer_norm.py": GOOD for student in ODD_IDS})
    rows = collect([tmp_path], ["layer_norm"], "hw 1 [v2]")
    assert [row.student for row in rows] == sorted([*ODD_IDS, *(f"x_{student}" for student in ODD_IDS)])
    assert {row.status for row in rows} == {"ready"}


def test_content_never_says_whose_it_is(tmp_path: Path) -> None:
    put(tmp_path, {"s02/layer_norm.py": b'STUDENT_ID = "s01"\n'})
    rows = collect([tmp_path], ["layer_norm"], "week08", THREE)
    assert [row.status for row in rows] == ["not submitted", "ready", "not submitted"]


def test_the_roster_has_exactly_one_row_for_each_student_and_strangers_are_reported(tmp_path: Path) -> None:
    put(tmp_path, {"s01/layer_norm.py": GOOD, "S02/layer_norm.py": GOOD, "s03 (1)/layer_norm.py": GOOD})
    put(tmp_path, {"eve/layer_norm.py": GOOD, ".hidden/layer_norm.py": GOOD, "__MACOSX/s01/layer_norm.py": OTHER})
    rows = {row.student: row for row in collect([tmp_path], ["layer_norm"], "week08", THREE)}
    assert {name: row.status for name, row in rows.items()} == {
        "S02": "needs attention",
        "eve": "needs attention",
        "s01": "ready",
        "s02": "not submitted",
        "s03": "not submitted",
        "s03 (1)": "needs attention",
    }
    assert "eve is not in the roster" in said(rows["eve"])
    assert "s02's" in said(rows["S02"])
    assert "under the id S02" in said(rows["s02"])
    assert "s03's" in said(rows["s03 (1)"])
    assert not rows["eve"].files


def test_ids_that_differ_in_case_are_two_students_who_are_told(tmp_path: Path) -> None:
    rows = collect([put(tmp_path, {"s1/layer_norm.py": GOOD, "S1/layer_norm.py": OTHER})], ["layer_norm"], "week08")
    assert [(row.student, row.status) for row in rows] == [("S1", "ready"), ("s1", "ready")]
    assert "under the id s1" in said(rows[0])


def test_both_unicode_spellings_of_an_id_are_one_student(tmp_path: Path) -> None:
    put(tmp_path, {"Zoe\u0308/layer_norm.py": GOOD})
    (row,) = collect([tmp_path], ["layer_norm"], "week08", Roster({"Zo\u00eb": None}))
    assert (row.student, row.status) == ("Zo\u00eb", "ready")


@pytest.mark.parametrize("name", ["a\nb", "x" * 255, "DOM\\user7", " s02", "a\u202eb", b"caf\xe9"])
def test_a_folder_name_that_is_no_id_becomes_a_printable_row(tmp_path: Path, name: str | bytes) -> None:
    put(tmp_path / "class" / os.fsdecode(name), {"layer_norm.py": GOOD})
    put(tmp_path / "class", {"s01/layer_norm.py": GOOD})
    rows = collect([tmp_path / "class"], ["layer_norm"], "week08")
    odd = next(row for row in rows if row.student != "s01")
    assert (len(rows), odd.status, dict(odd.files)) == (2, "needs attention", {})
    assert len(odd.student.encode()) <= 4 * 120
    assert odd.student.isprintable()
    assert said(odd).isprintable()


# -- two hand-ins, attempts (B06)

FIRST, SECOND = "2025-03-03-11-00-00", "2025-03-03-17-00-00"
BOTH = ("layer_norm", "feed_forward")


def attempts(form: str, first: Mapping[str, bytes], second: Mapping[str, bytes]) -> dict[str, bytes]:
    named = {form.format(time=FIRST, file=file): content for file, content in first.items()}
    return named | {form.format(time=SECOND, file=file): content for file, content in second.items()}


FORMS = pytest.mark.parametrize(
    "form",
    ["week08_s02_attempt_{time}/{file}", "s02_{time}_{file}", "week08_s02_attempt_{time}_{file}"],
)


@FORMS
def test_the_latest_attempt_is_used_as_a_whole(tmp_path: Path, form: str) -> None:
    old = {"layer_norm.py": OTHER, "feed_forward.py": OTHER}
    new = {"layer_norm.py": GOOD, "feed_forward.py": GOOD}
    put(tmp_path, attempts(form, old, new))
    os.utime(tmp_path / form.format(time=SECOND, file="layer_norm.py"), (0, 0))
    row = collect([tmp_path], BOTH, "week08", THREE)[1]
    assert (row.student, row.status, row.attempt) == ("s02", "ready", "2025-03-03T17:00:00")
    assert [file.content for file in row.files.values()] == [GOOD, GOOD]
    assert "Only the latest attempt counts (2025-03-03T17:00:00)" in said(row)


@FORMS
def test_attempts_are_never_blended(tmp_path: Path, form: str) -> None:
    put(
        tmp_path,
        attempts(form, {"layer_norm.py": OTHER, "feed_forward.py": OTHER}, {"layer_norm.py": GOOD}),
    )
    row = collect([tmp_path], BOTH, "week08", THREE)[1]
    assert (row.status, row.attempt, list(row.files)) == ("needs attention", "2025-03-03T17:00:00", ["layer_norm"])
    assert "feed_forward.py is missing" in said(row)
    assert "the one of 2025-03-03T11:00:00 has it" in said(row)


def test_a_latest_attempt_without_anything_is_not_replaced_by_an_earlier_one(tmp_path: Path) -> None:
    put(tmp_path, {f"week08_s02_attempt_{FIRST}/layer_norm.py": GOOD, f"week08_s02_attempt_{SECOND}/": b""})
    row = collect([tmp_path], ["layer_norm"], "week08", THREE)[1]
    assert (row.status, dict(row.files), row.attempt) == ("needs attention", {}, "2025-03-03T17:00:00")
    assert "the one of 2025-03-03T11:00:00 has it" in said(row)


def test_files_of_an_attempt_keep_the_names_they_were_filed_under(tmp_path: Path) -> None:
    put(tmp_path, {f"s02_{FIRST}_layer_norm (1).py": GOOD, f"s02_{FIRST}_notes.txt": b""})
    row = collect([tmp_path], ["layer_norm"], "week08", THREE)[1]
    assert row.files["layer_norm"].path == f"s02_{FIRST}_layer_norm (1).py"
    assert f"graded s02_{FIRST}_layer_norm (1).py as layer_norm.py" in said(row)
    assert row.ignored == (f"s02_{FIRST}_notes.txt",)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2025-03-03-11-00", "2025-03-03T11:00:00"),
        ("2025-03-03T11:00:07Z", "2025-03-03T11:00:07Z"),
        ("20250303T110007", "2025-03-03T11:00:07"),
        ("2025-03-03 11.00.07", "2025-03-03T11:00:07"),
    ],
)
def test_times_are_read_in_the_usual_forms(tmp_path: Path, written: str, read: str) -> None:
    put(tmp_path, {f"week08_a_b_attempt_{written}/layer_norm.py": GOOD})
    (row,) = collect([tmp_path], ["layer_norm"], "week08")
    assert (row.student, row.attempt) == ("a_b", read)


def test_a_time_that_does_not_exist_is_not_an_attempt(tmp_path: Path) -> None:
    put(tmp_path, {"week08_s02_attempt_2025-13-41-99-00-00/layer_norm.py": GOOD, "s01/layer_norm.py": GOOD})
    rows = collect([tmp_path], ["layer_norm"], "week08", THREE)
    assert "is not in the roster" in said(rows[-1])


def test_an_attempt_at_another_assignment_is_not_graded(tmp_path: Path) -> None:
    put(tmp_path, {f"week07_s02_attempt_{SECOND}/layer_norm.py": OTHER})
    put(tmp_path, {f"week07_s01_attempt_{SECOND}/layer_norm.py": OTHER, "s01/layer_norm.py": GOOD})
    rows = collect([tmp_path], ["layer_norm"], "week08", THREE)
    assert [row.status for row in rows] == ["ready", "needs attention", "not submitted"]
    assert rows[0].files["layer_norm"].content == GOOD
    assert all("is it for another assignment?" in said(row) for row in rows[:2])


@pytest.mark.parametrize("other", ["tuesday/s02", f"monday/week08_s02_attempt_{FIRST}"])
def test_two_hand_ins_of_one_student_are_left_to_staff(tmp_path: Path, other: str) -> None:
    put(tmp_path, {"monday/s02/layer_norm.py": GOOD, f"{other}/layer_norm.py": OTHER, "tuesday/s01/": b""})
    row = collect([tmp_path / "monday", tmp_path / "tuesday"], ["layer_norm"], "week08", THREE)[1]
    assert (row.status, dict(row.files)) == ("needs attention", {})
    assert f"monday/s02 and {other}" in said(row) or f"{other} and monday/s02" in said(row)


def test_two_attempts_of_one_time_are_left_to_staff(tmp_path: Path) -> None:
    put(tmp_path, {f"week08_s02_attempt_{FIRST}/layer_norm.py": GOOD, f"s02_{FIRST}_layer_norm.py": OTHER})
    row = collect([tmp_path], ["layer_norm"], "week08", THREE)[1]
    assert (row.status, dict(row.files)) == ("needs attention", {})


# -- what the paths may be


def test_a_path_given_twice_is_one_hand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"s02/layer_norm.py": GOOD})
    monkeypatch.chdir(tmp_path)
    (row,) = collect([Path("s02"), Path("./s02/"), tmp_path / "s02"], ["layer_norm"], "week08")
    assert (row.student, row.status) == ("s02", "ready")


def test_the_current_folder_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(put(tmp_path / "s02", {"layer_norm.py": GOOD}))
    (row,) = collect([Path(".")], ["layer_norm"], "week08")
    assert (row.student, row.status) == ("s02", "ready")


def test_a_path_that_does_not_exist_is_the_only_error(tmp_path: Path) -> None:
    with pytest.raises(IntakeError, match="There is no file or folder"):
        collect([tmp_path / "nowhere"], ["layer_norm"], "week08")


def test_a_class_is_told_from_a_submission(tmp_path: Path) -> None:
    put(tmp_path / "a", {"s01/layer_norm.py": GOOD, "s02/hw/layer_norm.py": GOOD, "README.md": b"", "s03/": b""})
    put(tmp_path / "b/week08", {"layer_norm.py": GOOD, "README.md": b""})
    put(tmp_path / "c", {"s01/layer_norm.py": GOOD})
    put(tmp_path / "d/download/week08", {"s01/layer_norm.py": GOOD, "s02/layer_norm.py": GOOD})
    put(tmp_path / "e", {})

    def students(folder: str, roster: Roster | None = None) -> dict[str, str]:
        return {row.student: row.status for row in collect([tmp_path / folder], ["layer_norm"], "week08", roster)}

    assert students("a") == {"s01": "ready", "s02": "ready", "s03": "not submitted"}
    assert students("b") == {"b": "ready"}
    assert students("c") == {"s01": "ready"}
    assert students("c", THREE) == {"s01": "ready", "s02": "not submitted", "s03": "not submitted"}
    assert students("d", THREE) == {"s01": "ready", "s02": "ready", "s03": "not submitted"}
    assert students("e") == {"e": "not submitted"}
    assert students("e", THREE) == dict.fromkeys(THREE, "not submitted")


def test_loose_files_are_sorted_by_the_roster(tmp_path: Path) -> None:
    put(tmp_path, {"s01_layer_norm.py": GOOD, "s02_layer_norm.py": OTHER, "s02_feed_forward.py": OTHER})
    rows = collect([tmp_path], BOTH, "week08", THREE)
    assert [list(row.files) for row in rows] == [["layer_norm"], list(BOTH), []]


def test_loose_code_in_a_class_folder_is_reported(tmp_path: Path) -> None:
    put(tmp_path, {"s01/layer_norm.py": GOOD, "conftest.py": GOOD, "grades.csv": b"", "s02.rar": b"Rar!"})
    rows = {row.student: row for row in collect([tmp_path], ["layer_norm"], "week08", THREE)}
    assert {name: row.status for name, row in rows.items()} == {
        "conftest.py": "needs attention",
        "s01": "ready",
        "s02": "unreadable",
        "s03": "not submitted",
    }
    assert "outside of any student's folder" in said(rows["conftest.py"])
    assert "archive of another kind" in said(rows["s02"])


def test_nothing_is_written_where_hand_ins_lie(tmp_path: Path) -> None:
    put(tmp_path / "class", {"s01/layer_norm.py": GOOD, "s02/hw/layer_norm (1).py": GOOD})
    before = sorted(tmp_path.rglob("*"))
    for path in before:
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o222)
    first = collect([tmp_path / "class"], EXERCISES, "week08", THREE)
    assert sorted(tmp_path.rglob("*")) == before
    assert first == collect([tmp_path / "class"], EXERCISES, "week08", THREE)
    for path in before:
        path.chmod(stat.S_IMODE(path.stat().st_mode) | 0o200)
