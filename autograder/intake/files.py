"""Reading what lies on disk without being led elsewhere: no links, no pipes, nothing large."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from autograder.intake.names import is_junk, shown

MAX_FILE_BYTES = 1_000_000
MAX_ENTRIES = 2_000
MAX_DEPTH = 10
MAX_CLASS_ENTRIES = 200_000

# Where the system allows it, each folder is opened relative to the one above, so that nothing on the way can be a link.
_BY_DESCRIPTOR = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = _FILE | getattr(os, "O_DIRECTORY", 0)
_WINDOWS_LINKS = (0xA000000C, 0xA0000003)  # reparse tags of symbolic links and junctions

_WANTED = {stat.S_ISREG: "the file", stat.S_ISDIR: "the folder"}
_SPECIAL = {
    0: "no longer there",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
}

Kind = Literal["file", "folder", "special"]


class Refused(Exception):
    """Something handed in cannot be read; the text is a whole sentence that says why."""


@dataclass(frozen=True)
class Entry:
    """One name inside a hand-in. Nothing is read before `load(largest number of bytes)` is called."""

    path: str
    kind: Kind
    load: Callable[[int], bytes]
    handed_in_as: str = ""

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    @property
    def shown(self) -> str:
        """The name it was handed in under, as it may be printed."""
        return shown(self.handed_in_as or self.path) + ("/" if self.kind == "folder" else "")


class Tree(Protocol):
    """The files of one hand-in, wherever they are; the top is the folder ""."""

    def children(self, folder: str) -> list[Entry]:
        """The entries of one folder, sorted, without junk. Raises `Refused`."""
        ...


@dataclass(frozen=True)
class FolderTree:
    """A folder on disk."""

    root: Path

    def children(self, folder: str, limit: int = MAX_ENTRIES) -> list[Entry]:
        place = folder.split("/") if folder else []
        return [self._entry([*place, name], mode) for name, mode in sorted(_scan(self.root, place, limit))]

    def _entry(self, place: list[str], mode: int) -> Entry:
        kind: Kind = "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "special"
        return Entry("/".join(place), kind, lambda limit: _read(self.root, place, limit))


@dataclass(frozen=True)
class Wide:
    """A folder on disk that may hold a whole class."""

    tree: FolderTree

    def children(self, folder: str) -> list[Entry]:
        return self.tree.children(folder, MAX_CLASS_ENTRIES)


@dataclass(frozen=True)
class Below:
    """A folder inside a tree, as a tree of its own; names in it are shown from that folder on."""

    tree: Tree
    root: str

    def children(self, folder: str) -> list[Entry]:
        start = len(self.root) + 1 if self.root else 0
        entries = self.tree.children(folder or self.root)
        return [replace(entry, handed_in_as=entry.handed_in_as or entry.path[start:]) for entry in entries]


@dataclass(frozen=True)
class FileList:
    """Files that were handed in together without a folder of their own."""

    entries: tuple[Entry, ...]

    def children(self, folder: str) -> list[Entry]:
        return [] if folder else list(self.entries)


def read_file(path: Path, limit: int = MAX_FILE_BYTES) -> bytes:
    """The bytes of a regular file of at most `limit` bytes. Raises `Refused`."""
    return _read(path.parent, (path.name,), limit)


def mode_of(path: Path) -> int:
    """The mode of what lies at `path`, without following a link; 0 when there is nothing any more."""
    try:
        return _mode(os.lstat(path))
    except OSError:
        return 0


def kind_of(mode: int) -> str:
    """What a file mode says, in words that continue "this is ..."."""
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a file" if stat.S_ISREG(mode) else _SPECIAL.get(stat.S_IFMT(mode), "a device")


def not_a_file(path: str, mode: int) -> Refused:
    """Why something of this mode is not read where a file belongs."""
    return Refused(f"{shown(path)} is {kind_of(mode)}; hand in the file itself.")


def too_large(path: str, limit: int) -> Refused:
    """Why a file of more than `limit` bytes is not read."""
    size = f"{limit / 1_000_000:.3g} MB" if limit >= 1_000_000 else f"{limit:,} bytes"
    return Refused(f"{shown(path)} is larger than {size}; hand in only what you wrote.")


def _read(root: Path, place: Sequence[str], limit: int) -> bytes:
    name = _name(root, place)
    with _refusing(root, place, stat.S_ISREG):
        descriptor = _open_file(root, place)
        with os.fdopen(descriptor, "rb") as file:
            facts = os.fstat(descriptor)
            if not stat.S_ISREG(facts.st_mode):
                raise not_a_file(name, facts.st_mode)
            if facts.st_size > limit:
                raise too_large(name, limit)
            content = file.read(limit + 1)  # a file may grow after its size was asked for
    if len(content) > limit:
        raise too_large(name, limit)
    return content


def _scan(root: Path, place: Sequence[str], limit: int) -> list[tuple[str, int]]:
    """Name and mode of each entry that is not junk."""
    found: list[tuple[str, int]] = []
    with _refusing(root, place, stat.S_ISDIR):
        folder = _open_folder(root, place)
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if is_junk(entry.name):
                        continue
                    if len(found) == limit:
                        name = _name(root, place)
                        raise Refused(f"{name} holds more than {limit:,} files; hand in only what you wrote.")
                    found.append((entry.name, _mode(entry.stat(follow_symlinks=False))))
        finally:
            if isinstance(folder, int):
                os.close(folder)
    return found


def _open_file(root: Path, place: Sequence[str]) -> int:
    if not place:
        return os.open(_not_a_link(root), _FILE)
    folder = _open_folder(root, place[:-1])
    if isinstance(folder, str):
        return os.open(_not_a_link(Path(folder, place[-1])), _FILE)
    try:
        return os.open(place[-1], _FILE, dir_fd=folder)
    finally:
        os.close(folder)


def _open_folder(root: Path, place: Sequence[str]) -> int | str:
    """The folder `root/place`, reached without following a link: a descriptor, or a path where there are none."""
    if not _BY_DESCRIPTOR:
        path = _not_a_link(root)
        for step in place:
            path = _not_a_link(path / step)
        return str(path)
    folder = os.open(root, _FOLDER)
    for step in place:
        try:
            below = os.open(step, _FOLDER, dir_fd=folder)
        finally:
            os.close(folder)
        folder = below
    return folder


def _not_a_link(path: Path) -> Path:
    if stat.S_ISLNK(_mode(os.lstat(path))):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return path


def _mode(facts: os.stat_result) -> int:
    """The file mode; a Windows junction counts as the link that it is."""
    return stat.S_IFLNK if getattr(facts, "st_reparse_tag", 0) in _WINDOWS_LINKS else facts.st_mode


@contextmanager
def _refusing(root: Path, place: Sequence[str], is_wanted: Callable[[int], bool]) -> Iterator[None]:
    """Turns an error of the system into `Refused`, with the reason that helps most."""
    try:
        yield
    except OSError as error:
        name = _name(root, place)
        mode = mode_of(root.joinpath(*place))
        if mode and not is_wanted(mode):
            raise Refused(f"{name} is {kind_of(mode)}; hand in {_WANTED[is_wanted]} itself.") from None
        reason = error.strerror or type(error).__name__
        raise Refused(f"{name} could not be read ({reason}); hand it in again.") from None


def _name(root: Path, place: Sequence[str]) -> str:
    return shown("/".join(place) if place else root.name)
