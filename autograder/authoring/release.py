"""Write the release of an assignment: `assignments/<assignment>/` and the archive `dist/<assignment>.zip`; where it has
a workbook, also the notebook that nbgrader starts from."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from autograder.authoring.contents import MANIFEST, contents, shown
from autograder.authoring.errors import AuthoringError
from autograder.authoring.leaks import leaks_in
from autograder.authoring.workbook import built, has_workbook
from autograder.course import Assignment, CourseFiles
from autograder.course.archive import zipped

_MANIFEST_LINE = re.compile(r"([0-9a-f]{64})  ((?!/)[^\\:\n]+)")


def release(files: CourseFiles, assignment: Assignment, *, force: bool = False) -> list[Path]:
    """Bring the release up to date; returns the paths written, which are none when it was current.

    Files of an earlier release that are no longer part of it are removed. Other files in the folder stay, and a file
    that was edited there by hand is replaced or removed only with `force`.

    Raises:
        AuthoringError: a source is at fault, a leak was found, or a file was edited by hand.
    """
    new = contents(files, assignment)
    leaks = leaks_in(new, files, assignment)
    if leaks:
        raise AuthoringError("nothing was written, because the release would give answers away: " + "; ".join(leaks))
    folder, archive = files.stubs(assignment.id), archive_path(files, assignment)
    old = _read_manifest(folder)
    edited = [path for path in sorted({*new, *old}) if _is_edited(folder, path, new, old)]
    if edited and not force:
        raise AuthoringError(
            f"edited by hand in {shown(files, folder)}: {', '.join(edited)}; "
            "carry the change over to the sources, or release with force to lose it"
        )
    written = [folder / path for path, data in new.items() if path != MANIFEST and _write(folder / path, data)]
    for path in sorted(set(old) - set(new)):
        _remove(folder, path)
    written += [folder / MANIFEST] if _write(folder / MANIFEST, new[MANIFEST]) else []
    written += [place for place, data in _complete_notebook(files, assignment).items() if _write(place, data)]
    return written + ([archive] if _write(archive, zipped(new, assignment.id)) else [])


def stale(files: CourseFiles, assignment: Assignment) -> list[str]:
    """How the release differs from what `release` would write, a sentence for each file; the archive if there is one.

    Raises:
        AuthoringError: a source is at fault, so that nothing could be written.
    """
    new = contents(files, assignment)
    folder, archive = files.stubs(assignment.id), archive_path(files, assignment)
    found = []
    for path, data in new.items():
        if not (folder / path).is_file():
            found.append(f"{shown(files, folder / path)} is missing")
        elif (folder / path).read_bytes() != data:
            found.append(f"{shown(files, folder / path)} differs from what its source gives now")
    for place, data in _complete_notebook(files, assignment).items():
        if not place.is_file() or place.read_bytes() != data:
            found.append(f"{shown(files, place)} differs from what its source gives now")
    for path in sorted(set(_read_manifest(folder)) - set(new)):
        if (folder / path).is_file():
            found.append(f"{shown(files, folder / path)} is no longer part of the release")
    if archive.is_file() and archive.read_bytes() != zipped(new, assignment.id):
        found.append(f"{shown(files, archive)} holds an earlier release")
    return found


def archive_path(files: CourseFiles, assignment: Assignment) -> Path:
    """Where the archive for students is written."""
    return files.root / "dist" / f"{assignment.id}.zip"


def _complete_notebook(files: CourseFiles, assignment: Assignment) -> dict[Path, bytes]:
    """The notebook that nbgrader starts from, where there is a workbook."""
    return {files.notebook(assignment.id): built(files, assignment)} if has_workbook(files, assignment) else {}


def _read_manifest(folder: Path) -> dict[str, str]:
    """Path -> sha256 of the files that the last release wrote; lines that it cannot have written are passed over."""
    try:
        text = (folder / MANIFEST).read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except UnicodeDecodeError:
        raise AuthoringError(f"{folder.name}/{MANIFEST} cannot be read; restore it or delete it") from None
    found = [_MANIFEST_LINE.fullmatch(line) for line in text.splitlines()]
    return {match[2]: match[1] for match in found if match and ".." not in match[2].split("/")}


def _is_edited(folder: Path, path: str, new: Mapping[str, bytes], old: Mapping[str, str]) -> bool:
    """Is there something that neither the last release wrote nor this one would?"""
    target = folder / path
    if path == MANIFEST or not (target.exists() or target.is_symlink()):
        return False
    if target.is_symlink() or not target.is_file():
        return True
    data = target.read_bytes()
    return data != new.get(path) and hashlib.sha256(data).hexdigest() != old.get(path)


def _write(path: Path, data: bytes) -> bool:
    """Put the data there in one step, unless it is there already."""
    if path.is_file() and not path.is_symlink() and path.read_bytes() == data:
        return False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.new")
        fresh.write_bytes(data)
        os.replace(fresh, path)
    except OSError as error:
        raise AuthoringError(f"{path} cannot be written: {error.strerror}") from None
    return True


def _remove(folder: Path, path: str) -> None:
    """Remove a file of an earlier release, and the folders that it leaves empty."""
    target = folder / path
    if target.is_file() or target.is_symlink():
        target.unlink()
    for parent in target.parents:
        if parent == folder or not parent.is_dir() or any(parent.iterdir()):
            break
        parent.rmdir()
