"""Pages for students and the dashboard: what they say, what they never hold, and that no file is lost or half."""

from __future__ import annotations

import os
import re
import signal
import time
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest
from command_line import ask
from hypothesis import given
from hypothesis import strategies as st
from reading_html import Page
from report_class import ASSIGNMENT, CLASS, SCRIPT, SECRETS, WEIGHTS, mistake, receipt, report_course

from autograder.course import Course, load_course
from autograder.grading.errors import GradingError
from autograder.grading.final import final_scores
from autograder.grading.receipt import Receipt
from autograder.grading.store import Adjustment
from autograder.reports.dashboard.items import by_check, by_exercise
from autograder.reports.dashboard.page import dashboard
from autograder.reports.pages import DASHBOARD, REPORT, mark_of, page_name, prepare_file, prepare_folder, write_page
from autograder.reports.records import Record
from autograder.reports.statistics import Undefined
from autograder.reports.student.page import StudentPages
from autograder.reports.student.weights import compared
from autograder.reports.templates import prose

NOW = datetime(2027, 3, 2, tzinfo=UTC)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course and its store."""
    return report_course(tmp_path_factory.mktemp("reports") / "Übung 1 #2")


@pytest.fixture(scope="module")
def course(root: Path) -> Course:
    return load_course(root)


def page_of(course: Course, one: Receipt, *adjustments: Adjustment, hint: str = "always", attempts: int = 1) -> Page:
    """The page of a student."""
    assignment = course.assignment(ASSIGNMENT).model_copy(update={"hint": hint})
    record = Record(one, final_scores(one, adjustments, assignment), attempts)
    return Page(StudentPages(course, assignment, NOW).page(record))


def class_page(course: Course, receipts: list[Receipt], quiz: tuple[Receipt, ...] = ()) -> Page:
    """The dashboard of a class."""
    assignment = course.assignment(ASSIGNMENT)
    records = [Record(one, final_scores(one, (), assignment), 1) for one in receipts]
    return Page(dashboard(course, assignment, records, quiz, NOW, lambda student: ""))


BY_NAME = {one.student: one for one in CLASS}


# -- a student's page


def test_a_page_says_points_checks_mistake_and_what_a_person_gave(course: Course) -> None:
    text = page_of(course, BY_NAME["hugo"], Adjustment("line", Fraction(2), "told me why", "Ada", "2027-03-02")).text
    for part in (
        "Report for hugo",
        "4 of 10 points",
        "slope 2 of 6",
        "2 of 4 points by hand, instead of 1 told me why (Ada)",
        "multiplies by hand failed 0/2",
        "a factor of one changes nothing passed 0.5/0.5",
        "agrees with the reference everywhere hidden check failed 0/2 message 2",
        "Looks like: The slope is added (Week 1 §1) What is at zero?",
        "Graded on 2027-03-01",
    ):
        assert part in text, part


@pytest.mark.parametrize("student", [one.student for one in CLASS])
def test_no_page_holds_what_a_student_may_not_read(course: Course, root: Path, student: str) -> None:
    html = page_of(course, BY_NAME[student]).html
    others = [name for name in BY_NAME if name != student and len(name) > 3 and name not in student]
    found = [secret for secret in (*SECRETS, str(root), *others) if secret in html]
    assert not found


@pytest.mark.parametrize("student", [one.student for one in CLASS])
def test_every_page_is_whole_ordered_and_asks_for_nothing(course: Course, student: str) -> None:
    page = page_of(course, BY_NAME[student])
    levels = page.headings
    assert not page.crossed
    assert levels[0] == 1 and levels.count(1) == 1 and all(b <= a + 1 for a, b in pairwise(levels))
    assert all(address.startswith("#") for address in page.addresses)
    assert {address[1:] for address in page.addresses} <= set(page.ids) and len(set(page.ids)) == len(page.ids)
    assert [page.count(tag) for tag in ("script", "img", "iframe", "link", "main", "header")] == [0, 0, 0, 0, 1, 1]
    assert ("html", {"lang": "en"}) in page.elements
    assert not re.search(r"url\(|@import|nan|\binf\b", page.html.lower())


@pytest.mark.parametrize(
    ("hint", "attempts", "told", "sentence"),
    [
        ("always", 1, True, ""),
        ("never", 9, False, "hints are given in class"),
        ("after_first_attempt", 1, False, "it is shown with your next attempt"),
        ("after_first_attempt", 2, True, ""),
        ("after_deadline", 9, False, "it is shown after the deadline"),
    ],
)
def test_a_mistake_is_named_when_the_policy_says_so(
    course: Course, hint: str, attempts: int, told: bool, sentence: str
) -> None:
    page = page_of(course, BY_NAME["hugo"], hint=hint, attempts=attempts)
    assert ("The slope is added" in page.html) == ("What is at zero?" in page.html) == told
    assert sentence in page.text.lower()


def test_feedback_of_a_quiz_is_withheld_with_the_hints(course: Course) -> None:
    answers = receipt("hugo", ("failed",) * 6, ["told in feedback"], assignment="lines/quiz", diagnoses=mistake())
    assert "told in feedback" in page_of(course, answers).text
    withheld = page_of(course, answers, hint="never").text
    assert "told in feedback" not in withheld and "knowledge checks" in withheld


def test_words_that_want_to_be_html_are_words(course: Course) -> None:
    page = page_of(course, BY_NAME["yara"])
    assert page.text.count(SCRIPT) == 3 + 1  # its name in header and title, the note, the message
    everybody = class_page(course, list(CLASS))
    assert SCRIPT in everybody.text and everybody.count("script") == everybody.count("img") == 0


def test_names_from_right_to_left_stay_apart_from_what_stands_beside_them(course: Course) -> None:
    page = page_of(course, BY_NAME["right to left"])
    assert ("bdi", BY_NAME["right to left"].name) in page.texts


def test_points_that_the_grader_spoiled_are_open(course: Course) -> None:
    text = page_of(course, BY_NAME["sven"]).text
    assert "1 points are still open" in text and "line 3 of 4" in text


def test_a_page_says_what_lateness_took_off(course: Course) -> None:
    late = receipt("mira", handed_in="2027-03-10T10:00:00+00:00")
    text = page_of(course, late).text
    assert "8 of 10 points Handed in 2027-03-10" in text and "20 % of the points off" in text
    assert "Before that there were 10 points." in text


def test_who_handed_in_nothing_reads_why(course: Course) -> None:
    text = page_of(course, BY_NAME["omar"]).text
    assert "Not submitted No exercise file was found." in text and "0 of 10 points" in text


def test_a_text_that_no_file_can_hold_is_no_end(course: Course, tmp_path: Path) -> None:
    page = page_of(course, receipt("mira", notes=("half \ud7ff\ud800 a sign", "\x00")))
    write_page(tmp_path / "mira.html", page.html)
    assert "a sign" in (tmp_path / "mira.html").read_text("utf-8")


# -- weights


def test_weights_of_a_public_check_are_drawn_with_a_frame_where_they_differ(course: Course) -> None:
    page = page_of(course, BY_NAME["hugo"])
    assert page.count("svg") == 2 and page.count("figure") == 1
    assert page.html.count('class="frame"') == 2 * 2
    assert "the 2 of 4 that differ have a frame" in page.text


@pytest.mark.parametrize("place", [1, 2])
def test_weights_are_drawn_for_no_hidden_check_and_for_none_that_did_not_fail(course: Course, place: int) -> None:
    """A hidden check's message holds no values; should one ever, it is not drawn."""
    said = [""] * place + [WEIGHTS]
    outcomes = ("passed", "raised", "failed", *("passed",) * 3)
    assert page_of(course, receipt("hugo", outcomes, said)).count("svg") == 0


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ("[[0.5, 0.5]]", "[[2.0, -1.0]]"),  # not shared out
        ("[[0.5, 0.5]]", "[[0.5, 0.4]]"),
        ("[[1.0]]", "[[1.0]]"),
        ("[[0.5, 0.5]]", "[[0.5, 0.5], [0.5, 0.5]]"),
        ("[[0.5, 0.5], [1.0]]", "[[0.5, 0.5], [1.0]]"),
        ("[0.5, 0.5]", "[0.5, 0.5]"),
        ("[[[0.5, 0.5]]]", "[[[0.5, 0.5]]]"),
        ("[[0.5, true]]", "[[0.5, 0.5]]"),
        ("[[0.5, NaN]]", "[[0.5, 0.5]]"),
        (f"[[0.5, {'9' * 400}]]", "[[0.5, 0.5]]"),
        ("[[0.5, 0.5, ...] (shape [9])", "[[0.5, 0.5]]"),
        ("[" * 2000 + "]" * 2000, "[[0.5, 0.5]]"),
        (str([[1 / 20] * 20]), str([[1 / 20] * 20])),
    ],
)
def test_what_are_no_weights_is_not_drawn(returned: str, expected: str) -> None:
    assert compared(f"differs\nreturned {returned}\nexpected {expected}") is None


