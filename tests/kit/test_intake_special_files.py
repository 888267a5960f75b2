"""Links, pipes, sockets and what may not be read are refused in one sentence, also when a file becomes one (I01-I05)."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest
from hand_ins import GOOD, OTHER, THREE, one, put, said

from autograder.intake import collect, files


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

    def denying(path: str, *arguments: Any, **keywords: Any) -> int:  # root may read everything
        if path == name:
            raise PermissionError(13, "Permission denied", path)
        return real(path, *arguments, **keywords)

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
