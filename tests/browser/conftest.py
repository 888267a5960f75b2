"""The browser, and the quizzes that its tests show."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from laboratory import Browser

from autograder.course import CourseFiles, load_course
from autograder.quiz.bank import Bank, load_bank

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests/kit"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first, so that no core waits for the last file."""
    longest = ["test_workbook", "test_formgrader"]
    items.sort(key=lambda item: longest.index(item.path.stem) if item.path.stem in longest else len(longest))


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    """A browser of the test's own."""
    found = Browser(tmp_path / "profile", Path(os.environ.get("PICTURES", tmp_path / "pictures")))
    yield found
    found.close()


@pytest.fixture(scope="session")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    folder = tmp_path_factory.mktemp("browser")
    found = Browser(folder / "profile", Path(os.environ.get("PICTURES", folder / "pictures")))
    found.go_offline()
    yield found
    found.close()


@pytest.fixture
def tab(offline: Browser) -> Iterator[Browser]:
    """The browser that all pages from files share: without a network, and each time as new."""
    yield offline
    offline.forget()


@pytest.fixture(scope="session")
def week08() -> Bank:
    """The quiz of this course."""
    return load_bank(CourseFiles(ROOT), load_course(ROOT), "week08")


@pytest.fixture
def small(tmp_path: Path) -> Bank:
    """A quiz of one question of each type, in `tmp_path`."""
    from quiz_course import quiz_bank

    return quiz_bank(tmp_path)
