"""nbgrader's pages as an instructor sees them.

A class is graded by formgrader's buttons, points and a comment are given by hand, it is graded again, and feedback is
sent. Pictures of it are kept where PICTURES names a folder: `PICTURES=docs/img make browser`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from laboratory import PATIENCE, TOKEN, Browser, jupyter, surroundings, until
from workbooks import workbook

from autograder.course import load_course
from autograder.grading.parts import MODULES, NOTEBOOK
from autograder.grading.receipt import total
from autograder.grading.store import Store
from autograder.notebooks.gradebook import TYPED, entries, opened, pull

ROOT = Path(__file__).parents[2]
COURSE = "course.yml nbgrader_config.py solutions reference assignments tests/suites"
HOSTILE = """Attention mixes the rows of x@0 and x@1. <script>document.title = "taken"</script>
<img src="x" onerror="document.title = 'taken'"> [look](javascript:document.title='taken')
<iframe srcdoc="<script>parent.document.title = 'taken'</script>"></iframe>"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A copy of the course with a class of three."""
    folder = tmp_path / "course"
    for name in COURSE.split():
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    for student in ("hugo", "mira", "yara"):
        work = folder / "submitted/notebooks" / student / "week08"
        shutil.copytree(ROOT / "data/sample_class" / student, work)
        (work / "week08.ipynb").write_bytes(workbook(folder, explain_mixing=HOSTILE))
        (work / "page.html").write_text(HOSTILE)
    return folder


def test_an_instructor_grades_a_class_in_formgrader(course: Path, tmp_path: Path, browser: Browser) -> None:
    environment = surroundings(tmp_path / "instructor", python_path=ROOT)
    generate = [sys.executable, "-m", "nbgrader", "generate_assignment", "week08"]
    subprocess.run(generate, cwd=course, env=environment, check=True, capture_output=True, timeout=120)

    with jupyter(course, environment) as address:
        formgrader = f"{address}/formgrader"
        browser.open(f"{address}/lab?token={TOKEN}")
        browser.wait(lambda d: d.execute_script("return !!window.jupyterapp?.shell"), 60, "JupyterLab")
        browser.open(f"{formgrader}/manage_submissions/week08")
        for student in ("hugo", "mira", "yara"):
            press(browser, student, "autograde")
        points = {student: earned(course, student) for student in ("hugo", "mira", "yara")}
        assert 24 <= points["hugo"] <= 25 and points["mira"] == 106 and points["yara"] == 30.5
        assert browser.texts("td.score") == [f"{score:g} / 116" for score in points.values()]
        browser.picture("formgrader", height=700)

        page = f"{formgrader}/submissions/{submission(course, 'hugo')}/"
        browser.open(page)
        assert "looks like: " in browser.find("#notebook-container").text
        assert all("/mathjax/" in name for name in browser.foreign_requests(address))  # nbgrader's own template
        assert browser.run("return document.title") == "week08"
        browser.run("document.querySelector('#masked_softmax').scrollIntoView({block: 'start'}); scrollBy(0, -70)")
        browser.picture("submission", height=1000)
        write(browser, "#explain_mixing", "4")
        write(browser, "#explain_mixing-comment", "Good. Which *weights* differ?")
        until(lambda: by_hand(course, "hugo") == (4.0, "Good. Which *weights* differ?"), 20, "score and comment")

        browser.open(f"{formgrader}/manage_submissions/week08")
        press(browser, "hugo", "autograde")
        assert by_hand(course, "hugo") == (4.0, "Good. Which *weights* differ?")
        browser.open(page)
        assert filled(browser, "#explain_mixing") == "4"
        assert "Which *weights*" in filled(browser, "#explain_mixing-comment")
        browser.run("document.querySelector('#explain_mixing').scrollIntoView({block: 'center'})")
        browser.picture("by-hand", height=700)

        assert pulled(course) == [("hugo", "explain_mixing", 4, f"{TYPED}: Good. Which *weights* differ?")]

        browser.open(f"{formgrader}/manage_submissions/week08")
        press(browser, "hugo", "generate-feedback")

    folder = course / "feedback/notebooks/hugo/week08"
    assert not (folder / "page.html").exists()
    browser.open((folder / "week08.html").as_uri())
    assert browser.texts(".total") == [f"{points['hugo'] + 4:g} of 116 points"]
    text = "\n".join(browser.texts("main"))
    assert "Which weights differ?" in text and "layer_norm" in text and "Looks like: " in text
    assert str(tmp_path) not in text and "yara" not in text
    assert browser.run("return document.title") == "Week 8: Transformers: feedback for hugo"
    assert browser.run("return document.querySelectorAll('script, iframe, [onerror]').length") == 0
    assert not browser.foreign_requests("file:")
    browser.picture("feedback", height=1500)
    browser.picture("feedback-dark", height=1500, dark=True)


