"""What may hold hand-ins, alike on disk and in the archive of a class: its name, its kind, how to open it."""

from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from autograder.intake.archive import MAX_ARCHIVE_BYTES, ZipTree, open_zip, read_zip
from autograder.intake.files import Below, Entry, FolderTree, Tree, mode_of, read_file
from autograder.intake.names import shown

_MODES = {"file": stat.S_IFREG, "folder": stat.S_IFDIR, "special": stat.S_IFLNK}


@dataclass(frozen=True)
class Place:
    """One name that may be a hand-in. Nothing is opened before one of the functions is called; they raise `Refused`."""

    key: Path
    mode: int
    as_folder: Callable[[], Tree]
    as_zip: Callable[[], Tree]
    read: Callable[[int], bytes]

    @property
    def name(self) -> str:
        return self.key.name

    @property
    def where(self) -> str:
        """Folder and name, printable."""
        return shown(f"{self.key.parent.name}/{self.key.name}")


def on_disk(path: Path) -> Place:
    """What lies at a path."""
    return Place(path, mode_of(path), partial(FolderTree, path), partial(open_zip, path), partial(read_file, path))


def in_archive(archive: Path, tree: ZipTree, entry: Entry) -> Place:
    """What lies in the archive of a class."""

    def as_zip() -> Tree:
        return read_zip(entry.name, entry.load(MAX_ARCHIVE_BYTES))

    return Place(archive / entry.path, _MODES[entry.kind], partial(Below, tree, entry.path), as_zip, entry.load)
