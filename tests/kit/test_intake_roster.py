"""A roster names every student exactly once, or says in which line it does not."""

from pathlib import Path

import pytest

from autograder.intake import IntakeError, id_problem, read_roster


def roster(tmp_path: Path, content: bytes | str) -> dict[str, str | None]:
    path = tmp_path / "roster.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return dict(read_roster(path).students)


@pytest.mark.parametrize(
    "content",
    [
        "student_id,name\ns01,Ana\ns02,Bo\n",
        b"\xef\xbb\xbfstudent_id,name\r\ns01,Ana\r\ns02,Bo\r\n",
        "Student ID;Name\r\ns01;Ana\r\ns02;Bo",
        "STUDENT-ID\tgroup\tname\ns01\tx\tAna\ns02\ty\tBo\n",
        "name,student_id\rAna,s01\rBo,s02\r",
        'e-mail,name,student_id\n"a,b",Ana, s01 \n\n,,\n,Bo,"s02"\n',
    ],
)
def test_rosters_from_any_spreadsheet_are_read(tmp_path: Path, content: bytes | str) -> None:
    assert roster(tmp_path, content) == {"s01": "Ana", "s02": "Bo"}


@pytest.mark.parametrize(
    "student", ["ana [lab 2]", "b+c", "o'neil (x)", "Zoë-学", "007", "-rf", "a b", "=1+1", "a" * 120]
)
def test_ids_are_kept_exactly(tmp_path: Path, student: str) -> None:
    assert list(roster(tmp_path, f"student_id,name\n{student},x\n")) == [student]


def test_names_are_optional_and_printable(tmp_path: Path) -> None:
    assert roster(tmp_path, "student_id\ns01\n") == {"s01": None}
    assert roster(tmp_path, 'student_id,name\ns01,\ns02,"A\nB\x07"\ns03\n') == {
        "s01": None,
        "s02": "A B\ufffd",
        "s03": None,
    }


@pytest.mark.parametrize(
    ("student", "reason"),
    [
        (
            "DOM\\user7",
            "contains a slash or a backslash; an id has 1 to 120 characters; all are allowed except / and \\",
        ),
        ("../bob", "contains a slash"),
        ("", "is empty"),
        ("   ", "is empty"),
        ("a" * 121, "longer than 120"),
        ('"a\nb"', "line break or an invisible character"),
        ("a\x1bb", "invisible"),
        ("a\u202eb", "invisible"),
        ("a\ufeffb", "invisible"),
        (".", "skipped"),
        ("..", "skipped"),
        (".hidden", "skipped"),
        ("__MACOSX", "skipped"),
        ("s01", "is already in line 2"),
        ("Zoe\u0308", "is already in line 3"),
    ],
)
def test_ids_that_could_get_lost_are_refused_with_their_line(tmp_path: Path, student: str, reason: str) -> None:
    with pytest.raises(IntakeError) as caught:
        roster(tmp_path, f"student_id,name\ns01,Ana\nZoë,Zoë\n{student},x\n")
    assert "roster.csv line " in str(caught.value)
    assert reason in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "needs exactly one column student_id; its columns are: none"),
        (b"id,name\ns01,Ana\n", "its columns are: id, name"),
        (b"student_id,student_id\na,b\n", "exactly one column"),
        (b"student_id,name\n", "names no student"),
        (b"student_id,name\ns01,Ren\xe9\n", "line 2 is not UTF-8 (byte 0xe9)"),
        ("student_id\ns01\n".encode("utf-16"), "is not UTF-8"),
        (b'student_id,name\n"s01,Ana\n', "is not valid CSV"),
        (b"student_id\ns01\n" + b"x" * 200_000, "line 3 is not valid CSV"),
    ],
)
def test_a_file_that_is_no_roster_is_one_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    with pytest.raises(IntakeError) as caught:
        roster(tmp_path, content)
    assert sentence in str(caught.value)


def test_a_roster_that_cannot_be_opened_is_one_sentence(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere.csv"):
        with pytest.raises(IntakeError, match="could not be read"):
            read_roster(path)


def test_ids_differ_by_case(tmp_path: Path) -> None:
    assert list(roster(tmp_path, "student_id\ns01\nS01\n")) == ["s01", "S01"]


def test_an_id_that_is_fine_has_no_problem() -> None:
    assert id_problem("s01") is None
    assert id_problem("a\ud800") is not None
