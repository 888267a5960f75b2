"""The quiz's page in a real Chromium: the same marks as Python, a whole quiz by keyboard, answers that stay."""

from __future__ import annotations

import importlib.util
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from laboratory import Browser, until
from quiz_course import OFFSET, QUIZ, SLOPE, quiz_bank, quiz_files
from selenium.webdriver.common.keys import Keys

from autograder.course import CourseFiles, load_course
from autograder.grading.receipt import PASSED
from autograder.quiz.answers import read_answers
from autograder.quiz.bank import Bank, drawn, load_bank
from autograder.quiz.marking import mark
from autograder.quiz.model import AnyItem, Drawn, Match, Number, Order, Output, Shape, ShortText
from autograder.quiz.page import build
from autograder.quiz.page.keys import practice_key
from autograder.quiz.public import LETTERS, public_item

ROOT = Path(__file__).parents[2]
SOURCES = "\n".join((Path(build.__file__).parent / name).read_text("utf-8") for name in ("reading.js", "marking.js"))


def write_page(folder: Path, bank: Bank, practice: bool = False, root: Path | None = None) -> str:
    """Write a page and return its address."""
    path = folder / ("practice.html" if practice else "quiz.html")
    path.write_text(build.page(bank, load_course(root or folder), practice), "utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    folder = tmp_path_factory.mktemp("browser")
    found = Browser(folder / "profile", Path(os.environ.get("PICTURES", folder / "pictures")))
    found.go_offline()
    yield found
    found.close()


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """One browser for all tests here, each time as new."""
    yield chromium
    chromium.forget()


@pytest.fixture(scope="module")
def week08() -> Bank:
    return load_bank(CourseFiles(ROOT), load_course(ROOT), "week08")


@pytest.fixture
def small(tmp_path: Path) -> Bank:
    return quiz_bank(tmp_path)


# --- The same marks -------------------------------------------------------------------------------------------------

ODD = [
    "",
    " ",
    "–3",
    "1e400",
    "½",
    "10²",
    "１２",
    "٣",
    "\u200b7",
    "ﬁ",
    "ẞ",
    "İ",
    "ı",
    "K",
    "x" * 2001,
    "[]",
    "()",
    "1/0",
    "0",
    "%",
]
SIGNS = "0123456789.,/% -–−+eE[]()x×*;:abcdefgz\u00a0\u2028\u0085\u200b\ttorch.Size 1/8 ß½²٣"


def typed_answers(bank: Bank, item: AnyItem, chance: random.Random, student: str) -> list[object]:
    """The key and the named wrong answers in the ways in which people write them, and noise."""
    found: list[object] = [chance.choice(ODD) for _ in range(3)]
    found += ["".join(chance.choices(SIGNS, k=chance.randint(1, 9))) for _ in range(4)]
    if isinstance(item, Drawn):
        draw = bank.draw(item, student)
        for value in (draw.value, *(value for value, _ in draw.wrong)):
            if isinstance(item, Number):
                near = float(value) + chance.choice((-1, 1)) * draw.tolerance * chance.choice((0, 0.99, 1, 1.01, 2))
                texts = [f"{near!r}", f"{near:.3f}".replace(".", ","), f"{near:,.2f}", f"{near:e}", f"{near * 100!r} %"]
                found += [*texts, f"{near * 8!r}/8", f"{near:,.0f}".replace(",", chance.choice(". "))]
            elif isinstance(value, list):
                inside = [", ", " x ", "×", ",", " ", ";"]
                texts = [chance.choice(inside).join(map(str, value)) for _ in range(3)]
                found += [
                    chance.choice(("{}", "[{}]", "({},)", "torch.Size([{}])", "TORCH.SIZE(({}))")).format(t)
                    for t in texts
                ]
    elif isinstance(item, ShortText):
        for text in (*item.key.accept, *(each.text for each in item.wrong)):
            found += [text.upper(), f" {text}. ", text.replace(" ", "-"), text.replace("s", "ſ"), text[:-1]]
    elif isinstance(item, Output):
        for text in (item.key.output, *(each.output for each in item.wrong)):
            found += [
                text,
                text.replace(",", " , "),
                f"\n{text}\r\n",
                text.replace("\n", "\u2028"),
                text.replace("(", " (").upper(),
            ]
    else:
        shown = public_item(bank, item)
        letters = [each["letter"] for each in shown.get("options") or shown.get("steps") or shown["right"]]
        for _ in range(12):
            some = chance.sample(letters, chance.randint(0, len(letters)))
            if isinstance(item, Match):
                numbers = [each["number"] for each in shown["left"]]
                pairs = {
                    number: chance.choice(letters) for number in chance.sample(numbers, chance.randint(1, len(numbers)))
                }
                found += [
                    pairs,
                    chance.choice((" ", ", ", "")).join(
                        f"{n}{chance.choice(('', ': ', ')'))}{c}" for n, c in pairs.items()
                    ),
                ]
            else:
                found += [some, "".join(some), ", ".join(some).upper(), some[:1], "".join(some[:1])]
        found += [right_answer(bank, item, student), [*letters, letters[0]]]
    return found


def right_answer(bank: Bank, item: AnyItem, student: str) -> Any:
    """An answer of full marks, as the page's controls give it."""
    key = practice_key(bank, item)
    match item:
        case Order():
            return key["steps"]
        case Match():
            return dict(key["pairs"])
        case ShortText():
            return item.key.accept[0]
        case Output():
            return item.key.output
        case Number() | Shape():
            return str(bank.draw(item, student).value)
    letters = [option["letter"] for option in key["options"] if option["key"]]
    return letters if item.type == "multiple" else letters[0]


def test_the_page_marks_every_answer_as_python_does(
    tmp_path: Path, browser: Browser, small: Bank, week08: Bank
) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    cases, expected = [], []
    for bank in (small, week08):
        for item in bank.items:
            if item.counted:
                shown, student = public_item(bank, item), f"student {chance.randrange(1000)}"
                about = {"type": item.type, "key": practice_key(bank, item)}
                lettered = shown.get("options") or shown.get("steps") or shown.get("right") or []
                about["letters"] = [each["letter"] for each in lettered]
                about["numbers"] = [each["number"] for each in shown.get("left", ())]
                draw = drawn(student, item.id, len(bank.draws(item))) if isinstance(item, Drawn) else 0
                for typed in typed_answers(bank, item, chance, student):
                    cases.append([about, typed, draw])
                    found = mark(bank, item, typed, student)
                    expected.append(
                        [item.id, typed, found.outcome, [*found.share.as_integer_ratio()], list(found.feedback)]
                    )
    browser.open("about:blank")
    marks = """return arguments[0].map(([item, typed, draw]) => {
        const found = mark(item, typed, draw);
        return [found.outcome, found.share, found.problem ? [found.problem] : found.said.map(i => item.key.lines[i])];
    });"""
    given = browser.run(SOURCES + marks, cases)
    assert isinstance(given, list), given
    different = [(e, g) for e, g in zip(expected, given, strict=True) if e[2:] != g]
    assert len({e[2] for e in expected}) == 5, "not every outcome was met"
    assert not different, f"{len(different)} of {len(expected)} differ, first: {different[0]}"


def test_the_page_draws_the_same_variant_as_python(tmp_path: Path, browser: Browser) -> None:
    names = ["", "mira", "Łukasz Żak", "李雷", "🦉", "o'neil/2", "a" * 200]
    store = (Path(build.__file__).parent / "store.js").read_text("utf-8")
    browser.open("about:blank")
    given = browser.run(f"{SOURCES}\n{store}\nreturn arguments[0].map(name => drawnNumber(name, 'ln_axis', 61))", names)
    assert given == [drawn(name, "ln_axis", 61) for name in names]


# --- Taking it ------------------------------------------------------------------------------------------------------

FOCUS = """const e = document.activeElement, step = e.closest(".step");
return {id: e.id, tag: e.tagName, type: e.type, value: e.value, checked: e.checked, tick: e.classList.contains("tick"),
        act: e.dataset.act, letter: step && step.dataset.letter, number: e.dataset.number,
        question: (e.closest(".question") || {id: ""}).id.slice(2),
        placed: e.closest(".question") ? e.closest(".question").querySelectorAll(".placed .step").length : 0,
        outline: getComputedStyle(e).outlineStyle}"""


def test_a_whole_quiz_is_answered_by_keyboard_alone_and_without_a_network(
    tmp_path: Path, browser: Browser, small: Bank
) -> None:
    browser.open(write_page(tmp_path, small))
    right = {item.id: right_answer(small, item, "mira") for item in small.items if item.counted}
    for _ in range(200):
        browser.press(Keys.TAB)
        focus = browser.run(FOCUS)
        if focus["id"] == "export" and done(browser):
            break
        assert focus["tag"] == "BODY" or focus["id"] == "questions" or focus["outline"] != "none", focus
        by_keyboard(browser, focus, right)
    assert browser.texts("#sections") == ["2 of 2 sections (100 %)"]
    assert browser.texts("#course") == ["2 of 2 sections of the course (100 %)"]
    browser.press(Keys.ENTER)
    file = browser.downloads / "quiz_answers.json"
    until(file.is_file, 20, "the answers file")
    answers = read_answers(file.read_bytes(), file.name, "lines")
    assert answers.student == "mira" and answers.answers["s2_open"] == "Two numbers, two points."
    marks = [mark(small, item, answers.answers[item.id], "mira") for item in small.items if item.counted]
    assert {m.outcome for m in marks} == {PASSED}, marks
    assert answers.versions == {item.id: public_item(small, item)["version"] for item in small.items}
    assert browser.run("return performance.getEntriesByType('resource').map(e => e.name)") == []
    assert browser.complaints() == []


def done(browser: Browser) -> bool:
    return bool(browser.run("return document.querySelector('#answers').textContent.startsWith('10 of 10')"))


def by_keyboard(browser: Browser, focus: dict[str, Any], right: dict[str, Any]) -> None:
    """Give the right answer where the focus is, if it is not there yet."""
    answer = right.get(focus["question"])
    if focus["id"] == "student" and not focus["value"]:
        browser.press("mira", Keys.ENTER)
    elif focus["type"] == "radio" and not focus["checked"]:
        browser.press(Keys.SPACE)
        for _ in range(6):
            if browser.run("return document.activeElement.value") == answer:
                break
            browser.press(Keys.ARROW_DOWN)
    elif focus["type"] == "checkbox" and not focus["checked"] and (focus["tick"] or focus["value"] in answer):
        browser.press(Keys.SPACE)
    elif focus["tag"] == "SELECT" and not focus["value"]:
        browser.press(answer[focus["number"]])
    elif focus["act"] == "place":
        while focus["act"] == "place" and focus["placed"] < len(answer):
            browser.press(Keys.ENTER if focus["letter"] == answer[focus["placed"]] else Keys.TAB)
            focus = browser.run(FOCUS)
    elif focus["type"] in ("text", "textarea") and focus["question"] and not focus["value"]:
        browser.press(answer or "Two numbers, two points.")


def choose(browser: Browser, item: str, letter: str) -> None:
    browser.find(f"#q-{item} input[value='{letter}']").click()


def name(browser: Browser, student: str) -> None:
    field = browser.find("#student")
    field.clear()
    field.send_keys(student, Keys.ENTER)


def value(browser: Browser, item: str) -> str:
    return str(browser.run("return document.querySelector(arguments[0]).value", f"#q-{item} input"))


def test_answers_survive_a_reload_another_tab_and_another_name(tmp_path: Path, browser: Browser, small: Bank) -> None:
    address = write_page(tmp_path, small)
    browser.open(address)
    assert browser.texts("#q-s1_drawn .waiting") and not browser.find("#q-s1_twice .answering").get_attribute("hidden")
    name(browser, "mira")
    choose(browser, "s1_what_it_does", "b")
    browser.find("#q-s1_drawn input").send_keys("21")
    mine = browser.texts("#q-s1_drawn .prompt")
    browser.new_tab()
    browser.open(address)
    assert value(browser, "s1_drawn") == "21" and browser.texts("#q-s1_drawn .prompt") == mine
    browser.find("#q-s2_name input").send_keys("offset")
    browser.to_tab(0)
    browser.wait(lambda d: value(browser, "s2_name") == "offset", 10, "the other tab's answer")
    browser.find("#q-s1_twice input").send_keys("3")
    name(browser, next(s for s in "abcdefgh" if drawn(s, "s1_drawn", 9) != drawn("mira", "s1_drawn", 9)))
    assert value(browser, "s1_drawn") == "" and browser.texts("#q-s1_drawn .prompt") != mine
    name(browser, "mira")
    browser.open(address)
    found = [value(browser, item) for item in ("s1_drawn", "s2_name", "s1_twice")]
    assert found == ["21", "offset", "3"] and browser.texts("#answers") == ["4 of 10 questions answered"]
    browser.find("#restart").click()
    assert "Start over?" in browser.answer(yes=False)
    assert browser.texts("#answers") == ["4 of 10 questions answered"]
    browser.find("#restart").click()
    browser.answer(yes=True)
    assert (
        browser.texts("#answers") == ["0 of 10 questions answered"]
        and browser.run("return document.querySelector('#student').value") == ""
    )
    assert browser.complaints() == []


def test_a_question_that_has_changed_is_asked_again(tmp_path: Path, browser: Browser, small: Bank) -> None:
    browser.open(write_page(tmp_path, small))
    browser.find("#q-s2_name input").send_keys("offset")
    changed = quiz_bank(tmp_path, **{OFFSET: QUIZ[OFFSET].replace("at zero called?", "at zero named?")})
    browser.open(write_page(tmp_path, changed))
    assert value(browser, "s2_name") == "" and "has changed" in browser.texts("#q-s2_name .reply")[0]


@pytest.mark.parametrize("storage", ["refused", "full", "broken"])
def test_the_page_works_where_the_browser_keeps_nothing(
    tmp_path: Path, browser: Browser, small: Bank, storage: str
) -> None:
    address = write_page(tmp_path, small)
    refuse = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError') }})"
    full = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }"
    broken = 'localStorage.setItem(\'autograder-quiz-1/lines/graded\', \'{"fixed": {"s2_name": 3}, "drawn": [\')'
    browser.before_each_page({"refused": refuse, "full": full, "broken": broken}[storage])
    browser.open(address)
    browser.find("#q-s2_name input").send_keys("offset")
    assert browser.texts("#answers") == ["1 of 10 questions answered"]
    told = browser.run("return !document.querySelector('#not-kept').hidden")
    assert told == (storage != "broken")
    browser.run(
        "window.onbeforeunload = null; addEventListener('beforeunload', e => e.stopImmediatePropagation(), true)"
    )


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


