"""The command `autograder quiz mark`: who has a row, what is kept, and what is told."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from command_line import Ran, ask
from quiz_course import QUIZ, RIGHT, SLOPE, hand_in, quiz_files

from autograder.grading.store import Store

SECRETS = ("3.0", "offset", "[7]", "It stretches", "Twice the slope", "A slope multiplies", "lay the ruler draw")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    quiz_files(tmp_path / "course")
    return tmp_path / "course"


def test_a_number_beyond_all_measure_is_asked_back_and_not_refused(course: Path, tmp_path: Path) -> None:
    """JSON has such numbers, unlike NaN."""
    (tmp_path / "mira.json").write_bytes(b'{"answers": {"s1_twice": 1e999, "s2_name": "offset"}}')
    done = marked(course, tmp_path / "mira.json")
    assert "please rewrite: s1_twice" in done.stdout
    assert done.stdout.split("2/9")[1].split()[:2] == ["1", "9"]


def test_an_empty_file_says_so_and_reveals_nothing(course: Path, tmp_path: Path) -> None:
    """Case B36: before anything is known, nothing may come back."""
    hand_in(tmp_path / "class", "mira", {})
    done = marked(course, tmp_path / "class")
    assert done.returncode == 1
    assert "nothing was answered" in done.stdout
    shown = ask("show", "mira", "--assignment", "lines/quiz", "--json", cwd=course).stdout
    assert json.loads(shown)["earned"] == "0"
    for secret in SECRETS:
        assert secret not in done.stdout + done.stderr + shown, secret
    assert [check["message"] for check in json.loads(shown)["checks"]] == [""] * 9


def marked(course: Path, *arguments: str | Path) -> Ran:
    return ask("quiz", "mark", "lines", *arguments, cwd=course)


def test_whatever_lies_in_the_folder_the_class_goes_on(course: Path, tmp_path: Path) -> None:
    folder = tmp_path / "class"
    hand_in(folder, "right", RIGHT)
    (folder / "alone.json").write_text(json.dumps({"answers": RIGHT}))
    hand_in(folder, "twice", RIGHT)
    (folder / "twice" / "quiz_answers.yml").write_text("answers: {}\n")
    hand_in(folder, "file_and_folder", RIGHT)
    (folder / "file_and_folder.yaml").write_text("answers: {}\n")
    (folder / "folder" / "quiz_answers.json").mkdir(parents=True)
    (folder / "none").mkdir()
    (folder / "pipe").mkdir()
    os.mkfifo(folder / "pipe" / "quiz_answers.json")
    (folder / "link").mkdir()
    (folder / "link" / "quiz_answers.json").symlink_to(folder / "alone.json")
    (folder / "linked").symlink_to(folder / "right")
    (folder / "dangling.json").symlink_to("nowhere")
    (folder / "\x1b[2J").mkdir()
    (folder / ".DS_Store").write_text("junk")
    (folder / "notes.txt").write_text("no answers")
    (folder / "large.json").write_bytes(b"{" + b" " * 10_000_000)
    done = marked(course, folder, "--json")
    found = {each["student"]: (each["status"], each["earned"], *each["notes"]) for each in json.loads(done.stdout)}
    assert done.returncode == 1
    assert "answers of 12 students marked; 10 of 12 need attention" in done.stderr
    two = "2 answers files were found"
    attention = {
        "alone": None, "right": None, "twice": two, "file_and_folder": two, "folder": "is a folder", "pipe": "is a named pipe",
        "link": "is a symbolic link", "linked": "linked is a symbolic link", "dangling": "dangling.json is a symbolic link",
        "large": "large.json is larger than 500,000 bytes", "none": "there is no quiz_answers.json in none",
        "\N{REPLACEMENT CHARACTER}[2J": "an invisible character, so it is no student id",
    }  # fmt: skip
    assert set(found) == set(attention)
    for student, sentence in attention.items():
        status, earned, *notes = found[student]
        if sentence is None:
            assert (status, earned, notes) == ("graded", "4", [])
        else:
            assert len(notes) == 1
            assert sentence in notes[0]
            assert (status, earned) == ("not submitted" if "there is no" in sentence else "needs attention", "0")


@pytest.mark.parametrize(
    ("paths", "sentence"), [(["nowhere"], "There is no file or folder"), (["."], "no answers file")]
)
def test_nothing_to_mark_is_said(course: Path, tmp_path: Path, paths: list[str], sentence: str) -> None:
    (tmp_path / "empty").mkdir()
    done = marked(course, *(tmp_path / "empty" / path for path in paths))
    assert done.returncode == 2
    assert sentence in done.stderr


def test_marking_again_adds_no_receipt_until_something_changes(course: Path, tmp_path: Path) -> None:
    def receipts() -> int:
        with Store.in_course(course) as store:
            return sum(len(store.history("lines/quiz", student)) for student in ("mira", "noor", "ole"))

    folder = tmp_path / "class"
    for student in ("mira", "noor"):
        hand_in(folder, student, RIGHT)
    (folder / "ole").mkdir()
    assert [marked(course, folder).returncode, receipts()] == [1, 3]
    assert [marked(course, folder).returncode, receipts()] == [1, 3]
    hand_in(folder, "noor", {**RIGHT, "s1_twice": "17"})
    marked(course, folder)
    assert receipts() == 4
    hand_in(folder, "noor", RIGHT)
    marked(course, folder)
    assert receipts() == 5
    (course / SLOPE).write_text(QUIZ[SLOPE].replace("tolerance: 0.05", "tolerance: 0.04"))
    marked(course, folder)
    assert receipts() == 8
    with Store.in_course(course) as store:
        standing = store.standing("lines/quiz", "noor")
    assert standing is not None
    assert standing.earned == 4
    assert standing.output["s1_twice"] == "3,0"


def test_with_a_roster_everybody_has_one_row(course: Path, tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "mira", RIGHT)
    hand_in(tmp_path / "class", "Noor (1)", RIGHT)
    (tmp_path / "roster.csv").write_text("student_id,name\nnoor,Noor N\nmira,Mira M\nole,Ole O\n")
    done = marked(course, tmp_path / "class", "--roster", tmp_path / "roster.csv")
    assert done.returncode == 1
    assert "Noor (1) is not in the roster; if it is noor's, rename it" in done.stdout
    assert "answers of 3 students marked; 2 of 3 need attention" in done.stderr
    with Store.in_course(course) as store:
        assert store.students() == ["mira", "noor", "ole"]
        missing = store.standing("lines/quiz", "ole")
    assert missing is not None
    assert (missing.name, missing.status, missing.notes) == ("Ole O", "not submitted", ("nothing was handed in",))


def test_who_hands_in_nothing_this_time_keeps_what_stands(course: Path, tmp_path: Path) -> None:
    hand_in(tmp_path / "first", "mira", RIGHT)
    marked(course, tmp_path / "first")
    hand_in(tmp_path / "late", "noor", RIGHT)
    (tmp_path / "late/mira").mkdir()
    (tmp_path / "roster.csv").write_text("student_id,name\nnoor,Noor N\nmira,Mira M\nole,Ole O\n")
    done = marked(course, tmp_path / "late", "--roster", tmp_path / "roster.csv")
    assert "nothing was handed in now for mira; what they have stays" in done.stderr
    with Store.in_course(course) as store:
        standing = store.standing_receipts("lines/quiz")
        assert len(store.history("lines/quiz", "mira")) == 1
    assert standing["mira"].earned == standing["noor"].earned > 0 == standing["ole"].earned


def test_a_hand_in_that_cannot_be_read_takes_nothing_away(course: Path, tmp_path: Path) -> None:
    hand_in(tmp_path / "first", "mira", RIGHT)
    (tmp_path / "first" / "noor.json").write_text("{")
    assert marked(course, tmp_path / "first").returncode == 1
    hand_in(tmp_path / "second", "mira", RIGHT)
    (tmp_path / "second/mira/quiz_answers (1).json").write_text("{}")
    (tmp_path / "second" / "noor.json").write_text("[]")
    done = marked(course, tmp_path / "second")
    assert done.returncode == 1
    assert "mira: 2 answers files were found (" in done.stderr
    assert "keep the one meant; what stands stays" in done.stderr
    with Store.in_course(course) as store:
        found = store.standing_receipts("lines/quiz")
    assert (found["mira"].earned, len(found["noor"].notes)) == (4, 1)
    assert "no answers file" in found["noor"].notes[0]  # of the second one: nothing of the first could be kept


@pytest.mark.parametrize(
    ("typed", "folder", "is_own"),
    [
        ("Mira M", "mira", True),
        ("M, mira", "mira", True),
        ("42", "mira", True),
        ("noor", "mira", False),
        ("Somebody", "mira", False),
        ("Jane Doe", "doejane_12345", True),
        ("Jane Doe", "Jane Doe_1234567", True),
        ("Jane Roe", "doejane_12345", False),
    ],
)
def test_questions_that_were_drawn_for_a_students_own_name_are_no_reason_to_look(
    course: Path, tmp_path: Path, typed: str, folder: str, is_own: bool
) -> None:
    hand_in(tmp_path / "class", folder, {}, student=typed)
    (tmp_path / "roster.csv").write_text("student_id,name,id\nmira,Mira M,42\nnoor,Noor N,43\n")
    how = ("--roster", tmp_path / "roster.csv") if folder == "mira" else ()
    told = json.loads(marked(course, tmp_path / "class", "--json", *how).stdout)
    (notes,) = (receipt["notes"] for receipt in told if receipt["student"] == folder)
    assert any("were drawn for" in note for note in notes) is not is_own


def test_all_that_has_to_be_written_again_is_counted(course: Path, tmp_path: Path) -> None:
    unreadable = ("s1_what_it_does", "s1_properties", "s1_twice", "s1_order", "s2_shape")
    hand_in(tmp_path / "class", "mira", dict.fromkeys(unreadable, "?"))
    table = " ".join(marked(course, tmp_path / "class").stdout.split())
    assert "please rewrite: s1_what_it_does, s1_properties, s1_twice and 2 more" in table


def test_a_file_is_its_folders_and_a_zip_its_names(course: Path, tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "mira", RIGHT)
    (tmp_path / "class/jonas.zip").write_bytes(b"PK")
    done = marked(course, tmp_path / "class/mira/quiz_answers.json", tmp_path / "class/jonas.zip")
    assert "jonas.zip is not a zip file that can be opened" in " ".join(done.stdout.split())
    marked(course, tmp_path / "class")
    with Store.in_course(course) as store:
        found = {student: receipt.status for student, receipt in store.standing_receipts("lines/quiz").items()}
    assert found == {"mira": "graded", "jonas": "needs attention"}


@pytest.mark.parametrize("policy", ["always", "after_first_attempt", "after_deadline", "never"])
def test_feedback_of_a_quiz_obeys_the_hint_policy(course: Path, tmp_path: Path, policy: str) -> None:
    told = policy == "always"
    text = (course / "course.yml").read_text()
    (course / "course.yml").write_text(
        text.replace("points: 10\n", f"points: 10\n    hint: {policy}\n").replace("2027", "2099")
    )
    hand_in(tmp_path / "class", "mira", {"s1_twice": "3.5", "s2_shape": "[2,,1]", "s2_prints": "[7]"})
    marked(course, tmp_path / "class")
    plain = ask("show", "mira", "--assignment", "lines/quiz", cwd=course).stdout
    data = ask("show", "mira", "--assignment", "lines/quiz", "--json", cwd=course).stdout
    whole = ask("show", "mira", "--assignment", "lines/quiz", "--instructor", cwd=course).stdout
    for shown in (plain, data):
        assert ("Is 2 an amount here?" in shown) is told
        assert ("A slope is added to x" in shown) is told
        assert "is not a shape" in shown  # how to write it is told in any case
        assert not any(secret in shown for secret in ("3.0", "offset", "A slope multiplies"))
    assert "A slope is added to x" in whole
    assert "Is 2 an amount here?" in whole
    if policy == "after_first_attempt":
        hand_in(tmp_path / "class", "mira", {"s1_twice": "3.5"})
        marked(course, tmp_path / "class")
        assert "Is 2 an amount here?" in ask("show", "mira", "--assignment", "lines/quiz", cwd=course).stdout


def test_points_of_a_section_can_be_given_by_hand(course: Path, tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "mira", RIGHT)
    marked(course, tmp_path / "class")

    def adjust(assignment: str, section: str, points: str) -> Ran:
        how = ("--reason", "said it in class", "--author", "tutor")
        return ask("adjust", assignment, "mira", section, points, *how, cwd=course)

    assert adjust("lines/quiz", "Week 1 §1", "4.5").returncode == 0
    assert "7.5*" in marked(course, tmp_path / "class").stdout
    assert "given by tutor" in ask("show", "mira", "--assignment", "lines/quiz", cwd=course).stdout
    for assignment, section, points, sentence in [
        ("lines/quiz", "Week 1 §1", "5.5", "between 0 and 5"),
        ("lines/quiz", "slope", "1", "is no section of lines/quiz; it has Week 1 §1, Week 1 §2"),
        ("lines/quizzes", "slope", "1", "lines/quizzes"),
        ("week99/quiz", "slope", "1", "week99"),
    ]:
        done = adjust(assignment, section, points)
        assert done.returncode == 2
        assert sentence in done.stderr
        assert done.stderr.count("\n") == 1


def test_the_table_of_questions_names_the_idea_met_most(course: Path, tmp_path: Path) -> None:
    for student, typed in (("mira", "3.5"), ("noor", "3.5"), ("ole", "3")):
        hand_in(tmp_path / "class", student, {"s1_twice": typed})
    line = next(
        line for line in marked(course, tmp_path / "class", "--items").stdout.splitlines() if "s1_twice" in line
    )
    assert line.split() == "s1_twice Week 1 §1 3 33 % A slope is added to x (2)".split()
    told = json.loads(marked(course, tmp_path / "class", "--items", "--json").stdout)
    assert [receipt["student"] for receipt in told["receipts"]] == ["mira", "noor", "ole"]
    (item,) = (item for item in told["items"] if item["item"] == "s1_twice")
    assert (item["earned"], item["of"], item["ideas"]) == (1.0, 3.0, {"A slope is added to x": 2})
