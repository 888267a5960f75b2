"""Exports of a small bank: what stands in them, what they refuse, and what a second import makes of them.

The golden files show each format at a glance. After a wanted change, WRITE_GOLDEN=1 writes them anew.
"""

from __future__ import annotations

import difflib
import html
import io
import json
import os
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from command_line import ask
from quiz_course import draw_of
from quiz_formats import (
    anki_notes,
    canvas_items,
    canvas_quizzes,
    faults_of_anki,
    faults_of_canvas,
    faults_of_html,
    faults_of_moodle,
    moodle_questions,
)
from small_course import small_course

from autograder.course import load_course
from autograder.quiz.bank import Bank, load_bank
from autograder.quiz.errors import QuizError
from autograder.quiz.exports.anki import anki
from autograder.quiz.exports.canvas import canvas
from autograder.quiz.exports.dates import Dated, read_dates, write_dates
from autograder.quiz.exports.moodle import moodle, nearest
from autograder.quiz.exports.notes import Export, sentences
from autograder.quiz.exports.sheet import sheet

GOLDEN = Path(__file__).with_name("golden")
QUIZ = (GOLDEN / "quiz.yml").read_text("utf-8")


def bank_of(folder: Path, quiz: str = QUIZ) -> Bank:
    """The small course with this quiz, loaded."""
    names = {"solutions/lines/quiz/01_slope.yml": quiz, "reference/misconceptions.yml": "- {id: adds, name: It adds}\n"}
    files, _ = small_course(folder, **names)
    return load_bank(files, load_course(folder), "lines")


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Bank:
    return bank_of(tmp_path_factory.mktemp("course"))


def only(export: Export) -> bytes:
    (data,) = export.files.values()
    return data


def plain(page: str) -> str:
    """The words of a page, or of Markdown, whatever is marked in them."""
    return " ".join(re.findall(r"\w+", html.unescape(re.sub(r"<[^>]+>", " ", page))))


def is_golden(name: str, text: str) -> None:
    """The text is that of the golden file; the failure shows where it is not."""
    path = GOLDEN / name
    if os.environ.get("WRITE_GOLDEN"):
        path.write_text(text, "utf-8", newline="\n")
    before = path.read_text("utf-8") if path.is_file() else ""
    lines = difflib.unified_diff(before.splitlines(), text.splitlines(), f"golden/{name}", "now", lineterm="", n=2)
    changed = "\n".join(lines)
    assert not changed, f"\n{changed[:4000]}\nIf this is wanted: WRITE_GOLDEN=1 pytest {Path(__file__).name}"


def test_canvas_is_as_it_was(bank: Bank) -> None:
    with zipfile.ZipFile(io.BytesIO(only(canvas(_part(bank))))) as archive:
        text = "".join(f"=== {name}\n{archive.read(name).decode()}" for name in sorted(archive.namelist()))
    is_golden("canvas.txt", re.sub(r"(?m)^ +", "", text))


def test_moodle_is_as_it_was(bank: Bank) -> None:
    is_golden("moodle.xml", only(moodle(_part(bank))).decode())


def _part(bank: Bank) -> Bank:
    """One question of each form."""
    items = tuple(item for item in bank.items if item.id in ("facts", "rise", "star", "sides"))
    return replace(bank, groups=(replace(bank.groups[0], items=items),))


def test_sheet_and_key_are_as_they_were(bank: Bank) -> None:
    for name, data in sheet(bank, "mira").files.items():
        is_golden(name, re.sub(r"<style>.*</style>", "<style></style>", data.decode(), flags=re.DOTALL))


def test_nothing_in_the_formats_is_wrong(bank: Bank, tmp_path: Path) -> None:
    package, _ = anki(bank, "small", {}, 10**9)
    assert list(faults_of_canvas(only(canvas(bank)))) == []
    assert list(faults_of_moodle(only(moodle(bank)))) == []
    assert list(faults_of_anki(only(package), tmp_path)) == []
    for data in sheet(bank).files.values():
        assert faults_of_html(data.decode()) == []


def test_exports_have_the_same_bytes_each_time(bank: Bank) -> None:
    dates = {"rule": Dated("0" * 16, 10**9)}
    assert canvas(bank) == canvas(bank) and canvas(bank).files == canvas(bank).files
    assert moodle(bank).files == moodle(bank).files
    assert anki(bank, "small", dates, 2 * 10**9)[0].files == anki(bank, "small", dates, 2 * 10**9)[0].files