def test_a_hostile_file_gets_one_sentence_and_changes_nothing(tmp_path: Path, browser: Browser, small: Bank) -> None:
    browser.open(write_page(tmp_path, small))
    for what, (text, sentence) in HOSTILE.items():
        told = take(browser, tmp_path / "in.json", text)
        assert sentence in told and "\n" not in told, (what, told)
    assert value(browser, "s2_name") == "<img src=x onerror=x()>"
    assert browser.run("return [document.querySelectorAll('img, i, main b').length, {}.s2_name, document.title]") == [
        0,
        None,
        "Week 1: Lines: knowledge checks",
    ]
    assert browser.complaints() == []


def take(browser: Browser, path: Path, text: str) -> str:
    """Choose a file, and return what is told about it."""
    path.write_text(text, "utf-8")
    browser.run("document.querySelector('#told').textContent = ''")
    browser.run("document.querySelector('#file').hidden = false")
    browser.find("#file").send_keys(str(path))
    return str(
        browser.wait(lambda d: d.execute_script("return document.querySelector('#told').textContent"), 20, "a sentence")
    )


def test_a_file_that_was_exported_comes_back_after_a_question(tmp_path: Path, browser: Browser, small: Bank) -> None:
    browser.open(write_page(tmp_path, small))
    right = {item.id: right_answer(small, item, "mira") for item in small.items if item.counted}
    versions = {item: public_item(small, small.by_id[item])["version"] for item in right} | {"s2_name": "00000000"}
    text = json.dumps({"assignment": "lines", "student": "mira", "answers": right, "versions": versions})
    assert take(browser, tmp_path / "in.json", text) == "9 answers taken from the file."
    assert browser.texts("#answers") == ["8 of 10 questions answered"]
    assert "has changed" in browser.texts("#q-s2_name .reply")[0]
    assert (
        browser.run("return [...document.querySelectorAll('.placed .step')].map(e => e.dataset.letter)")
        == right["s1_order"]
    )
    path = tmp_path / "in.json"
    path.write_text('{"answers": {"s2_shape": [2], "s1_properties": "AB", "s1_twice": 3.5, "unknown": 1}}')
    browser.find("#file").send_keys(str(path))
    assert browser.answer(yes=True) == "Replace the 8 answers on this page by the 3 of the file?"
    until(lambda: browser.texts("#told")[0].startswith("3 answers taken"), 20, "the answers")
    assert "unknown" in browser.texts("#told")[0] and value(browser, "s1_twice") == "3.5"