def filled(browser: Browser, field: str) -> str:
    """What stands in a field of formgrader's, which it fetches after the page."""
    value = "return document.querySelector(arguments[0]).value"
    return str(browser.wait(lambda d: d.execute_script(value, field), 60, field))


def press(browser: Browser, student: str, button: str) -> None:
    """One of formgrader's buttons for a student, until it says that it is done."""
    row = f"//tr[td[contains(@class, 'student-id') and normalize-space() = '{student}']]"
    find = "document.evaluate(arguments[0], document, null, 9, null).singleNodeValue"
    browser.wait(
        lambda d: d.execute_script(f"return {find}", f"{row}//td[contains(@class, '{button}')]/a"), 30, student
    )
    browser.run(f"{find}.click()", f"{row}//td[contains(@class, '{button}')]/a")
    modal = browser.find("#success-modal .modal-body, #error-modal .modal-body", seconds=PATIENCE)
    said = modal.get_attribute("textContent") or ""  # not what is seen of it: it fades in
    assert "Successfully" in said, said
    browser.run(
        "$('.modal').modal('hide'); await new Promise(r => setTimeout(r, 600)); $('.modal, .modal-backdrop').remove()"
    )
    browser.wait(lambda d: d.execute_script(f"return {find}", row), 30, student)


def write(browser: Browser, css: str, text: str) -> None:
    """Type into a field, as a person does, and leave it."""
    field = browser.find(css)
    browser.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", css)
    field.click()
    field.send_keys(text)
    browser.run("document.activeElement.blur()")


def earned(course: Path, student: str) -> float:
    """What our own receipts say, of the modules and of the notebook's questions, which everybody here has right."""
    with Store.in_course(course) as store:
        found = [store.standing(part.of("week08"), student) for part in (MODULES, NOTEBOOK)]
    points = [total(receipt.checks)[0] for receipt in found if receipt is not None]
    assert points[1:] == [6]
    return float(sum(points))


def pulled(course: Path) -> list[tuple[str, str, float | None, str]]:
    """What a person typed, as it comes into our store; all other points are the same here and there."""
    known = load_course(course)
    with opened(course, known) as gradebook, Store.in_course(course) as store:
        assignment = known.assignment("week08")
        new = pull(store, entries(gradebook, store, assignment))
        assert not any(entry.differs for entry in entries(gradebook, store, assignment))
    return [(entry.student, entry.exercise, entry.manual, entry.reason) for entry in new]


def submission(course: Path, student: str) -> str:
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course}/.autograder/gradebook.db", "mini_gpt") as gradebook:
        return str(gradebook.find_submission_notebook("week08", "week08", student).id)


def by_hand(course: Path, student: str) -> tuple[float | None, str | None]:
    """What a person gave for the first answer in words."""
    from nbgrader.api import Gradebook

    where = ("explain_mixing", "week08", "week08", student)
    with Gradebook(f"sqlite:///{course}/.autograder/gradebook.db", "mini_gpt") as gradebook:
        return gradebook.find_grade(*where).manual_score, gradebook.find_comment(*where).comment
