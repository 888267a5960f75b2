"""Reading zip files in memory and within limits: nothing goes to disk, and only what is asked for is unpacked."""

from __future__ import annotations

import io
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.intake.files import (
    MAX_CLASS_ENTRIES,
    MAX_DEPTH,
    MAX_ENTRIES,
    Entry,
    Refused,
    not_a_file,
    read_file,
    too_large,
)
from autograder.intake.names import is_junk, shown

if TYPE_CHECKING:
    import zipfile

MAX_ARCHIVE_BYTES = 20_000_000
MAX_UNPACKED_BYTES = 100_000_000
MAX_RATIO = 200  # looked at above UNSUSPICIOUS_BYTES only: a small array of zeros is no bomb
UNSUSPICIOUS_BYTES = 10_000_000
MAX_PATH = 1_000

_DIRECTORY_ENTRY = b"PK\x01\x02"
_PLAIN_METHODS = (0, 8)  # stored and deflated; the others can ask for gigabytes of memory
_ENCRYPTED = 0x1
_ZIP_AGAIN = "zip only what you wrote again and hand that in"


@dataclass(frozen=True)
class ZipTree:
    """The files of an archive, by folder."""

    folders: dict[str, list[Entry]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    def children(self, folder: str) -> list[Entry]:
        """The entries of one folder, sorted (see `files.Tree`)."""
        return sorted(self.folders.get(folder, []), key=lambda entry: entry.path)


def open_zip(path: Path) -> ZipTree:
    """The archive at `path`. Raises `Refused` when it breaks a limit or holds a name that leads elsewhere."""
    return read_zip(path.name, read_file(path, MAX_ARCHIVE_BYTES))


def read_zip(name: str, content: bytes) -> ZipTree:
    """The archive with these bytes; `name` is what messages call it. Raises `Refused`."""
    import zipfile

    name = shown(name)
    # Each entry of the directory starts with these bytes: a cheap bound before anything is built per entry.
    if content.count(_DIRECTORY_ENTRY) > MAX_ENTRIES:
        raise Refused(f"{name} holds more than {MAX_ENTRIES:,} files; {_ZIP_AGAIN}.")
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except Exception:  # damaged archives make zipfile raise nearly anything
        raise Refused(f"{name} is not a zip file that can be opened; {_ZIP_AGAIN}.") from None
    entries = archive.infolist()
    _check_sizes(name, entries, len(content))
    tree = ZipTree()
    seen: set[str] = set()
    for entry in entries:
        _add(tree, seen, archive, entry, _place(name, entry))
    return tree


def open_class_zip(path: Path) -> ZipTree | None:
    """A whole class in one archive, as platforms hand it out; None when it cannot be opened at all.

    It may be large: files are unpacked one by one, each within the limit it is asked for with. Names that lead
    elsewhere are left out and kept in `refused`.
    """
    import zipfile

    try:
        archive = zipfile.ZipFile(path)
    except Exception:  # as in read_zip
        return None
    tree = ZipTree()
    seen: set[str] = set()
    for entry in archive.infolist()[:MAX_CLASS_ENTRIES]:
        try:
            _add(tree, seen, archive, entry, _place(shown(path.name), entry))
        except Refused as refusal:
            tree.refused[entry.filename] = str(refusal)
    return tree


def _check_sizes(name: str, entries: list[zipfile.ZipInfo], archive_bytes: int) -> None:
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > MAX_UNPACKED_BYTES:
        raise Refused(f"{name} unpacks to more than {MAX_UNPACKED_BYTES // 1_000_000} MB; {_ZIP_AGAIN}.")
    if unpacked > UNSUSPICIOUS_BYTES and unpacked > MAX_RATIO * archive_bytes:
        raise Refused(f"{name} unpacks to more than {MAX_RATIO} times its size; {_ZIP_AGAIN}.")
    if any(entry.flag_bits & _ENCRYPTED for entry in entries):
        raise Refused(f"{name} is locked with a password; zip it again without one.")


def _place(archive: str, entry: zipfile.ZipInfo) -> tuple[str, ...]:
    """The folders and the name of an entry, which may not lead out of the archive."""
    for path in (entry.orig_filename, entry.filename):  # both: one of them may have been changed while reading
        wrong = _leads_out(path)
        if wrong:
            raise Refused(f"{archive} holds the name {shown(path[:80])!r}, which {wrong}; {_ZIP_AGAIN}.")
    return tuple(part for part in entry.filename.split("/") if part not in ("", "."))


def _leads_out(path: str) -> str | None:
    if path.startswith("/"):
        return "starts at the root of the disk"
    if re.match(r"[A-Za-z]:", path):
        return "names a drive"
    if "\\" in path:
        return "contains a backslash"
    if ".." in path.split("/"):
        return "leads out of the archive"
    if "\0" in path or len(path) > MAX_PATH:
        return "no computer can store"
    return None


def _add(
    tree: ZipTree, seen: set[str], archive: zipfile.ZipFile, entry: zipfile.ZipInfo, place: tuple[str, ...]
) -> None:
    if not place or any(map(is_junk, place)):
        return
    for depth in range(1, min(len(place), MAX_DEPTH + 2)):
        _add_folder(tree, seen, place[:depth])
    if len(place) > MAX_DEPTH:
        return
    if entry.is_dir():
        _add_folder(tree, seen, place)
        return
    path, mode = "/".join(place), entry.external_attr >> 16
    special = stat.S_IFMT(mode) not in (0, stat.S_IFREG)

    def load(limit: int) -> bytes:
        if special:
            raise not_a_file(path, mode)
        return _unpack(archive, entry, path, limit)

    tree.folders.setdefault("/".join(place[:-1]), []).append(Entry(path, "special" if special else "file", load))


def _add_folder(tree: ZipTree, seen: set[str], place: tuple[str, ...]) -> None:
    path = "/".join(place)

    def load(limit: int) -> bytes:
        raise not_a_file(path, stat.S_IFDIR)

    if path not in seen:
        seen.add(path)
        tree.folders.setdefault("/".join(place[:-1]), []).append(Entry(path, "folder", load))


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: str, limit: int) -> bytes:
    if entry.file_size > limit:
        raise too_large(path, limit)
    if entry.compress_type not in _PLAIN_METHODS:
        raise Refused(f"{shown(path)} is packed in a way that is not read here; make a plain zip.")
    try:
        with archive.open(entry) as file:
            content = file.read(limit + 1)
    except Exception:  # as in read_zip
        raise Refused(f"{shown(path)} is damaged inside the zip; {_ZIP_AGAIN}.") from None
    if len(content) > limit:
        raise too_large(path, limit)
    return content