def test_practice_explains_at_once_and_graded_pages_say_only_what_cannot_be_read(
    tmp_path: Path, browser: Browser, small: Bank
) -> None:
    browser.open(write_page(tmp_path, small))
    name(browser, "mira")
    browser.find("#q-s1_twice input").send_keys("16,000", Keys.TAB)
    assert "could be 16000 or 16.000" in browser.texts("#q-s1_twice .reply")[0]
    browser.find("#q-s2_name input").send_keys("slope", Keys.TAB)
    assert browser.texts("#q-s2_name .reply") == [""]

    browser.open(write_page(tmp_path, small, practice=True))
    said = {}
    for item, typed in {
        "s2_name": "Slope",
        "s1_twice": "3.5",
        "s2_shape": "2 x 1",
        "s2_prints": "[ 7 ]",
        "s1_drawn": "0",
    }.items():
        browser.find(f"#q-{item} input, #q-{item} textarea").send_keys(typed)
        browser.find(f"#q-{item} .check").click()
        said[item] = browser.texts(f"#q-{item} .reply")[0]
    assert said["s2_name"].startswith("Not yet.\n") and "Which of the two is the factor?" in said["s2_name"]
    assert "Is 2 an amount here?" in said["s1_twice"] and "Where does a second axis come from?" in said["s2_shape"]
    assert (
        said["s2_prints"].startswith("This is the answer.") and "First the product, then the sum." in said["s2_prints"]
    )
    browser.find("#q-s1_drawn summary").click()
    key = small.draw(small.by_id["s1_drawn"], "").value  # type: ignore[arg-type]
    assert f"Answer: {key}\n" in browser.texts("#q-s1_drawn .reply")[0]
    assert browser.complaints() == []


