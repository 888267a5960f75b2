"""Answers are found in whatever staff have: folders, zips and files, by hand or from a learning platform."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from quiz_course import RIGHT, hand_in

from autograder.intake import Roster
from autograder.quiz.collect import by_roster, find_answers

GIVEN = json.dumps({"answers": RIGHT})


def found(path: Path, roster: Roster | None = None) -> dict[str, str]:
    """By student: "" where the answers were read, or else why not."""
    rows = find_answers([path], "lines", roster)
    assert all((one.answers is not None) == (one.problem == "") for one in rows)
    assert all(one.answers.answers == RIGHT for one in rows if one.answers is not None)
    return {one.student: one.problem for one in rows}


def zipped(path: Path, files: Mapping[str, str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def filed(folder: Path, files: Mapping[str, str]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


@pytest.mark.parametrize("given", ["submitted", "submitted/notebooks", "submitted/notebooks/mira"])
def test_answers_are_found_in_the_folder_of_the_assignment(tmp_path: Path, given: str) -> None:
    """As nbgrader lays it out."""
    hand_in(tmp_path / "submitted/notebooks/mira", "lines", RIGHT)
    hand_in(tmp_path / "submitted/notebooks/mira", "circles", {})
    (one,) = find_answers([tmp_path / given], "lines")
    assert (one.student, one.problem) == ("mira", "")
    assert one.answers is not None
    assert one.answers.answers == RIGHT


def test_answers_are_found_in_the_only_folder_that_has_any_and_else_it_is_said_where_some_are(tmp_path: Path) -> None:
    hand_in(tmp_path / "ana", "quiz", RIGHT)
    hand_in(tmp_path / "bo", "circles", RIGHT)
    hand_in(tmp_path / "bo", "squares", RIGHT)
    hand_in(tmp_path / "cy", "circles", RIGHT)
    (tmp_path / "cy" / "lines").mkdir()
    (tmp_path / "dee").mkdir()
    hand_in(tmp_path, "eve's", {})
    (tmp_path / "dee" / "lines").symlink_to(tmp_path / "eve's")
    (tmp_path / "flo" / "lines").mkdir(parents=True)
    rows = {one.student: (one.answers is not None, one.problem) for one in find_answers([tmp_path], "lines")}
    nothing = "nothing was answered: there is no quiz_answers.json in"
    assert rows == {
        "ana": (True, ""),
        "bo": (False, f"{nothing} bo (but in bo/circles and bo/squares)"),
        "cy": (False, f"{nothing} cy/lines (but in cy/circles)"),
        "dee": (False, "dee/lines is no folder; hand in the folder itself"),
        "eve's": (True, ""),
        "flo": (False, f"{nothing} flo/lines"),
    }
    missing = {one.student for one in find_answers([tmp_path], "lines") if one.is_missing}
    assert missing == {"flo"}, "who has answers somewhere has handed something in"


def test_zips_are_opened_and_a_copys_number_is_no_other_name(tmp_path: Path) -> None:
    folder = filed(tmp_path / "class", {"bo/quiz_answers (1).json": GIVEN, "cy_quiz_answers.json": GIVEN})
    zipped(folder / "ana.zip", {"quiz_answers.json": GIVEN, "slope.py": "x = 1"})
    zipped(folder / "dee.zip", {"dee's work/lines/quiz_answers-2.json": GIVEN, "__MACOSX/dee's work/._x": ""})
    zipped(folder / "eve.zip", {"slope.py": "x = 1"})
    zipped(folder / "flo" / "upload.zip", {"quiz_answers.yml": GIVEN})
    zipped(folder / "gil.zip", {"../quiz_answers.json": GIVEN})
    filed(folder, {"hal.zip": "this is no zip", "ida.tar.gz": "?", "jo.json": GIVEN, "jo.zip": "this is no zip"})
    assert found(folder) == {
        "ana": "",
        "bo": "",
        "cy": "",
        "dee": "",
        "eve": "nothing was answered: there is no quiz_answers.json in eve.zip",
        "flo": "",
        "gil": "gil.zip holds the name '../quiz_answers.json', which leads out of the archive; "
        "zip only what you wrote again and hand that in",
        "hal": "hal.zip is not a zip file that can be opened; zip only what you wrote again and hand that in",
        "ida": "ida.tar.gz is an archive of another kind; hand in a zip file",
        "jo": "jo.zip is not a zip file that can be opened; zip only what you wrote again and hand that in",
    }
    assert found(folder / "ana.zip") == {"ana": ""}


CANVAS = {
    "doejane_12345_678901_quiz_answers.json": GIVEN,
    "doejane_12345_678902_slope.py": "x = 1",
    "roeric_LATE_12346_678903_quiz_answers-1.json": GIVEN,
    "poeann_12347_678904_slope.py": "x = 1",
}
MOODLE = {
    "Jane Doe_1234567_assignsubmission_file_/quiz_answers.json": GIVEN,
    "Ric Roe_1234568_assignsubmission_file_/slope.py": "x = 1",
}

GRADESCOPE = {
    "submission_metadata.yml": "submission_1:\n  :submitters:\n  - :name: Jane Doe\n    :sid: '11'\n"
    "  - :name: Ann Poe\n    :sid: '12'\nsubmission_2:\n  :submitters:\n  - :name: Ric Roe\n    :sid: '13'\n",
    "submission_1/quiz_answers.json": GIVEN,
    "submission_2/slope.py": "x = 1",
}


@pytest.mark.parametrize("is_zip", [False, True])
def test_downloads_of_platforms_are_read_as_they_come(tmp_path: Path, is_zip: bool) -> None:
    def download(name: str, files: Mapping[str, str]) -> Path:
        return zipped(tmp_path / f"{name}.zip", files) if is_zip else filed(tmp_path / name, files)

    nothing = "nothing was answered: there is no quiz_answers.json in"
    assert found(download("canvas", CANVAS)) == {
        "doejane_12345": "",
        "poeann_12347": f"{nothing} poeann_12347_678904_...",
        "roeric_12346": "",
    }
    assert found(download("moodle", MOODLE)) == {
        "Jane Doe_1234567": "",
        "Ric Roe_1234568": f"{nothing} Ric Roe_1234568_assignsubmission_file_",
    }
    assert found(download("gradescope", GRADESCOPE)) == {
        "11": "",
        "12": "",
        "13": f"{nothing} submission_2",
    }
    roster = Roster({"jd": "Jane Doe", "rr": "Ric Roe"}, {"jd": {"id": "12345"}, "rr": {"sis_user_id": "x"}})
    assert found(download("canvas2", CANVAS), roster) == {
        "jd": "",
        "poeann_12347": f"{nothing} poeann_12347_678904_...",
        "rr": "",
    }
    assert found(download("by_hand", {"rr/quiz_answers.json": GIVEN, "notes.txt": ""}), roster) == {"rr": ""}
    student, place = ("two", "two.zip/all") if is_zip else ("all", "all")  # nothing says that these are students
    assert found(download("two", {"all/ana/quiz_answers.json": GIVEN, "all/bo/quiz_answers.json": GIVEN})) == {
        student: f"{nothing} {place} (but in {place}/ana and {place}/bo)"
    }


def test_what_leads_out_of_the_zip_of_a_class_costs_its_owner_only(tmp_path: Path) -> None:
    zipped(tmp_path / "class.zip", {**MOODLE, "../../evil_quiz_answers.json": GIVEN})
    rows = found(tmp_path / "class.zip")
    assert "leads out of the archive" in rows.pop("evil_quiz_answers.json")
    assert rows["Jane Doe_1234567"] == ""


def test_the_latest_attempt_counts_and_one_without_answers_after_one_with_them_is_asked_about(tmp_path: Path) -> None:
    early, late = "attempt_2025-03-03-17-00-00", "attempt_2025-03-04-17-00-00"
    older = json.dumps({"answers": {}})
    filed(tmp_path, {f"lines_ana_{early}/quiz_answers.json": older, f"lines_bo_{early}/quiz_answers.json": GIVEN})
    zipped(tmp_path / f"lines_ana_{late}.zip", {"quiz_answers.json": GIVEN})
    filed(tmp_path, {f"lines_bo_{late}/slope.py": "x = 1", f"other_cy_{late}/quiz_answers.json": GIVEN})
    rows = found(tmp_path)
    assert rows["ana"] == ""
    assert rows["bo"] == (
        f"nothing was answered: there is no quiz_answers.json in lines_bo_{late}, but the attempt of 2025-03-03T17:00:00 "
        "has answers; hand in all files together"
    )
    assert rows["other_cy"].endswith("does not start with lines_; is it for another assignment?")


def test_the_same_student_twice_is_asked_about(tmp_path: Path) -> None:
    filed(tmp_path, {"ana/quiz_answers.json": GIVEN, "ana.json": GIVEN, "bo/slope.py": "", "bo.json": GIVEN})
    rows = found(tmp_path)
    assert rows["ana"].startswith("2 answers files were found (")
    assert rows["bo"] == ""
    roster = Roster({"ana": None, "Bo": None})
    known, strangers = by_roster(find_answers([tmp_path], "lines", roster), roster)
    assert [one.student for one in known] == ["Bo", "ana"]
    assert [one.problem for one in strangers] == ["bo is not in the roster; if it is Bo's, rename it"]


def test_nothing_in_a_hand_in_is_credited_to_another_student(tmp_path: Path) -> None:
    """Names inside a student's own folder or zip are that student's choice."""
    roster = Roster({"mira": None, "eve": None, "jonas": None}, {"mira": {"id": "777"}, "eve": {"id": "12345"}})
    inside = {"mira/quiz_answers.json": GIVEN, "jonas/quiz_answers.json": GIVEN}
    claims = "x:\n  :created_at: 2099-01-01 00:00:00 Z\n  :submitters:\n  - :sid: mira\n"
    for number, files in enumerate([inside, {"submission_metadata.yml": claims, "x/quiz_answers.json": GIVEN}]):
        for given in (
            zipped(tmp_path / f"z{number}" / "eve.zip", files),
            filed(tmp_path / f"f{number}" / "eve", files),
        ):
            assert set(found(given, roster)) == {"eve"}
    for name in ("mira_quiz_answers.json", "mira/quiz_answers.json", "quiz/quiz_answers.json"):
        assert found(filed(tmp_path / name / "eve", {name: GIVEN}), roster) == {"eve": ""}
    stolen = "smitheve_12345_678901_x_777_assignsubmission_file_quiz_answers.json"
    later = "smitheve_12345_678902_lines_mira_attempt_2099-01-01-00-00-00_quiz_answers.json"
    for name in (stolen, later):
        assert set(found(filed(tmp_path / name, {name: GIVEN}), roster)) == {"eve"}


def test_a_folder_around_the_download_changes_nothing(tmp_path: Path) -> None:
    assert found(filed(tmp_path / "d", {f"export/{name}": text for name, text in GRADESCOPE.items()})) == found(
        filed(tmp_path / "e", GRADESCOPE)
    )
    short = {name: text for name, text in GRADESCOPE.items() if not name.startswith("submission_2/")}
    assert found(filed(tmp_path / "f", short))["13"].startswith("submission_2 is listed, but not there")


def test_two_zips_of_one_student_are_both_looked_into(tmp_path: Path) -> None:
    code = zipped(tmp_path / "code.zip", {"slope.py": "x = 1"}).read_bytes()
    quiz = zipped(tmp_path / "quiz.zip", {"quiz_answers.json.txt": GIVEN}).read_bytes()
    folder = filed(tmp_path / "class", {})
    (folder / "eve").mkdir(parents=True)
    (folder / "eve" / "code.zip").write_bytes(code)
    (folder / "eve" / "quiz.zip").write_bytes(quiz)
    (folder / "doejane_12345_678901_code.zip").write_bytes(code)
    (folder / "doejane_12345_678902_quiz.zip").write_bytes(quiz)
    filed(folder, {"bo/quiz.rar": "?", **{f"cy/{number}.zip": "" for number in range(6)}})
    rows = found(folder)
    assert rows["cy"] == "6 archives lie in cy; hand in only the one that holds quiz_answers.json"
    assert (rows["eve"], rows["doejane_12345"]) == ("", "")
    assert rows["bo"] == "bo/quiz.rar is an archive of another kind; hand in a zip file"


def test_a_name_that_is_no_id_costs_nobody_else(tmp_path: Path) -> None:
    folder = filed(tmp_path / "class", {"ana/quiz_answers.json": GIVEN, f"{'L' * 250}/quiz_answers.json": GIVEN})
    rows = found(folder)
    assert rows.pop("ana") == ""
    assert all("is longer than 120 characters, so it is no student id" in problem for problem in rows.values())


def test_a_yaml_bomb_in_gradescopes_list_is_only_text(tmp_path: Path) -> None:
    levels = [f"a{n}: &a{n} [{', '.join(['*a' + str(n - 1)] * 9)}]" for n in range(1, 30)]
    bomb = "\n".join(["a0: &a0 [x]", *levels, "s:", "  :submitters:", "  - :sid: *a29", "    :name: Ann"])
    assert found(filed(tmp_path, {"submission_metadata.yml": bomb, "s/quiz_answers.json": GIVEN})) == {"Ann": ""}
