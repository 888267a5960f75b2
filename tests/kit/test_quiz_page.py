"""The quiz as a web page: what a graded one must not hold, what nothing on it may do, and what it says."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from command_line import ask
from quiz_course import OFFSET, QUIZ, SLOPE, quiz_bank, quiz_files

from autograder.course import CourseFiles, load_course
from autograder.quiz.bank import Bank, load_bank
from autograder.quiz.errors import QuizError
from autograder.quiz.leaks import Search
from autograder.quiz.page.build import page
from autograder.quiz.page.pictures import drawn

ROOT = Path(__file__).parents[2]
PICTURE = """course: Week 1 §1
pictures:
  - {draw: DRAW, values: VALUES, columns: [here, there], rows: [x, "2x"], caption: A line at two places.}
"""
HOSTILE = (
    """</script><script>x()</script><img src=x onerror=x()> [a](http://example.org) ![b](http://example.org/b.png)"""
)


def pages(folder: Path, practice: bool = False, **changed: str) -> str:
    files, course = quiz_files(folder, **changed)
    return page(load_bank(files, course, "lines"), course, practice)


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Bank:
    return quiz_bank(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> str:
    return pages(tmp_path_factory.mktemp("course"))


class Elements(HTMLParser):
    """All elements of a page with their attributes, and the text of scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self._open = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._open = tag

    def handle_data(self, data: str) -> None:
        if self._open in self.inside:
            self.inside[self._open].append(data)
            self._open = ""


def data_of(html: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="quiz">(.*?)</script>', html, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_the_same_bank_gives_the_same_bytes(tmp_path, graded):
    assert pages(tmp_path) == graded


def test_a_graded_page_does_not_change_with_keys_feedback_and_explanations(tmp_path, graded):
    """What leaves is a function of what students may know."""
    slope = QUIZ[SLOPE].replace(
        "key: true, feedback: Twice the slope", "misconception: adds_instead, feedback: Twice the slope"
    )
    slope = slope.replace("by an amount, misconception: adds_instead", "by an amount, key: true").replace(
        "key: {value: a * b", "key: {value: a ** b"
    )
    slope = slope.replace("tolerance: 0.05", "tolerance: 0.01").replace(
        "why: A slope multiplies.", "why: Something else."
    )
    slope = re.sub(r"feedback: [^}\n]*", "feedback: Another line.", slope)
    offset = QUIZ[OFFSET].replace("accept: [offset", "accept: [zero height").replace('output: "[7]"', 'output: "[8]"')
    offset = offset.replace("model: A line has two numbers, and two points give both.", "model: Another model.")
    assert slope.count("Another line.") == 11 and "Another model." in offset
    assert pages(tmp_path, **{SLOPE: slope, OFFSET: offset}) == graded


def test_a_graded_page_holds_no_key_and_nothing_that_marks(bank, graded):
    assert Search(bank).leaks(graded) == []
    assert "judged" not in graded and "<template" not in graded
    fields = {"id", "type", "version", "counted", "optional", "letters", "numbers", "draws"}
    assert all(set(item) <= fields for item in data_of(graded)["items"])


def test_a_practice_page_says_that_it_holds_the_keys(tmp_path, bank):
    html = pages(tmp_path, practice=True)
    assert "The keys are in this page; it counts nothing." in html
    assert len(Search(bank).leaks(html)) > 20


@pytest.mark.parametrize("assignment", ["week08", "names_lab"])
def test_the_graded_pages_of_this_course_hold_no_key(assignment):
    course = load_course(ROOT)
    bank = load_bank(CourseFiles(ROOT), course, assignment)
    html = page(bank, course)
    assert Search(bank).leaks(html) == []
    assert not any("style" in attributes for _, attributes in Elements(html).found)
    if assignment == "week08":
        headings = re.findall(r"<h([23])[^>]*>(?:<span class=\"label\">(.*?)</span>)?(.*?)</h", html)
        order = [label or title for _, label, title in headings]
        assert order[:3] == ["Introduction", "§0", "Unit 1: Add position information"] and order[-1] == "§19"
        assert [label for _, label, _ in headings if label] == [f"§{i}" for i in range(20)]
        assert [label for _, label, title in headings if "optional" in title] == ["§15"]
        assert data_of(html)["course"] == 321


PLANTED = {
    "an explanation": "A slope multiplies.",
    "feedback in HTML": "Is the <em>slope</em> an &#97;mount?",
    "feedback in JSON": json.dumps("Twice the slope makes twice the height.").replace("t", "\\u0074"),
    "feedback from back to front": "Is there a largest value?"[::-1],
    "feedback in base64": base64.b64encode(b"What must be known before the ruler lies?").decode(),
    "base64 from back to front": base64.b64encode(b'{"s": "Two points fix the line."}').decode()[::-1],
    "a misconception": '"adds_instead"',
    "an accepted text": "the intercept at zero",
    "a model answer": "A line has two numbers, and two points give both.",
    "letters beside an id": '{"s1_what_it_does": "LETTER"}',
    "the order of steps": '["choose two points", "lay the ruler", "draw the line"]',
    "pairs": "factor: turns the line; amount: lifts the line; input: chooses a place",
    "a field": '{"tolerance": 0}',
    "an option with its key": '{"text": "doubling", "key": true}',
    "a hash of a text": hashlib.sha256(b"offset").hexdigest(),
    "a hash with the id as its salt": hashlib.md5(b"s2_name:offset").hexdigest()[:16],
}


@pytest.mark.parametrize("what", PLANTED)
def test_the_search_finds(what, bank, graded):
    texts = [option["text"] for option in _public(bank, "s1_what_it_does")["options"]]
    letter = "abc"[texts.index("It stretches x by a factor")]
    found = Search(bank).leaks(graded.replace("</main>", f"<p>{PLANTED[what].replace('LETTER', letter)}</p></main>"))
    assert found, f"{PLANTED[what]} was not found"


def _public(bank: Bank, item: str) -> dict[str, object]:
    from autograder.quiz.public import public_item

    return public_item(bank, bank.by_id[item])


def test_the_policy_allows_one_script_and_one_style_and_no_request(graded):
    elements = Elements(graded)
    policy = next(a["content"] for tag, a in elements.found if a.get("http-equiv") == "Content-Security-Policy")
    digests = {
        kind: base64.b64encode(hashlib.sha256(inside[-1].encode()).digest()).decode()
        for kind, inside in elements.inside.items()
    }
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'" and rules["require-trusted-types-for"] == "'script'"
    assert (
        rules["script-src"] == f"'sha256-{digests['script']}'" and rules["style-src"] == f"'sha256-{digests['style']}'"
    )
    assert len(elements.inside["style"]) == 1 and len(elements.inside["script"]) == 2  # the other one is data
    for tag, attributes in elements.found:
        assert not {"src", "style", "srcset", "action", "poster"} & set(attributes), tag
        assert not any(name.startswith("on") for name in attributes), tag
        assert (attributes.get("href") or "#").startswith(("#", "data:,")), tag


@pytest.mark.parametrize("practice", [False, True])
def test_texts_of_authors_stay_texts(tmp_path, practice):
    slope, offset = QUIZ[SLOPE], QUIZ[OFFSET]
    for text in (
        "What happens at zero then?",
        "A slope multiplies.",
        "What does a slope do to x?",
        "It moves x by an amount",
        "draw the line",
    ):
        slope = slope.replace(text, json.dumps(HOSTILE))
    for text in ("intercept at zero", "lifts the line", "print([3 * 2 + 1])", "names both numbers of a line"):
        offset = offset.replace(text, json.dumps(HOSTILE))
    html = pages(tmp_path, practice, **{SLOPE: slope, OFFSET: offset})
    elements = Elements(html)
    tags = [tag for tag, _ in elements.found]
    assert tags.count("script") == 2 and not {"img", "iframe", "object", "embed"} & set(tags)
    assert html.count("&lt;img src=x onerror=x()&gt;") >= 6
    assert not any("example.org" in str(attributes) for _, attributes in elements.found)


def test_a_drawn_question_is_there_once_with_its_parameters_by_name(graded):
    item = next(item for item in data_of(graded)["items"] if item["id"] == "s1_drawn")
    assert len(item["draws"]) == 9 and set(item["draws"][0]) == {"a", "b"}
    assert "What does the slope ⟦a⟧ make of ⟦b⟧?" in graded


def test_formulas_are_drawn_by_the_browser_itself(tmp_path):
    slope = QUIZ[SLOPE].replace(
        "What does the slope {a} make of {b}?", r"'Let $y = \frac{{{a}}}{{{b}}} x_0$. What is {a} × {b}?'"
    )
    html = pages(tmp_path, **{SLOPE: slope})
    assert (
        "<mfrac><mrow><mn>⟦a⟧</mn></mrow><mrow><mn>⟦b⟧</mn></mrow></mfrac>" in html
        and "$" not in html.partition("<style>")[0]
    )


@pytest.mark.parametrize(
    ("formula", "told"),
    [
        (r"\left(x", "cannot be read"),
        (r"\slopeof x", "not known"),
        (r"\href{javascript:x}{x}", "sets href"),
        ("a & b", "cannot be read"),
    ],
)
def test_a_formula_that_cannot_be_shown_is_named(tmp_path, formula, told):
    slope = QUIZ[SLOPE].replace("prompt: What does a slope do to x?", f"prompt: 'What is ${formula}$?'")
    with pytest.raises(QuizError, match=told):
        pages(tmp_path, **{SLOPE: slope})


@pytest.mark.parametrize("draw", ["heatmap", "bars", "line"])
def test_a_picture_has_a_table_that_says_the_same(tmp_path, draw):
    values = "\"[trace('slope.doubled.inputs.x'), trace('slope.doubled.twice')]\""
    head = PICTURE.replace("DRAW", draw).replace("VALUES", values)
    bank = quiz_bank(tmp_path, **{SLOPE: QUIZ[SLOPE].replace("course: Week 1 §1\n", head)})
    found = drawn(bank, bank.groups[0].pictures[0])
    assert found.rows == [("x", ["1.50", "−2.25"]), ("2x", ["3", "−4.50"])] and found.columns == ["here", "there"]
    assert "here" in found.svg and "style=" not in found.svg and "nan" not in found.svg
    assert all(re.fullmatch(r"-?\d+", n) for n in re.findall(r' (?:x|y|x1|y1|width|height)="(.*?)"', found.svg))


def test_a_picture_whose_labels_do_not_fit_is_refused(tmp_path):
    head = PICTURE.replace("DRAW", "bars").replace("VALUES", '"[[1, 2, 3], [1, 2, 3]]"')
    with pytest.raises(QuizError, match="labels for another number"):
        pages(tmp_path, **{SLOPE: QUIZ[SLOPE].replace("course: Week 1 §1\n", head)})


def test_a_section_is_done_by_its_counted_questions_that_are_not_optional(tmp_path):
    offset = QUIZ[OFFSET].replace("id: s2_shape\n", "id: s2_shape\n    optional: true\n")
    sections = data_of(pages(tmp_path, **{OFFSET: offset}))["sections"]
    assert [len(s["items"]) for s in sections] == [5, 4]
    assert [s["required"] for s in sections][1] == ["s2_name", "s2_match", "s2_prints"]


def test_the_command_writes_the_page_and_says_what_it_holds(tmp_path):
    quiz_files(tmp_path)
    done = ask("quiz", "page", "lines", "--mode", "practice", cwd=tmp_path)
    assert done.returncode == 0 and "holds the keys" in done.stdout
    assert "Practice." in (tmp_path / "lines_practice.html").read_text("utf-8")
    done = ask("quiz", "page", "lines", "--out", "no/such/folder.html", cwd=tmp_path)
    assert done.returncode == 2 and "cannot be written" in done.stderr
