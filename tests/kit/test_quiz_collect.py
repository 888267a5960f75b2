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
        "zip only your exercise files again and hand that in",
        "hal": "hal.zip is not a zip file that can be opened; zip only your exercise files again and hand that in",
        "ida": "ida.tar.gz is an archive of another kind; hand in a zip file",
        "jo": "there are answers in class/jo.json, but beside it or later jo.zip is not a zip file that can be opened; "
        "zip only your exercise files again and hand that in; keep the one meant",
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
        "poeann_12347": f"{nothing} poeann_12347_...",
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
        "poeann_12347": f"{nothing} poeann_12347_...",
        "rr": "",
    }
    assert found(download("by_hand", {"rr/quiz_answers.json": GIVEN, "notes.txt": ""}), roster) == {"rr": ""}
    assert found(download("two", {"all/ana/quiz_answers.json": GIVEN, "all/bo/quiz_answers.json": GIVEN})) == (
        {"ana": "", "bo": ""} if is_zip else {"all": "nothing was answered: there is no quiz_answers.json in all "
                                              "(but in all/ana and all/bo)"}
    )  # fmt: skip


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
        f"there are answers in {tmp_path.name}/lines_bo_{early}, but beside it or later nothing was answered: "
        f"there is no quiz_answers.json in lines_bo_{late}; keep the one meant"
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
