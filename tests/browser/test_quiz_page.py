"""The quiz's page in a real Chromium: a whole quiz by keyboard, answers that stay, hostile files, looks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from answering import FOCUS, by_keyboard, right_answer
from laboratory import Browser, serious, until
from quiz_course import OFFSET, QUIZ, SLOPE, draw_of, quiz_bank
from selenium.webdriver.common.keys import Keys

from autograder.course import load_course
from autograder.grading.receipt import PASSED
from autograder.quiz.answers import read_answers
from autograder.quiz.bank import Bank
from autograder.quiz.drawing import drawn
from autograder.quiz.marking import mark
from autograder.quiz.page.build import page
from autograder.quiz.public import public_item

ROOT = Path(__file__).parents[2]


def write_page(folder: Path, bank: Bank, practice: bool = False, root: Path | None = None) -> str:
    """Write a page and return its address."""
    path = folder / ("practice.html" if practice else "quiz.html")
    path.write_text(page(bank, load_course(root or folder), practice), "utf-8")
    return path.as_uri()


@pytest.mark.parametrize(
    ("which", "root", "sections", "course"),
    [
        ("small", None, "2 of 2 sections (100 %)", "2 of 2 sections of the course (100 %)"),
        ("week08", ROOT, "20 of 20 sections (100 %)", "20 of 321 sections of the course (6 %)"),
    ],
)
def test_a_whole_quiz_is_answered_by_keyboard_alone_and_without_a_network(
    tmp_path: Path, tab: Browser, request: pytest.FixtureRequest, which: str, root: Path, sections: str, course: str
) -> None:
    bank: Bank = request.getfixturevalue(which)
    tab.open(write_page(tmp_path, bank, root=root))
    right = {item.id: right_answer(bank, item, "mira") for item in bank.items if item.counted}
    count = len(list(bank.items))
    all_answered = f"{count} of {count} questions answered"
    for _ in range(20 * count):
        tab.press(Keys.TAB)
        focus = tab.run(FOCUS)
        if focus["id"] == "export" and tab.texts("#answers") == [all_answered]:
            break
        assert focus["tag"] == "BODY" or focus["id"] == "questions" or focus["outline"] != "none", focus
        by_keyboard(tab, focus, right)
    assert tab.texts("#answers") == [all_answered]
    assert tab.texts("#sections") == [sections]
    assert tab.texts("#course") == [course]
    file = tab.downloads / "quiz_answers.json"
    file.unlink(missing_ok=True)
    tab.press(Keys.ENTER)
    until(file.is_file, 20, "the answers file")
    answers = read_answers(file.read_bytes(), file.name, bank.assignment)
    assert answers.student == "mira"
    marks = [mark(bank, item, answers.answers[item.id], "mira") for item in bank.items if item.counted]
    assert {m.outcome for m in marks} == {PASSED}, [m for m in marks if m.outcome != PASSED]
    texts = [item.id for item in bank.items if not item.counted]
    assert texts and {answers.answers[item] for item in texts} == {"Two numbers, two points."}
    assert answers.versions == {item.id: public_item(bank, item)["version"] for item in bank.items}
    assert tab.run("return performance.getEntriesByType('resource').map(e => e.name)") == []
    assert tab.complaints() == []


KEPT = "autograder-quiz-1/lines/graded"


def choose(tab: Browser, item: str, letter: str) -> None:
    tab.find(f"#q-{item} input[value='{letter}']").click()


def name(tab: Browser, student: str) -> None:
    field = tab.find("#student")
    field.clear()
    field.send_keys(student, Keys.ENTER)


def value(tab: Browser, item: str) -> str:
    return str(tab.run("return document.querySelector(arguments[0]).value", f"#q-{item} input"))


def test_answers_survive_a_reload_another_tab_and_another_name(tmp_path: Path, tab: Browser, small: Bank) -> None:
    address = write_page(tmp_path, small)
    tab.open(address)
    assert tab.texts("#q-s1_drawn .waiting") and not tab.find("#q-s1_twice .answering").get_attribute("hidden")
    name(tab, "mira")
    choose(tab, "s1_what_it_does", "b")
    tab.find("#q-s1_drawn input").send_keys("21")
    mine = tab.texts("#q-s1_drawn .prompt")
    tab.new_tab()
    tab.open(address)
    assert value(tab, "s1_drawn") == "21" and tab.texts("#q-s1_drawn .prompt") == mine
    tab.find("#q-s2_name input").send_keys("offset")
    tab.to_tab(0)
    tab.wait(lambda d: value(tab, "s2_name") == "offset", 10, "the other tab's answer")
    tab.find("#q-s1_twice input").send_keys("3")
    name(tab, next(s for s in "abcdefgh" if drawn(s, "s1_drawn", 9) != drawn("mira", "s1_drawn", 9)))
    assert value(tab, "s1_drawn") == "" and tab.texts("#q-s1_drawn .prompt") != mine
    name(tab, "mira")
    tab.open(address)
    found = [value(tab, item) for item in ("s1_drawn", "s2_name", "s1_twice")]
    assert found == ["21", "offset", "3"]
    edit = "const kept = JSON.parse(localStorage[arguments[0]]); kept.fixed.s2_name.typed = 'zero';"
    tab.run(f"{edit} localStorage[arguments[0]] = JSON.stringify(kept)", KEPT)
    tab.find("#q-s1_twice input").send_keys("1")  # before it is told what another tab has changed
    assert json.loads(tab.run("return localStorage[arguments[0]]", KEPT))["fixed"]["s2_name"]["typed"] == "zero"
    assert tab.texts("#answers") == ["4 of 10 questions answered"]
    tab.find("#restart").click()
    assert "Start over?" in tab.answer(yes=False)
    assert tab.texts("#answers") == ["4 of 10 questions answered"]
    tab.find("#restart").click()
    tab.answer(yes=True)
    assert (
        tab.texts("#answers") == ["0 of 10 questions answered"]
        and tab.run("return document.querySelector('#student').value") == ""
    )
    assert tab.complaints() == []


def test_a_question_that_has_changed_is_asked_again(tmp_path: Path, tab: Browser, small: Bank) -> None:
    tab.open(write_page(tmp_path, small))
    tab.find("#q-s2_name input").send_keys("offset")
    changed = quiz_bank(tmp_path, **{OFFSET: QUIZ[OFFSET].replace("at zero called?", "at zero named?")})
    tab.open(write_page(tmp_path, changed))
    assert value(tab, "s2_name") == "" and "has changed" in tab.texts("#q-s2_name .reply")[0]


@pytest.mark.parametrize("storage", ["refused", "full", "broken"])
def test_the_page_works_where_the_browser_keeps_nothing(
    tmp_path: Path, tab: Browser, small: Bank, storage: str
) -> None:
    address = write_page(tmp_path, small)
    refuse = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError') }})"
    full = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }"
    broken = 'localStorage.setItem(\'autograder-quiz-1/lines/graded\', \'{"fixed": {"s2_name": 3}, "drawn": [\')'
    tab.before_each_page({"refused": refuse, "full": full, "broken": broken}[storage])
    tab.open(address)
    told = tab.run("return !document.querySelector('#not-kept').hidden")
    assert told == (storage != "broken")
    tab.find("#q-s2_name input").send_keys("offset")
    assert tab.texts("#answers") == ["1 of 10 questions answered"]
    tab.run("window.onbeforeunload = null; addEventListener('beforeunload', e => e.stopImmediatePropagation(), true)")


HOSTILE: dict[str, tuple[str, str]] = {
    "no JSON": ("answers: {}", "not valid JSON"),
    "a list": ("[1]", "no answers file"),
    "no answers": ('{"student": "mira"}', "no answers file"),
    "answers in a list": ('{"answers": []}', "no answers file"),
    "another field": ('{"answers": {}, "<b>key</b>": 1}', "is not a field"),
    "another kind": ('{"answers": {}, "student": 7}', "`student` must be text"),
    "another format": ('{"answers": {}, "format": "x-2"}', "reads autograder-answers-1"),
    "another quiz": ('{"answers": {}, "assignment": "week08"}', "not of lines"),
    "a long name": (json.dumps({"answers": {}, "student": "a" * 300}), "longer than 200"),
    "too large": (json.dumps({"answers": {"s2_name": "x" * 600_000}}), "larger than 500 kB"),
    "nesting": ('{"answers": {"s2_name": ' + "[" * 100_000 + "]" * 100_000 + "}}", "0 answers taken"),
    "the prototype": ('{"answers": {"__proto__": {"s2_name": "x"}, "constructor": "y"}}', "0 answers taken"),
    "wrong kinds": (
        '{"answers": {"s2_name": {"a": 1}, "s1_what_it_does": "z", "s2_match": [1], "s1_order": {"a": 2}}}',
        "0 answers taken",
    ),
    "markup": ('{"answers": {"s2_name": "<img src=x onerror=x()>", "<b>": 1}, "student": "<i>"}', "1 answer taken"),
}


def test_a_hostile_file_gets_one_sentence_and_changes_nothing(tmp_path: Path, tab: Browser, small: Bank) -> None:
    tab.open(write_page(tmp_path, small))
    for what, (text, sentence) in HOSTILE.items():
        told = take(tab, tmp_path / "in.json", text)
        assert sentence in told and "\n" not in told, (what, told)
    assert value(tab, "s2_name") == "<img src=x onerror=x()>"
    assert tab.run("return [document.querySelectorAll('img, i, main b').length, {}.s2_name, document.title]") == [
        0,
        None,
        "Week 1: Lines: knowledge checks",
    ]
    assert tab.complaints() == []


def take(tab: Browser, path: Path, text: str) -> str:
    """Choose a file, and return what is told about it."""
    path.write_text(text, "utf-8")
    tab.run("document.querySelector('#told').textContent = ''")
    tab.run("document.querySelector('#file').hidden = false")
    tab.find("#file").send_keys(str(path))
    return str(
        tab.wait(lambda d: d.execute_script("return document.querySelector('#told').textContent"), 20, "a sentence")
    )


def test_a_file_that_was_exported_comes_back_after_a_question(tmp_path: Path, tab: Browser, small: Bank) -> None:
    tab.open(write_page(tmp_path, small))
    right = {item.id: right_answer(small, item, "mira") for item in small.items if item.counted}
    versions = {item: public_item(small, small.by_id[item])["version"] for item in right} | {"s2_name": "00000000"}
    text = json.dumps({"assignment": "lines", "student": "mira", "answers": right, "versions": versions})
    assert take(tab, tmp_path / "in.json", text) == "9 answers taken from the file."
    assert tab.texts("#answers") == ["8 of 10 questions answered"]
    assert "has changed" in tab.texts("#q-s2_name .reply")[0]
    assert (
        tab.run("return [...document.querySelectorAll('.placed .step')].map(e => e.dataset.letter)")
        == right["s1_order"]
    )
    path = tmp_path / "in.json"
    path.write_text('{"answers": {"s2_shape": [2], "s1_properties": "AB", "s1_twice": 3.5, "unknown": 1}}')
    tab.find("#file").send_keys(str(path))
    assert tab.answer(yes=True) == "Replace the 8 answers on this page by the 3 of the file?"
    until(lambda: tab.texts("#told")[0].startswith("3 answers taken"), 20, "the answers")
    assert "unknown" in tab.texts("#told")[0] and value(tab, "s1_twice") == "3.5"


def test_practice_explains_at_once_and_graded_pages_say_only_what_cannot_be_read(
    tmp_path: Path, tab: Browser, small: Bank
) -> None:
    tab.open(write_page(tmp_path, small))
    name(tab, "mira")
    tab.find("#q-s1_twice input").send_keys("16,000", Keys.TAB)
    assert "could be 16000 or 16.000" in tab.texts("#q-s1_twice .reply")[0]
    tab.find("#q-s2_name input").send_keys("slope", Keys.TAB)
    assert tab.texts("#q-s2_name .reply") == [""]

    tab.open(write_page(tmp_path, small, practice=True))
    said = {}
    for item, typed in {
        "s2_name": "Slope",
        "s1_twice": "3.5",
        "s2_shape": "2 x 1",
        "s2_prints": "[ 7 ]",
        "s1_drawn": "0",
    }.items():
        tab.find(f"#q-{item} input, #q-{item} textarea").send_keys(typed)
        tab.find(f"#q-{item} .check").click()
        said[item] = tab.texts(f"#q-{item} .reply")[0]
    assert said["s2_name"].startswith("Not yet.\n") and "Which of the two is the factor?" in said["s2_name"]
    assert "Is 2 an amount here?" in said["s1_twice"] and "Where does a second axis come from?" in said["s2_shape"]
    assert (
        said["s2_prints"].startswith("This is the answer.") and "First the product, then the sum." in said["s2_prints"]
    )
    tab.find("#q-s1_drawn summary").click()
    key = draw_of(small, "s1_drawn", "").value
    assert f"Answer: {key}\n" in tab.texts("#q-s1_drawn .reply")[0]
    assert tab.complaints() == []


PICTURE = """course: Week 1 §1
pictures:
  - {draw: heatmap, values: "[[0.1, 0.9], [-0.5, 0.4]]", columns: [here, there], rows: [x, y], caption: A map.}
  - {draw: bars, values: "[[0.1, 0.9], [-0.5, 0.4]]", columns: [here, there], rows: [x, y], caption: Bars.}
