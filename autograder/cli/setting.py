"""What commands start from: the course, its files, its store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.course import Course, CourseError, CourseFiles, find_course, load_course

if TYPE_CHECKING:
    from autograder.grading.store import Store


@dataclass(frozen=True)
class Setting:
    """A loaded course and its files."""

    course: Course
    files: CourseFiles

    @classmethod
    def find(cls, folder: Path | None) -> Setting:
        """The course in `folder`, or in the nearest folder above the current one."""
        path = find_course(Path.cwd()) if folder is None else folder
        if not path.exists():
            raise CourseError(f"{path} does not exist; give the folder that holds course.yml")
        course = load_course(path)
        return cls(course, CourseFiles((path if path.is_dir() else path.parent).resolve()))

    def store(self, url: str | None) -> Store:
        """The receipts: in the course's folder, or at `url`."""
        from autograder.grading.store import Store

        opened = Store(url) if url else Store.in_course(self.files.root)
        if opened.notice:
            click.echo(opened.notice, err=True)
        return opened