def test_names_in_canvas_do_not_depend_on_other_questions(bank: Bank) -> None:
    group = replace(bank.groups[0], items=bank.groups[0].items[::-1][:-1])
    fewer = replace(bank, groups=(group,))
    before, after = canvas_items(only(canvas(bank))), canvas_items(only(canvas(fewer)))
    assert set(before) - set(after) == {"lines_rule"}
    for ident, item in after.items():
        labels = [label.get("ident") for label in item.iter("response_label")]
        assert labels == [label.get("ident") for label in before[ident].iter("response_label")]


def test_canvas_accepts_nothing_but_keys(bank: Bank) -> None:
    """Its importers take whatever a condition on typed text or a number names for right, even without a score."""
    item = canvas_items(only(canvas(bank)))["lines_star"]
    assert {test.text for test in item.iter("varequal")} == {"**", "x[y[0]]>1"}
    assert {test.get("case") for test in item.iter("varequal")} == {"Yes"}
    rise = canvas_items(only(canvas(bank)))["lines_rise_v2"]
    found = [next(rise.iter(tag)).text for tag in ("varequal", "vargte", "varlte")]
    assert found in (["0.0001", "0.000099", "0.000101"], ["0.00015", "0.000149", "0.000151"])


def test_variants_are_drawn_from_a_group_in_canvas_and_lie_in_a_category_in_moodle(bank: Bank) -> None:
    (quiz,) = canvas_quizzes(only(canvas(bank))).values()
    (group,) = [section for section in quiz.iter("section") if section.get("ident") == "lines_rise"]
    assert group.findtext("selection_ordering/selection/selection_number") == "1"
    assert [item.get("ident") for item in group.findall("item")] == ["lines_rise_v1", "lines_rise_v2"]
    text = only(moodle(bank)).decode()
    place = text.index("Slope//offset & more/rise]]>")
    assert all(text.index(f"<idnumber>rise_v{i}<") > place for i in (1, 2))


def test_moodle_takes_a_star_for_a_star_and_the_end_of_cdata_for_text(bank: Bank) -> None:
    questions = moodle_questions(only(moodle(bank)))
    answers = [answer.findtext("text") for answer in questions["star"].findall("answer")]
    assert answers == [r"\*\*", "x[y[0]]>1", r"\*"]
    assert "a[b[0]]&gt;1" in (questions["rule"].findtext("generalfeedback/text") or "")
    assert r"\(\frac{1}{2}\)" in (questions["rule"].findtext("questiontext/text") or "")


def test_moodle_gets_the_nearest_share_that_it_knows() -> None:
    assert [nearest(Fraction(100, n)) for n in (1, 3, 7)] == ["100", "33.33333", "14.28571"]
    assert nearest(Fraction(37)) == "40"


@pytest.mark.parametrize("write", [canvas, moodle, sheet, lambda bank: anki(bank, "small", {}, 1)])
def test_a_character_that_no_format_carries_is_named(tmp_path: Path, write: Callable[[Bank], Export]) -> None:
    quiz = QUIZ.replace('feedback: "Read from left to right."', 'feedback: "Read \\x1b[1m from left."')
    with pytest.raises(QuizError, match=r"^rule holds the character U\+001B"):
        write(bank_of(tmp_path, quiz))


def test_a_changed_bank_has_another_category_in_moodle(bank: Bank, tmp_path: Path) -> None:
    def version(data: bytes) -> str:
        return re.findall(r"\(([0-9a-f]{8})\)/", data.decode())[0]

    changed = bank_of(tmp_path, QUIZ.replace("Two stars.", "Two of them."))
    assert version(only(moodle(bank))) != version(only(moodle(changed)))


def test_the_sheet_of_questions_holds_no_key(bank: Bank) -> None:
    questions, keys = (plain(data.decode().split("<main>")[1]) for data in sheet(bank).files.values())
    for item in bank.items:
        said = [item.why, getattr(item, "feedback", ""), getattr(item, "model", "")]
        for entries in ("options", "wrong", "confusions", "extra"):
            said += [getattr(entry, "feedback", "") for entry in getattr(item, entries, ())]
        for text in (plain(html.escape(text)) for text in said if len(text) > 1):
            assert text not in questions
            assert text in keys or item.type in ("single", "multiple")
    assert "It adds" not in questions + keys


def test_the_sheet_of_a_student_has_the_numbers_that_are_drawn_for_the_student(bank: Bank) -> None:
    slopes = set()
    for student in ("mira", "ivo", "lea", "noor", "<i>"):
        page = sheet(bank, student).files["lines_sheet.html"].decode()
        slope = draw_of(bank, "rise", student).parameters["m"]
        assert f"a line of slope {slope} rise" in page
        slopes.add(slope)
    assert slopes == {2, 3}
    assert "<i>" not in page and "&lt;i&gt;" in page