# --- How it looks ---------------------------------------------------------------------------------------------------


def serious(browser: Browser, rules: str = "{}") -> list[str]:
    """What axe-core finds that keeps people out."""
    place = importlib.util.find_spec("axe_playwright_python")
    assert place and place.submodule_search_locations, "`make browser` installs axe-core"
    source = (Path(place.submodule_search_locations[0]) / "axe.min.js").read_text("utf-8")
    found = browser.run(f"{source}\nreturn (await axe.run({{rules: {rules}}})).violations")
    assert isinstance(found, list), found
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:200]} {each['nodes'][0]['failureSummary']}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


PICTURE = """course: Week 1 §1
pictures:
  - {draw: heatmap, values: "[[0.1, 0.9], [-0.5, 0.4]]", columns: [here, there], rows: [x, y], caption: A map.}
  - {draw: bars, values: "[[0.1, 0.9], [-0.5, 0.4]]", columns: [here, there], rows: [x, y], caption: Bars.}
"""


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_keeps_anybody_out_of_the_page(tmp_path: Path, browser: Browser, dark: bool) -> None:
    slope = QUIZ[SLOPE].replace("course: Week 1 §1\n", PICTURE).replace("What does a slope do to x?", "What is $x_0$?")
    browser.open(write_page(tmp_path, quiz_bank(tmp_path, **{SLOPE: slope}), practice=True))
    browser.look(dark=dark)
    for button in range(len(browser.texts(".check"))):
        browser.run("document.querySelectorAll('.check')[arguments[0]].click()", button)
    choose(browser, "s1_what_it_does", "a")
    browser.find("#q-s1_what_it_does .check").click()
    browser.run("document.querySelectorAll('.reply details, .twin').forEach(e => { e.open = true })")
    assert serious(browser) == []