"""


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_keeps_anybody_out_of_the_page(tmp_path: Path, tab: Browser, dark: bool) -> None:
    slope = QUIZ[SLOPE].replace("course: Week 1 §1\n", PICTURE).replace("What does a slope do to x?", "What is $x_0$?")
    tab.open(write_page(tmp_path, quiz_bank(tmp_path, **{SLOPE: slope}), practice=True))
    tab.look(dark=dark)
    for button in range(len(tab.texts(".check"))):
        tab.run("document.querySelectorAll('.check')[arguments[0]].click()", button)
    choose(tab, "s1_what_it_does", "a")
    tab.find("#q-s1_what_it_does .check").click()
    tab.run("document.querySelectorAll('.reply details, .twin').forEach(e => { e.open = true })")
    assert serious(tab) == []


def test_the_page_of_this_course_is_readable_for_all_and_fits_a_phone(
    tmp_path: Path, tab: Browser, week08: Bank
) -> None:
    tab.open(write_page(tmp_path, week08, root=ROOT))
    name(tab, "mira")
    assert serious(tab) == []
    answer_some(tab)
    for shot, (place, how) in PICTURES.items():
        tab.look(**how)
        tab.run("document.querySelector(arguments[0]).scrollIntoView()", place)
        tab.picture(shot, **how)
    tab.look(width=360, height=800)
    assert tab.run("return document.documentElement.scrollWidth") == 360
    assert tab.complaints() == []


PICTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "quiz": ("body", {"height": 1000}),
    "quiz-dark": ("#section-10", {"height": 1000, "dark": True}),
    "quiz-phone": ("#section-7", {"width": 390, "height": 844}),
    "quiz-print": ("body", {"width": 720, "height": 1000, "medium": "print"}),
}


def answer_some(tab: Browser) -> None:
    """As a student in the middle of the work."""
    tab.run("""
        const kind = e => e.tagName === "SELECT" ? "select" : e.type;
        const sections = [...document.querySelectorAll("main section")].slice(0, 7);
        for (const box of sections.flatMap(e => [...e.querySelectorAll(".question")])) {
            const inputs = [...box.querySelectorAll("input:not(.tick), textarea, select")];
            inputs.forEach((e, i) => {
                if (kind(e) === "select") e.selectedIndex = 1 + (5 * i + 3) % (e.options.length - 1);
                else if (kind(e).startsWith("text")) e.value = "2";
                else if (i === 1) e.click();
            });
            box.querySelectorAll("[data-act=place]").forEach(e => e.click());
            inputs[0]?.dispatchEvent(new Event("input", {bubbles: true}));
        }
        const section = document.querySelector("#section-10").closest("section");
        for (const letter of "gca") section.querySelector(`[data-letter=${letter}] [data-act=place]`).click();
        section.querySelectorAll("input[type=radio]")[3].click();
        document.activeElement.blur();
    """)
