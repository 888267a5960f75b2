"""Finding and loading a course, and where the files of each exercise are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from autograder.course.errors import CourseError
from autograder.course.model import Course
from autograder.course.problems import model_in
from autograder.course.yaml_file import read_yaml

FILE_NAME = "course.yml"


def load_course(path: Path) -> Course:
    """The course in a `course.yml`, or in the folder that holds it. Raises CourseError with every error found."""
    path = Path(path)
    if path.is_dir():
        path = path / FILE_NAME
    data = read_yaml(path)
    if not isinstance(data, dict):
        raise CourseError.in_file(path, ["file: must be a mapping with id, title, weeks, assignments and so on"])
    return model_in(path, Course, data)


def find_course(start: Path) -> Path:
    """The nearest `course.yml` in `start` or a folder above it. Raises CourseError when there is none."""
    start = Path(start).resolve()
    for folder in (start, *start.parents):
        if (folder / FILE_NAME).is_file():
            return folder / FILE_NAME
    raise CourseError(f"no {FILE_NAME} in {start} or above it; go to the course's folder or give the path to its file")


@dataclass(frozen=True)
class CourseFiles:
    """Paths of a course kept in `root`; whether they exist is for the reader to find out."""

    root: Path

    def solutions(self, assignment: str) -> Path:
        return self.root / "solutions" / assignment

    def solution(self, assignment: str, exercise: str) -> Path:
        return self.solutions(assignment) / f"{exercise}.py"

    def examples(self, assignment: str) -> Path:
        return self.solutions(assignment) / "examples"

    def stubs(self, assignment: str) -> Path:
        return self.root / "assignments" / assignment

    def data(self, name: str) -> Path:
        return self.root / "data" / name

    def suite(self, assignment: str) -> Path:
        return self.root / "tests" / "suites" / assignment

    def suite_file(self, assignment: str, exercise: str) -> Path:
        return self.suite(assignment) / f"test_{exercise}.py"

    def rig(self, assignment: str, exercise: str) -> Path:
        return self.suite(assignment) / "rigs" / f"{exercise}.py"

    def reference(self, exercise: str) -> Path:
        return self.root / "reference" / f"{exercise}.py"

    def stand_in(self, exercise: str) -> Path:
        return self.root / "reference" / "stand_ins" / f"{exercise}.py"

    def traces(self, exercise: str) -> Path:
        return self.root / "reference" / "traces" / f"{exercise}.yml"

    def mistakes(self, exercise: str) -> Path:
        return self.root / "reference" / "mistakes" / f"{exercise}.yml"

    def kills(self, exercise: str) -> Path:
        return self.root / "reference" / "kills" / f"{exercise}.json"

    def card_dates(self, assignment: str) -> Path:
        return self.root / "reference" / "cards" / f"{assignment}.json"

    def workbook(self, assignment: str) -> Path:
        return self.root / "solutions" / "workbooks" / f"{assignment}.py"

    def notebook(self, assignment: str) -> Path:
        return self.root / "solutions" / "notebooks" / assignment / f"{assignment}.ipynb"