def test_the_page_of_this_course_is_readable_for_all_and_fits_a_phone(
    tmp_path: Path, browser: Browser, week08: Bank
) -> None:
    browser.open(write_page(tmp_path, week08, root=ROOT))
    name(browser, "mira")
    assert serious(browser, "{'color-contrast': {enabled: false}}") == []  # colours are the same everywhere
    answer_some(browser)
    for shot, (place, how) in PICTURES.items():
        browser.look(**how)
        browser.run("document.querySelector(arguments[0]).scrollIntoView()", place)
        browser.picture(shot, **how)
    browser.look(width=360, height=800)
    assert browser.run("return document.documentElement.scrollWidth") == 360
    assert browser.complaints() == []


PICTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "quiz": ("body", {"height": 1000}),
    "quiz-dark": ("#section-10", {"height": 1000, "dark": True}),
    "quiz-phone": ("#section-7", {"width": 390, "height": 844}),
    "quiz-print": ("body", {"width": 720, "height": 1000, "medium": "print"}),
}


def answer_some(browser: Browser) -> None:
    """As a student in the middle of the work."""
    browser.run("""
        for (const section of [...document.querySelectorAll("main section")].slice(0, 7)) {
            for (const box of section.querySelectorAll(".question")) {
                const inputs = [...box.querySelectorAll("input:not(.tick), textarea, select")];
                if (["radio", "checkbox"].includes(inputs[0]?.type)) inputs[1].click();
                for (const input of inputs.filter(e => ["text", "textarea"].includes(e.type))) input.value = "2";
                for (const input of inputs.filter(e => e.tagName === "SELECT")) input.selectedIndex = 1 + (5 * Number(input.dataset.number)) % (input.options.length - 1);
                for (const place of [...box.querySelectorAll("[data-act=place]")]) if (!place.disabled) place.click();
                inputs[0]?.dispatchEvent(new Event("input", {bubbles: true}));
            }
        }
        const section = document.querySelector("#section-10").closest("section");
        for (const letter of "gca") section.querySelector(`[data-letter=${letter}] [data-act=place]`).click();
        section.querySelectorAll("input[type=radio]")[3].click();
        document.activeElement.blur();
    """)
