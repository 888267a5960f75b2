"""Students' pages and the dashboard in a real Chromium: for all readers, by keyboard, on a phone and on paper."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from laboratory import Browser, serious
from report_class import ASSIGNMENT, report_course
from selenium.webdriver.common.keys import Keys

from autograder.cli.report import dashboard, report
from autograder.course import CourseFiles, load_course
from autograder.grading.batch import Batch
from autograder.grading.run import grade
from autograder.grading.store import Adjustment, Store, now
from autograder.reports.pages import page_name

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests/bench"))


@dataclass(frozen=True)
class Written:
    """A folder with the pages of a class."""

    folder: Path

    @property
    def dashboard(self) -> str:
        return (self.folder / "dashboard.html").as_uri()

    def of(self, student: str) -> str:
        return (self.folder / "students" / page_name(student)).as_uri()


def write(course: Path, assignment: str, folder: Path, store: str | None = None) -> Written:
    """All pages of a class, as the commands write them."""
    report(course, assignment, (), folder / "students", store)
    dashboard(course, assignment, folder / "dashboard.html", None, store)
    return Written(folder)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Written:
    root = report_course(tmp_path_factory.mktemp("reports") / "course")
    return write(root, ASSIGNMENT, root.parent / "pages")


OPEN_ALL = "document.querySelectorAll('details').forEach(e => { e.open = true })"
SOME = ("hugo", "yara", "right to left", "long name", "omar")


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_keeps_anybody_out_of_the_pages(tab: Browser, pages: Written, dark: bool) -> None:
    tab.look(dark=dark)
    for address in (pages.dashboard, *map(pages.of, SOME)):
        tab.open(address)
        tab.run(OPEN_ALL)
        assert serious(tab) == [], address
        assert tab.foreign_requests(address) == [] and tab.complaints() == [], address


def test_the_pages_fit_a_phone_and_a_sheet(tab: Browser, pages: Written) -> None:
    for address in (pages.dashboard, *map(pages.of, SOME)):
        tab.open(address)
        for width, medium in ((360, ""), (720, "print")):
            tab.look(width=width, height=800, medium=medium)
            assert tab.run("return document.documentElement.scrollWidth") == width, (address, medium)


FOCUS = """const e = document.activeElement;
return [e.tagName, e.getAttribute("href") || "", getComputedStyle(e).outlineStyle]"""
STOPS = "return document.querySelectorAll('a, summary, [tabindex=\"0\"]').length"


def test_the_dashboard_is_read_by_keyboard_alone_down_to_a_students_page(tab: Browser, pages: Written) -> None:
    tab.open(pages.dashboard)
    tab.run(OPEN_ALL)
    seen: list[Sequence[str]] = []
    for _ in range(tab.run(STOPS)):
        tab.press(Keys.TAB)
        seen.append(tab.run(FOCUS))
    assert {outline for _, _, outline in seen} <= {"auto", "solid"}, seen
    assert [tag for tag, _, _ in seen].count("DIV") == 4
    while not tab.run(FOCUS)[1].startswith("students/hugo"):
        tab.press(Keys.SHIFT, Keys.TAB, Keys.NULL)
    tab.press(Keys.ENTER)
    assert "Report for hugo" in tab.texts("header")[0]


LOOKS: dict[str, tuple[str, dict[str, Any]]] = {
    "dashboard": ("body", {"width": 1200, "height": 1400}),
    "dashboard-checks": ("#exercises", {"width": 1200, "height": 1400}),
    "dashboard-dark": ("#mistakes", {"width": 1200, "height": 1000, "dark": True}),
    "dashboard-phone": ("body", {"width": 390, "height": 844}),
    "report": ("body", {"width": 1000, "height": 1300}),
    "report-dark": ("li:has(+ figure), figure", {"width": 1000, "height": 1000, "dark": True}),
    "report-phone": ("article:has(.remark)", {"width": 390, "height": 844}),
    "report-print": ("body", {"width": 720, "height": 1000, "medium": "print"}),
}


@pytest.mark.skipif("PICTURES" not in os.environ, reason="a class is graded for the pictures of docs/ only")
def test_pictures_of_a_class_that_was_graded(tmp_path: Path, tab: Browser) -> None:
    pages = graded_class(tmp_path)
    drawn = "<figcaption>“attention gives the weights"
    student = next(path for path in sorted((pages.folder / "students").iterdir()) if drawn in path.read_text("utf-8"))
    for shot, (place, how) in LOOKS.items():
        tab.open(pages.dashboard if shot.startswith("dashboard") else student.as_uri())
        tab.look(**how)
        tab.run("document.querySelector(arguments[0]).scrollIntoView()", place)
        tab.picture(shot, **how)


def graded_class(folder: Path) -> Written:
    """The pages of a class of this course that has people's names and makes known mistakes."""
    from submissions import make_mistaken_class

    course, files = load_course(ROOT), CourseFiles(ROOT)
    names = list(dict.fromkeys((ROOT / "data/names.txt").read_text("utf-8").split()[7::531]))
    plain = make_mistaken_class(files, course.assignment("week08"), len(names))
    people = [replace(one, student=name, name=name.title()) for one, name in zip(plain, names, strict=True)]
    url = f"sqlite:///{folder / 'class.sqlite'}"
    with Store(url) as store:
        grade(Batch(files, course.id, course.assignment("week08"), people, seed=8), store.add, lambda _: None)
        for student in names[::9]:
            store.adjust("week08", student, Adjustment("training", Fraction(9), "shown at the board", "Ada", now()))
    return write(ROOT, "week08", folder / "pages", url)