def test_cards_are_made_of_what_can_be_asked_without_choices(bank: Bank, tmp_path: Path) -> None:
    package, record = anki(bank, "small", {}, 10**9)
    asked = {fields[0] for _, _, fields in anki_notes(only(package), tmp_path)}
    assert asked == {"card_slope", "size", "star", "steps", "chain", "prints", "essay"} == set(record)
    assert {note.item for note in package.notes} == {"rule", "facts", "rise", "sides"}


def test_a_card_keeps_its_time_until_it_changes(bank: Bank, tmp_path: Path) -> None:
    _, record = anki(bank, "small", {}, 10**9)
    write_dates(tmp_path / "dates.json", record)
    assert read_dates(tmp_path / "dates.json") == record
    changed = bank_of(tmp_path / "course", QUIZ.replace("**rise** & run", "rise over run"))
    _, after = anki(changed, "small", record, 10**9 - 5)
    assert {card for card in after if after[card] != record[card]} == {"card_slope"}
    assert after["card_slope"].changed == 10**9 + 1, "also where a clock is behind"
    (tmp_path / "dates.json").write_text('{"card_slope": 3}')
    with pytest.raises(QuizError, match="cannot be read; restore it"):
        read_dates(tmp_path / "dates.json")


def test_anki_opens_the_decks_and_takes_edited_notes_only(bank: Bank, tmp_path: Path) -> None:
    collection = pytest.importorskip("anki.collection", reason="anki is not installed: pip install 'autograder[dev]'")
    changed = bank_of(tmp_path / "course", QUIZ.replace("**rise** & run", "rise over run"))
    first, record = anki(bank, "small", {}, 10**9)
    second, _ = anki(changed, "small", record, 10**9 + 60)
    col = collection.Collection(str(tmp_path / "collection.anki2"))
    try:
        counts = []
        for export in (first, first, second, second):
            (tmp_path / "deck.apkg").write_bytes(only(export))
            request = collection.ImportAnkiPackageRequest(package_path=str(tmp_path / "deck.apkg"))
            log = col.import_anki_package(request).log
            counts.append((len(log.new), len(log.updated), len(log.duplicate)))
        assert counts == [(7, 0, 0), (0, 0, 7), (0, 1, 6), (0, 0, 7)]
        (edited,) = col.find_notes("Id:card_slope")
        assert col.get_note(edited)["Back"] == "<p>rise over run</p>"
        assert col.get_note(edited)["Front"].startswith("<p>What is <code>if a &lt;b</code> in ")
        assert {deck.name for deck in col.decks.all_names_and_ids()} >= {
            "Week 1: Lines::Cards",
            "Week 1: Lines::Questions",
        }
    finally:
        col.close()


def test_the_command_says_what_is_other_and_whom_a_file_is_for(tmp_path: Path) -> None:
    bank_of(tmp_path)
    ran = ask("quiz", "export", "lines", "--to", "moodle", cwd=tmp_path)
    assert ran.returncode == 0 and (tmp_path / "lines_moodle.xml").is_file()
    assert "lines_moodle.xml holds the keys: it is for instructors, not for students." in ran.stdout
    assert "8 fixed variants" in ran.stdout and "each import adds a copy" in ran.stdout
    ran = ask("quiz", "export", "lines", "--to", "canvas", "--out", "here.zip", "--json", cwd=tmp_path)
    told = json.loads(ran.stdout)
    assert told["files"] == ["here.zip"] and {"item": "facts", "code": "no_part_elsewhere"} in told["notes"]
    ran = ask("quiz", "export", "lines", "--to", "sheet", "--student", "mira", "--out", "paper.html", cwd=tmp_path)
    assert (tmp_path / "paper_key.html").is_file() and "paper_key.html holds the keys" in ran.stdout
    ran = ask("quiz", "export", "lines", "--to", "anki", cwd=tmp_path)
    assert "7 cards are new or changed" in ran.stderr and (tmp_path / "reference/cards/lines.json").is_file()
    assert "new or changed" not in ask("quiz", "export", "lines", "--to", "anki", cwd=tmp_path).stderr


def test_what_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    bank_of(tmp_path)
    ran = ask("quiz", "export", "lines", "--to", "canvas", "--student", "mira", cwd=tmp_path)
    assert ran.returncode == 2 and "--student is for --to sheet" in ran.stderr
    ran = ask("quiz", "export", "lines", "--to", "moodle", "--out", "no/such/folder.xml", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (2, "autograder: no/such/folder.xml: No such file or directory\n")


def test_each_code_is_one_sentence_with_its_number_of_questions(bank: Bank) -> None:
    found = sentences([*canvas(bank).notes, *canvas(bank).notes])
    assert len(found) == len(set(found)) and any(line.startswith("1 x an open question") for line in found)