# -- the dashboard


def test_the_dashboard_tells_points_mistakes_and_health(course: Course) -> None:
    page = class_page(course, list(CLASS))
    text = page.text
    assert not page.crossed and "nan" not in text.lower().split()
    for part in (
        f"students {len(CLASS)}",
        f"with work to grade {len(CLASS) - 1}",
        "Grader trouble: 1",
        "Timed out: 1",
        "Stopped: 1",
        "Not submitted: 1",
        "Changed the library: 1",
        "2 of 19 students, slope, Week 1 §1",
        f"kit 1.0 ({len(CLASS) - 2}); 0.9 (1) mixed",
        f"isolation full ({len(CLASS) - 2}); partial (1) mixed",
        "everybody has it",
        "1 timed out",
    ):
        assert part in text, part


def test_one_student_has_reasons_instead_of_numbers(course: Course) -> None:
    text = class_page(course, [BY_NAME["mira"]]).text
    assert "Cronbach's α of the exercises: undefined: fewer than 2 students" in text
    assert "standard deviation" in text and not re.search(r"\bnan\b", text, re.IGNORECASE)
    nobody = class_page(course, [BY_NAME["omar"]]).text
    assert "undefined: no student" in nobody


def test_a_spoiled_check_counts_for_nobody_and_a_missing_one_neither() -> None:
    receipts = [
        receipt("a"),
        receipt("b", ("failed",) * 6),
        receipt("c", ("failed",) * 5 + ("grader trouble",)),
        receipt("d", ("passed",) * 5),
    ]
    last = by_check(receipts).items[-1]
    assert last.earned == [3, 0, None, None] and last.difficulty == 0.5
    line = by_exercise(receipts).items[-1]
    assert line.earned == [4, 0, None, 1]
    assert isinstance(by_check(receipts[:1]).alpha, Undefined)
    assert by_check([]).items == by_exercise([]).items == []


