"""Answers files: whatever is handed in, one sentence for it, the class goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from quiz_course import OFFSET, QUIZ, RIGHT, SLOPE, draw_of, hand_in, quiz_files

from autograder.grading.receipt import Receipt
from autograder.quiz.answers import read_answers
from autograder.quiz.answers_file import written
from autograder.quiz.bank import load_bank
from autograder.quiz.collect import find_answers
from autograder.quiz.public import public_item
from autograder.quiz.receipts import Marker, title


def answers(body: str) -> bytes:
    return f'{{"answers": {body}}}'.encode()


HOSTILE: dict[str, tuple[bytes, str]] = {
    "10 MB": (answers('"' + "x" * 10_000_000 + '"'), "larger than 500"),
    "nested JSON": (answers("[" * 100_000), "nested too deeply"),
    "nested JSON that ends": (answers('{"a": ' + "[" * 400 + "]" * 400 + "}"), "nested too deeply"),
    "nested YAML": (b"answers: " + b"[" * 90_000, "nesting depth"),
    "nested YAML blocks": (b"- " * 49_000, "nesting depth"),
    "YAML one level below the other": ("\n".join(" " * i + "a:" for i in range(400)).encode(), "nested too deeply"),
    "not a mapping": (b"[1, 2]", "no answers file"),
    "no answers": (b'{"student": "x"}', "no answers file"),
    "answers are a list": (answers("[]"), "`answers` must be a mapping"),
    "answers are text": (answers('"a"'), "`answers` must be a mapping"),
    "answers are null": (answers("null"), "`answers` must be a mapping"),
    "versions are text": (b'{"answers": {}, "versions": "1"}', "`versions` must be a mapping"),
    "student is a number": (b'{"answers": {}, "student": 7}', "`student` must be text"),
    "student is long": (b'{"answers": {}, "student": "' + b"x" * 201 + b'"}', "at most 200"),
    "student steers a terminal": (b'{"answers": {}, "student": "\\u001b[2J"}', "all of them visible"),
    "student is half a character": (b'{"answers": {}, "student": "\\ud800"}', "all of them visible"),
    "unknown field": (b'{"answers": {}, "score": 100}', "`score` is not a field"),
    "field that steers a terminal": (b'{"answers": {}, "\\u001b[2J\\n": 1}', "is not a field"),
    "another assignment": (b'{"answers": {}, "assignment": "week09"}', "the quiz of week09, not of lines"),
    "another format": (b'{"answers": {}, "format": "autograder-answers-9"}', "this kit reads autograder-answers-1"),
    "NaN": (answers('{"s1_twice": NaN}'), "NaN is not a number"),
    "Infinity": (answers('{"s1_twice": -Infinity}'), "-Infinity is not a number"),
    "10,000 digits": (answers('{"s1_twice": ' + "9" * 10_000 + "}"), "too many digits"),
    "10,000 digits in YAML": (b"answers: {s1_twice: " + b"9" * 10_000 + b"}", "cannot be read as a number"),
    "the same question twice": (answers('{"s1_twice": 1, "s1_twice": 3}'), "`s1_twice` is answered twice"),
    "twice in YAML": (b"answers:\n  s1_twice: 1\n  s1_twice: 3\n", "given twice, in lines 2 and 3"),
    "twice among many": (answers("{" + ", ".join(f'"k{i}": 1' for i in range(30_000)) + ', "z": 1, "z": 2}'), "`z` is answered"),
    "a YAML tag": (b"answers: !!python/object/apply:os.system ['echo']\n", "the tag"),
    "a YAML anchor": (b"answers: {s1_twice: &a 3, s2_shape: *a}", "anchors and aliases"),
    "a YAML bomb": (b"a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nanswers: {x: [*c,*c]}", "anchors and aliases"),
    "a YAML alias of itself": (b"answers: &a {x: *a}", "anchors and aliases"),
    "YAML keys that are numbers": (b"answers: {1: a}", "must be text; put it in quotes"),
    "YAML as long as JSON may be": (b"answers:\n" + b"  k: 1\n" * 20_000, "larger than 100 kB"),
    "UTF-16": ('{"answers": {}}'.encode("utf-16"), "not UTF-8"),
    "UTF-16 without a mark": ('{"answers": {}}'.encode("utf-16-le"), "not valid JSON"),
    "Latin-1": ('{"answers": {"x": "é"}}'.encode("latin-1"), "not UTF-8"),
    "control character": (answers('{"x": "\x07"}'), "not valid JSON"),
    "half a file": (b'{"answers": {"s1_twice": "3', "line 1: not valid JSON"),
    "nothing": (b"", "there is nothing in it"),
    "bytes": (bytes(range(256)), "not UTF-8"),
}  # fmt: skip


@pytest.fixture
def course(tmp_path: Path) -> Path:
    quiz_files(tmp_path / "course")
    return tmp_path / "course"


@pytest.fixture
def receipt(course: Path, tmp_path: Path) -> Callable[..., Receipt]:
    files_course = quiz_files(course)
    marker = Marker(load_bank(*files_course, "lines"), files_course[1])

    def of(given: object, **more: Any) -> Receipt:
        hand_in(tmp_path / "class", "mira", given, **more)
        (found,) = find_answers([tmp_path / "class"], "lines")
        return marker.receipt(found)

    return of


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_gets_one_sentence(name: str, tmp_path: Path) -> None:
    data, sentence = HOSTILE[name]
    (tmp_path / "mira").mkdir()
    (tmp_path / "mira" / "quiz_answers.json").write_bytes(data)
    (found,) = find_answers([tmp_path], "lines")
    assert found.answers is None
    assert sentence in found.problem
    assert len(found.problem) < 400
    assert found.problem.isprintable()


def test_a_byte_order_mark_and_yaml_are_fine() -> None:
    assert read_answers(b'\xef\xbb\xbf{"answers": {"x": "1"}}', "a.json", "lines").answers == {"x": "1"}
    assert read_answers(b"answers:\n  x: 1,5\n  y: [a, c]\n  z: {\"1\": c}\n", "a.yml", "lines").answers == {
        "x": "1,5", "y": ["a", "c"], "z": {"1": "c"},
    }  # fmt: skip


def test_what_is_written_can_be_read_again() -> None:
    given = {"x": 'a "quoted" \x1b', "y": ["a"], "z": {"1": "c"}}
    found = read_answers(written("lines", "mira", given, {"x": "1f"}).encode(), "a.json", "lines")
    assert (found.student, found.answers, found.versions) == ("mira", given, {"x": "1f"})


@pytest.mark.parametrize(
    "typed",
    [True, 1e308, -1e308, 10**400, "x" * 5000, "\x1b[31m3", "\ud800", ["a"] * 999, [["a"]], {"a": ["c"]}, [None], {"": ""},
     "<script>alert(1)</script>", "${7*7}", "__proto__", 0, False],
)  # fmt: skip
def test_an_answer_of_any_kind_is_failed_or_asked_back_and_kept(receipt: Callable[..., Receipt], typed: object) -> None:
    ids = [line.split()[2] for file in (SLOPE, OFFSET) for line in QUIZ[file].splitlines() if "- id:" in line]
    found = receipt(dict.fromkeys(ids, typed))
    assert {check.outcome for check in found.checks} <= {"failed", "please rewrite"}
    assert found.earned == 0
    assert all(check.message.isprintable() for check in found.checks)
    assert found.output["s1_twice"] == (typed if isinstance(typed, str) else json.dumps(typed))[:2000]
    assert Receipt.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_unknown_questions_are_named_a_few_at_a_time(receipt: Callable[..., Receipt]) -> None:
    strange = {"__proto__": 1, "constructor": 2, "a\nb\x1b[2J": 3, "": 4, **{f"k{i}": i for i in range(5000)}}
    found = receipt({**RIGHT, **strange})
    assert found.earned == 4
    assert len(found.notes) == 21
    assert found.notes[0] == "__proto__ is not a question of this quiz; its answer was not marked"
    assert found.notes[-1] == "and 4984 more answers to unknown questions"
    assert all(note.isprintable() for note in found.notes)
    assert found.attention()


def test_an_answer_to_another_version_is_asked_again(receipt: Callable[..., Receipt], course: Path) -> None:
    bank = load_bank(*quiz_files(course), "lines")
    versions = {item.id: public_item(bank, item)["version"] for item in bank.items}
    assert receipt(RIGHT, versions=versions).earned == 4
    for other in ("00000000", 7, None, ["x"], {"a": 1}, True):
        found = receipt(RIGHT, versions={**versions, "s1_twice": other})
        outcome = {check.id: check.outcome for check in found.checks}["s1_twice"]
        assert outcome == ("passed" if other is None else "please rewrite")


def test_a_file_that_was_drawn_for_another_is_marked_by_that_draw_and_pointed_out(
    receipt: Callable[..., Receipt],
) -> None:
    found = receipt(RIGHT, student="noor")
    assert found.notes == ("the questions were drawn for noor, the file was handed in by mira",)
    assert found.attention()
    assert not receipt(RIGHT, student="mira").attention()


def test_points_are_exact_and_the_titles_are_those_that_the_student_saw(
    receipt: Callable[..., Receipt], course: Path
) -> None:
    found = receipt(RIGHT)
    assert (found.earned, found.possible) == (Fraction(4), Fraction(9))
    drawn = {check.id: check.title for check in found.checks}["s1_drawn"]
    bank = load_bank(*quiz_files(course), "lines")
    a, b = draw_of(bank, "s1_drawn", "mira").parameters.values()
    assert drawn == f"What does the slope {a} make of {b}?"


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        ("word " * 19 + "\n\nword", "word " * 19 + "word"),
        ("word " * 18 + "shape of x", "word " * 18 + "shape of x"),
        ("word " * 18 + "shape of xx", "word " * 18 + "shape ..."),
        ("word " * 18 + "feed-forward", "word " * 18 + "..."),
        ("x" * 101, "x" * 97 + "..."),
    ],
)
def test_a_title_is_cut_between_words_and_says_that_it_is(course: Path, prompt: str, shown: str) -> None:
    bank = load_bank(*quiz_files(course), "lines")
    assert title(bank, bank.by_id["s2_name"].model_copy(update={"prompt": prompt}), "mira") == shown
