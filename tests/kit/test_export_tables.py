"""Gradebook files of Canvas and Moodle and the plain table: nothing lost, nothing run, nothing else touched (B28, B31, B35)."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standings import ODD_NAMES, odd_class, receipt, standing_of

from autograder.exports.canvas import fill, new, read_scores
from autograder.exports.moodle import moodle, read_moodle
from autograder.exports.standing import Exported, number
from autograder.exports.table import read_table, table
from autograder.grading import GradingError
from autograder.grading.cells import harmless, restored
from autograder.grading.receipt import GRADER_TROUBLE, CheckResult
from autograder.grading.store import Adjustment
from autograder.intake import Roster

BOOK = '''\
Student,ID,SIS User ID,SIS Login ID,Section,Week 1: Lines (4711),"Quiz, 2 (12)",Final Score
,,,,,Manual Posting,,
    Points Possible,,,,,10,5,(read only)
"Łukasz, ""Q""",901,0u1,s01,"A, B",,4,80
=1+1,902,u2,s02,A,EX,,
Ana,903,u3, 007 ,A,3.5,2,
"Student, Test",999,,s03,A,1,,
'''


def only(exported: Exported) -> bytes:
    ((_, content),) = exported.files.items()
    return content


def rows(content: bytes, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), delimiter=delimiter, strict=True))


# -- cells


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@A1", "\t=1", "\r=1", "a;=1+1", "a\n=1", "'=1", "\uff1d1", "''=1"]
)
def test_no_cell_begins_a_formula_wherever_a_spreadsheet_cuts(text: str) -> None:
    cells = harmless(text).replace(";", "\n").replace("\t", "\n").replace("\r", "\n").split("\n")
    assert not any(cell.startswith(("=", "+", "-", "@", "\uff1d")) for cell in cells)
    assert restored(harmless(text)) == text


@pytest.mark.parametrize("text", ["Ana", "o'neil", "'tis", "a=b", "x;y", "5-3", "", "Zoë-学"])
def test_harmless_text_stays_as_it_is(text: str) -> None:
    assert harmless(text) == text


@given(st.text(alphabet="=+-@'; \t\r\na学"))
def test_any_text_comes_back(text: str) -> None:
    assert restored(harmless(text)) == text


# -- numbers (B28, B35)


@pytest.mark.parametrize(
    ("points", "text"),
    [
        (Fraction("0.2") * 3, "0.6"),
        (Fraction("0.1") * 7, "0.7"),
        (Fraction(1, 3) * 3, "1"),
        (Fraction(10), "10"),
        (Fraction(0), "0"),
        (Fraction("12.5") * 7, "87.5"),
        (Fraction(20, 3), "6.67"),
        (Fraction(1, 10**9), "0"),
        (Fraction(10**7), "10000000"),
    ],
)
def test_numbers_have_two_decimals_a_point_and_no_exponent(points: Fraction, text: str) -> None:
    assert number(points) == text


# -- the plain table


def test_the_table_reads_back_equal_and_holds_no_formula(tmp_path: Path) -> None:
    content = only(table(odd_class(tmp_path)))
    assert content.startswith(b"\xef\xbb\xbf")
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows(content) for cell in row)
    read = {row["student"]: row for row in read_table(content)}
    assert {student: row["name"] for student, row in read.items()} == ODD_NAMES
    assert [read[id]["slope"] for id in ODD_NAMES] == ["6", "5.7", "2.6", "5.67", "2.1"]
    assert all((row["line"], row["possible"], row["status"]) == ("0", "10", "graded") for row in read.values())


def test_points_by_hand_stand_in_every_form_with_their_reason_in_the_table(tmp_path: Path) -> None:
    by_hand = {"s01": Adjustment("line", Fraction("3.5"), "oral; exam\nagain", "=kim", "now")}
    found = standing_of(tmp_path, receipt("s01", line="0"), by_hand=by_hand)
    (row,) = read_table(only(table(found)))
    assert (row["line"], row["raw"], row["final"]) == ("3.5", "9.5", "9.5")
    assert row["by_hand"] == "line: oral; exam\nagain (=kim)"
    assert read_moodle(only(moodle(found)))[0]["Week 1: Lines"] == "9.5"
    roster = Roster({"s01": None}, {"s01": {"id": "901"}})
    assert read_scores(only(new(found, roster)), by="ID")["901"]["Week 1: Lines"] == "9.5"


def test_who_has_only_trouble_of_the_grader_is_left_out_and_named(tmp_path: Path) -> None:
    good = receipt("s01")
    bad = receipt("s02", checks=tuple([*good.checks[:2], _troubled(good.checks[2])]))
    found = standing_of(tmp_path, good, bad)
    roster = Roster({"s01": None, "s02": None}, {"s01": {"id": "1"}, "s02": {"id": "2"}})
    for exported in (table(found), moodle(found), new(found, roster), fill(found, "book.csv", BOOK.encode())):
        assert any("s02" in sentence and "grade again" in sentence for sentence in exported.left_out)
    assert [row["student"] for row in read_table(only(table(found)))] == ["s01"]


def _troubled(check: CheckResult) -> CheckResult:
    return replace(check, outcome=GRADER_TROUBLE)


# -- Canvas: the instructor's own file


def test_only_our_column_of_canvas_file_changes(tmp_path: Path) -> None:
    found = standing_of(tmp_path, receipt("s01", "5.7"), receipt("s02"), receipt("007", "17/3", "0"), receipt("s03"))
    filled = fill(found, "book.csv", BOOK.encode())
    wanted = BOOK.replace('"A, B",,4', '"A, B",9.7,4').replace("A,3.5,2", "A,5.67,2")
    assert only(filled).decode() == wanted
    assert filled.left_out == ("s03 is not in book.csv",)  # there it is the test student that Canvas makes
    assert any("excused in Canvas, and left so: 1" in remark for remark in filled.remarks)


@pytest.mark.parametrize(
    "odd",
    [
        BOOK.replace("\n", "\r\n"),
        "\ufeff" + BOOK,
        BOOK.rstrip("\n"),
        BOOK + "\n\n",
        BOOK.replace(",,4,80", ',"",4,80'),
        BOOK.replace('"A, B"', '"A\nB"'),
        "\n".join(BOOK.splitlines()[:1] + BOOK.splitlines()[2:]) + "\n",
    ],
)
def test_a_gradebook_keeps_line_ends_marks_quotes_and_blank_rows(tmp_path: Path, odd: str) -> None:
    found = standing_of(tmp_path, receipt("s01", "5.5"))
    content = only(fill(found, "book.csv", odd.encode()))
    assert read_scores(content)["s01"]["Week 1: Lines (4711)"] == "9.5"
    assert content.decode() == odd.replace(',"",4,80', ',"9.5",4,80').replace(",,4,80", ",9.5,4,80")


def test_a_gradebook_of_a_semicolon_country_is_filled_with_decimal_points(tmp_path: Path) -> None:
    book = "Student;ID;SIS User ID;SIS Login ID;Section;Week 1: Lines (4)\n    Points Possible;;;;;10,00\nA;1;u;s01;A;3,5\n"
    content = only(fill(standing_of(tmp_path, receipt("s01", "5.5")), "book.csv", book.encode()))
    assert content.decode() == book.replace("3,5", "9.5")


def test_ids_of_two_kinds_are_never_mixed(tmp_path: Path) -> None:
    book = BOOK.replace("901,0u1,s01", "901,s02,s01").replace("902,u2,s02", "902,s01,s02")
    found = standing_of(tmp_path, receipt("s01", "5.5"))
    with pytest.raises(GradingError, match="for different people; say which: --by"):
        fill(found, "book.csv", book.encode())
    content = only(fill(found, "book.csv", book.encode(), by="SIS Login ID"))
    assert read_scores(content)["s01"]["Week 1: Lines (4711)"] == "9.5"


def test_zeros_that_a_spreadsheet_took_away_are_explained(tmp_path: Path) -> None:
    found = standing_of(tmp_path, receipt("s01"), receipt("0902"))
    (sentence,) = fill(found, "book.csv", BOOK.encode()).left_out
    assert sentence.startswith("0902 is not in book.csv, but 902 is: it was saved in a spreadsheet")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("Week 1: Lines (4711)", "Week 2 (1)"), 'no column "Week 1: Lines" or "lines".*It has: "Week 2 \\(1\\)"'),
        (('"Quiz, 2 (12)"', "lines (12)"), "has 2 columns called"),
        (("Points Possible,,,,,10", "Points Possible,,,,,100"), "counts 100 points.*the course counts 10"),
        (("Student,ID", "Name,Number"), "is no gradebook of Canvas"),
        (("s01", "t01"), "none of our students is in book.csv"),
        ((",902,u2,s02", ",902,u2,s01"), "has 2 rows with the SIS Login ID s01"),
        (('""Q""",', '""Q"",'), "never ends|cannot be filled in"),
    ],
)
def test_a_gradebook_that_is_not_understood_is_one_sentence(
    tmp_path: Path, change: tuple[str, str], sentence: str
) -> None:
    assert change[0] in BOOK
    with pytest.raises(GradingError, match=sentence):
        fill(standing_of(tmp_path, receipt("s01")), "book.csv", BOOK.replace(*change).encode())


def test_bytes_that_are_not_utf8_are_named_with_their_line(tmp_path: Path) -> None:
    with pytest.raises(GradingError, match=r"book\.csv line 4 is not UTF-8"):
        fill(
            standing_of(tmp_path, receipt("s01")),
            "book.csv",
            BOOK.encode("cp1252", "replace").replace(b"?ukasz", b"\xe9"),
        )


# -- Canvas: a new file


def test_a_new_gradebook_has_canvas_ids_and_harmless_names(tmp_path: Path) -> None:
    details = {id: {"id": f"9{i}", "sis_user_id": f"00{i}"} for i, id in enumerate(ODD_NAMES)}
    exported = new(odd_class(tmp_path), Roster(ODD_NAMES, details))
    read = rows(only(exported))
    assert read[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Week 1: Lines"]
    assert read[1] == ["    Points Possible", "", "", "", "", "10"]
    assert {row[1]: row[5] for row in read[2:]} == {"90": "6", "91": "5.7", "92": "2.6", "93": "5.67", "94": "2.1"}
    assert {row[2] for row in read[2:]} == {"000", "001", "002", "003", "004"}
    assert {restored(row[0]) for row in read[2:]} == set(ODD_NAMES.values())
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in read for cell in row)
    assert exported.left_out == ()


def test_a_new_gradebook_needs_ids_that_canvas_knows(tmp_path: Path) -> None:
    found = standing_of(tmp_path, receipt("s01"), receipt("s02"), receipt("s03"))
    with pytest.raises(GradingError, match="add a column id, sis_user_id or sis_login_id"):
        new(found, Roster({"s01": None}, {"s01": {"section": "A"}}))
    details = {"s01": {"id": "901"}, "s02": {"id": "=1+1"}}
    exported = new(found, Roster({"s01": None, "s02": None, "s03": None}, details))
    assert [row[1] for row in rows(only(exported))[2:]] == ["901"]
    assert [sentence.split()[0] for sentence in exported.left_out] == ["s02", "s03"]


# -- Moodle


def test_moodle_finds_people_by_ids_that_stand_as_they_are(tmp_path: Path) -> None:
    roster = Roster(ODD_NAMES, {"s01": {"email": "l@uni.example", "id_number": "M-1"}})
    exported = moodle(odd_class(tmp_path), roster)
    read = {row["ID number"]: row for row in read_moodle(only(exported))}
    assert read.keys() == {"M-1", "s02", "007", "+4", "a b"}
    assert read["M-1"]["Email address"] == "l@uni.example"
    assert {restored(row["Full name"]) for row in read.values()} == set(ODD_NAMES.values())
    assert not any(row["Full name"].startswith(("=", "+", "-", "@")) for row in read.values())
    assert [read[id]["Week 1: Lines"] for id in ("M-1", "s02", "007", "+4", "a b")] == [
        "6",
        "5.7",
        "2.6",
        "5.67",
        "2.1",
    ]
    assert not only(exported).startswith(b"\xef\xbb\xbf")


def test_an_id_that_a_spreadsheet_would_run_is_left_out_of_moodles_file_and_named(tmp_path: Path) -> None:
    found = standing_of(tmp_path, receipt("s01"), receipt("=cmd|' C'!A0"))
    exported = moodle(found)
    assert [row["ID number"] for row in read_moodle(only(exported))] == ["s01"]
    assert exported.left_out[0].startswith("=cmd|' C'!A0:")