def test_the_quiz_is_analysed_where_there_is_one(course: Course) -> None:
    quiz = (receipt("mira", assignment="lines/quiz"), receipt("hugo", ("failed",) * 6, assignment="lines/quiz"))
    text = class_page(course, list(CLASS), quiz).text
    assert "2 students; the hardest questions first" in text and "slope::test_ZEBRA42_0 slope 2 50 %" in text
    assert "hardest questions" not in class_page(course, list(CLASS)).text


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("For what is `math.erf` made?", "For what is <code>math.erf</code> made?"),
        ("`a < b` or `<b>`", "<code>a &lt; b</code> or <code>&lt;b&gt;</code>"),
        ("one ` <i>alone", "one ` &lt;i&gt;alone"),
        ("plain", "plain"),
    ],
)
def test_what_stands_between_backticks_is_code_and_nothing_else_is_markup(text: str, page: str) -> None:
    assert str(prose(text)) == page


# -- files


def test_every_odd_id_has_a_safe_name_of_its_own() -> None:
    names = [page_name(one.student) for one in CLASS]
    assert len({name.casefold() for name in names}) == len(CLASS)
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9_.-]*\.html", name) for name in names), names
    assert page_name("mira") == "mira.html" and page_name("007") == "007.html"
    taken = page_name("Ana").removesuffix(".html")
    assert page_name(taken) != page_name("Ana")


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_ids_have_names_that_no_system_takes_for_one(one: str, other: str) -> None:
    names = {page_name(one).casefold(), page_name(other).casefold()}
    assert len(names) == len({one, other})
    assert all(re.fullmatch(r"[a-z0-9_][a-z0-9_.-]{,75}\.html", name) for name in names)


def test_a_page_is_whole_whenever_the_writer_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "mira.html"
    for _ in range(5):
        child = os.fork()
        if child == 0:
            while True:
                write_page(path, f"<html>{'x' * 3_000_000}</html>")
        try:
            until = time.monotonic() + 20
            while not path.exists() and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(0.03)
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        assert path.read_bytes().endswith(b"</html>") and path.stat().st_size > 3_000_000


def test_what_a_killed_command_left_is_cleared_once_it_is_old(tmp_path: Path) -> None:
    """A young one may belong to a command that is at work now."""
    for name in (".old.html.123.new", ".young.html.124.new"):
        (tmp_path / name).write_text("<ht")
    hours_ago = time.time() - timedelta(hours=2).total_seconds()
    os.utime(tmp_path / ".old.html.123.new", (hours_ago, hours_ago))
    prepare_folder(tmp_path, tmp_path.parent / "course")
    assert [path.name for path in tmp_path.iterdir()] == [".young.html.124.new"]


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_page(tmp_path / "mira.html", "old")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_page(tmp_path / "mira.html", "new")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_folders_that_are_not_for_pages_are_refused_and_left_as_they_are(tmp_path: Path) -> None:
    root = tmp_path / "course"
    (root / "assignments").mkdir(parents=True)
    (root / "assignments/stub.py").write_text("x")
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers/a.html").write_text("<html>mine</html>")
    (tmp_path / "link").symlink_to(root / "assignments")
    (tmp_path / "file").write_text("x")
    before = sorted(map(str, tmp_path.rglob("*")))
    refused = {
        "course/assignments": "a folder of the course",
        "course/assignments/new": "a folder of the course",
        "course/.autograder": "a folder of the course",
        "course/tests/pages": "a folder of the course",
        "course": "holds the course itself",
        "": "holds the course itself",
        "link/new": "a folder of the course",
        "papers": "holds a.html, which is no report",
        "file": "is a file",
    }
    for place, words in refused.items():
        with pytest.raises(GradingError, match=words):
            prepare_folder(tmp_path / place, root)
    for place in ("papers/a.html", "papers", "course/assignments/stub.py", "course/assignments/new.html"):
        with pytest.raises(GradingError):
            prepare_file(tmp_path / place, root)
    assert sorted(map(str, tmp_path.rglob("*"))) == before


