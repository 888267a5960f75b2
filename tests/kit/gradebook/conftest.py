"""A small course whose three students are graded, and nbgrader's gradebook of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from grading import batch, handed_in, have_empty_gradebook, run, small_course, solution
from nbgrader.api import Gradebook

from autograder.course import Assignment, load_course
from autograder.grading.store import Store
from autograder.notebooks import gradebook as book

STUDENTS = {
    "ana": solution("layer_norm"),
    "=ben": solution("layer_norm") + "\n\ndef layer_norm(x, gamma, beta, eps=1e-5):\n    return x\n",
    "o, 'neil": "",
}


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return small_course(tmp_path)


@pytest.fixture
def assignment(course: Path) -> Assignment:
    return load_course(course).assignment("week08")


@pytest.fixture(scope="module")
def receipts(tmp_path_factory: pytest.TempPathFactory) -> list:
    root = small_course(tmp_path_factory.mktemp("graded"))
    submissions = [handed_in(student, {"layer_norm": text}) for student, text in STUDENTS.items()]
    return list(run(batch(submissions, exercises=["layer_norm"], root=root)).values())


@pytest.fixture
def store(course: Path, receipts: list) -> Iterator[Store]:
    with Store.in_course(course) as found:
        for receipt in receipts:
            found.add(receipt)
        yield found


@pytest.fixture
def theirs(course: Path) -> Iterator[Gradebook]:
    have_empty_gradebook(course)
    with book.opened(course, load_course(course)) as found:
        yield found
