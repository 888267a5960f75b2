"""Files of reports: names that are safe for any student id, folders that hold nothing else, whole pages or none."""

from __future__ import annotations

import hashlib
import os
import re
import time
import unicodedata
from pathlib import Path

from markupsafe import Markup

from autograder.grading.errors import GradingError

REPORT, DASHBOARD = "autograder report", "autograder dashboard"
"""The kinds of pages. Each names its kind near its top, so that we overwrite nothing but our own."""

_OF_THE_COURSE = "assignments autograded autograder data dist docs feedback reference solutions submitted tests".split()
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_.]*(?:-[a-z0-9_.]+)*")
_TAKEN = re.compile(r".*-[0-9a-f]{10}|(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")
"""Like the names of other ids, or names of devices to Windows."""
_LONGEST = 60
_AN_HOUR = 3600


def page_name(student: str) -> str:
    """The name of a student's page: the id where it is a plain one in small letters, else the like of it and a hash.

    It depends on the id alone, and no two ids have names that a system without capital letters takes for one.
    """
    if _PLAIN.fullmatch(student) and len(student) <= _LONGEST and not _TAKEN.fullmatch(student):
        return f"{student}.html"
    letters = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode().lower()
    like = "-".join(re.findall(r"[a-z0-9_]+", letters))[:_LONGEST].strip("-") or "student"
    digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{like}-{digest[:10]}.html"


def mark_of(kind: str) -> Markup:
    """The element by which a page names its kind."""
    return Markup('<meta name="generator" content="{}">').format(kind)


def prepare_folder(folder: Path, root: Path) -> None:
    """Make the folder of pages, or see that it holds nothing but pages of ours.

    Raises:
        GradingError: it belongs to the course in `root`, or something else is in it.
    """
    _refuse_the_course(folder, root)
    if folder.exists() and not folder.is_dir():
        raise GradingError(f"{folder} is a file; give a folder for the pages")
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.iterdir()):
        if _is_leftover(path):
            if time.time() - path.stat().st_mtime > _AN_HOUR:  # a younger one may be another command's at work
                path.unlink()
        elif not is_page(path, REPORT):
            raise GradingError(f"{folder} holds {path.name}, which is no report; give an empty or a new folder")


def prepare_file(path: Path, root: Path) -> None:
    """See that a page can be written there, and nothing is lost by it.

    Raises:
        GradingError: it belongs to the course in `root`, or is something else.
    """
    _refuse_the_course(path, root)
    if (path.exists() or path.is_symlink()) and not is_page(path, DASHBOARD):
        raise GradingError(f"{path} is there and no dashboard; give another --output")
    path.parent.mkdir(parents=True, exist_ok=True)


def is_page(path: Path, kind: str) -> bool:
    """Is this a page of that kind that we wrote?"""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return mark_of(kind).encode() in file.read(1000)


def write_page(path: Path, html: str) -> int:
    """Write a page whole or not at all; returns its size in bytes."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    content = html.encode("utf-8", "replace")
    try:
        fresh.write_bytes(content)
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
    return len(content)


def _is_leftover(path: Path) -> bool:
    return re.fullmatch(r"\..+\.html\.\d+\.new", path.name) is not None and path.is_file()


def _refuse_the_course(path: Path, root: Path) -> None:
    place, root = path.resolve(), root.resolve()
    if root.is_relative_to(place):
        raise GradingError(f"{path} holds the course itself; give a folder of its own, such as reports")
    if place.is_relative_to(root):
        first = place.relative_to(root).parts[0]
        if first in _OF_THE_COURSE or first.startswith("."):
            raise GradingError(f"{path} is in {first}, a folder of the course; give one of its own, such as reports")