def test_pages_take_the_place_of_pages_of_their_kind_only(tmp_path: Path) -> None:
    root, folder = tmp_path / "course", tmp_path / "pages"
    prepare_folder(folder, root)
    write_page(folder / "mira.html", mark_of(REPORT))
    prepare_folder(folder, root)
    with pytest.raises(GradingError, match="no dashboard"):
        prepare_file(folder / "mira.html", root)
    write_page(folder / "class.html", mark_of(DASHBOARD))
    prepare_file(folder / "class.html", root)
    with pytest.raises(GradingError, match=r"holds class\.html"):
        prepare_folder(folder, root)


# -- commands


def test_the_commands_write_a_page_for_everybody_and_a_dashboard_with_links_to_them(root: Path) -> None:
    done = ask("report", ASSIGNMENT, cwd=root)
    assert (done.returncode, done.stderr) == (0, "") and f"{len(CLASS)} pages: " in done.stdout
    folder = root / "reports/lines/students"
    assert {path.name for path in folder.iterdir()} == {page_name(one.student) for one in CLASS}
    assert "told me why" in (folder / "hugo.html").read_text("utf-8")
    (folder / page_name("Ana")).unlink()
    assert ask("dashboard", ASSIGNMENT, cwd=root).returncode == 0
    page = Page((root / "reports/lines/dashboard.html").read_text("utf-8"))
    links = {unquote(address) for address in page.addresses if not address.startswith("#")}
    assert links == {f"students/{path.name}" for path in folder.iterdir()}
    assert "2 by hand, instead of 1" in page.text
    elsewhere = root.parent / "class.html"
    assert ask("dashboard", ASSIGNMENT, "--output", elsewhere, "--pages", folder, cwd=root).returncode == 0
    address = next(a for a in Page(elsewhere.read_text("utf-8")).addresses if not a.startswith("#"))
    assert (elsewhere.parent / unquote(address)).is_file()


def test_a_command_for_one_student_writes_one_page_and_knows_who_is_meant(root: Path, tmp_path: Path) -> None:
    done = ask("report", ASSIGNMENT, "--student", "DOM\\user7", "--output", tmp_path / "out", cwd=root)
    assert done.returncode == 0 and page_name("DOM\\user7") in done.stdout
    assert [path.name for path in (tmp_path / "out").iterdir()] == [page_name("DOM\\user7")]
    done = ask("report", ASSIGNMENT, "--student", "hug", "--output", tmp_path / "out", cwd=root)
    assert done.returncode == 2 and 'no receipt for "hug" in lines; did you mean hugo?' in done.stderr


def test_a_hint_for_the_second_attempt_is_told_with_the_second_submission(tmp_path: Path) -> None:
    wrong = {"outcomes": ("failed",) * 6, "diagnoses": mistake()}
    both = [receipt("mira", **wrong, submission_hash=digest) for digest in ("one", "other")]
    root = report_course(tmp_path / "course", [*both, receipt("hugo", **wrong)])
    text = (root / "course.yml").read_text("utf-8").replace("    limits:", "    hint: after_first_attempt\n    limits:")
    (root / "course.yml").write_text(text, "utf-8")
    assert ask("report", ASSIGNMENT, "--output", tmp_path / "out", cwd=root).returncode == 0
    told = {name: "What is at zero?" in (tmp_path / f"out/{name}.html").read_text("utf-8") for name in ("mira", "hugo")}
    assert told == {"mira": True, "hugo": False}


def test_nothing_graded_and_nothing_known_is_said_in_a_sentence(tmp_path: Path) -> None:
    root = report_course(tmp_path / "course", ())
    for command in ("report", "dashboard"):
        done = ask(command, ASSIGNMENT, cwd=root)
        assert done.returncode == 2 and "there is no receipt for lines yet; grade it first" in done.stderr
        assert '"line" is not an assignment' in ask(command, "line", cwd=root).stderr
    assert not (root / "reports").exists()
