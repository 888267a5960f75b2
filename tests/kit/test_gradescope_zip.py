"""The autograder zip, run in folders that are laid out as in Gradescope's container."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from grading import small_course, solution, with_body

from autograder.course import CourseFiles, load_course
from autograder.exports.gradescope import job
from autograder.exports.gradescope.package import package

METADATA = {
    "id": 1,
    "created_at": "2027-03-06T12:00:00.365935-08:00",
    "assignment": {"due_date": "2027-03-07T23:00:00.000000-08:00", "title": "Week 8", "total_points": "10.0"},
    "submission_method": "upload",
    "users": [{"email": "zoe@uni.example", "id": 77, "name": "Zoë 学", "sid": "0042"}],
    "previous_submissions": [],
}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    root = small_course(tmp_path_factory.mktemp("course"))
    (root / "submitted").mkdir()
    (root / "submitted/secret.txt").write_text("of another student")
    ((_, content),) = package(CourseFiles(root), load_course(root).assignment("week08")).files.items()
    return content


Laid = Callable[[str], Path]


@pytest.fixture
def laid_out(archive: bytes, tmp_path: Path) -> Laid:
    """The folders of the container, with this module handed in."""

    def lay(source: str) -> Path:
        with zipfile.ZipFile(io.BytesIO(archive)) as file:
            file.extractall(tmp_path / "source")
        for folder in ("submission", "results"):
            (tmp_path / folder).mkdir()
        (tmp_path / "submission/layer_norm.py").write_text(source, "utf-8")
        (tmp_path / "submission_metadata.json").write_text(json.dumps(METADATA), "utf-8")
        return tmp_path

    return lay


def test_the_zip_grades_what_was_handed_in_by_itself(laid_out: Laid) -> None:
    root = laid_out(with_body(solution("layer_norm"), "layer_norm", "print('SEEN')\nreturn x * gamma + beta"))
    environment = {**os.environ, "AUTOGRADER_ROOT": str(root), "AUTOGRADER_PYTHON": sys.executable}
    environment |= {"PYTHONPATH": str(root / "source/kit"), "LC_ALL": "C"}
    done = subprocess.run(
        ["bash", root / "source/run_autograder"], cwd=root, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    document = json.loads((root / "results/results.json").read_bytes())
    checks = document["tests"]
    assert 0 < document["score"] < 10 and sum(check["max_score"] for check in checks) == 10
    assert {check["visibility"] for check in checks} == {"visible", "after_published"}
    assert document["extra_data"]["status"] == "graded" and document["extra_data"]["isolation"]
    text = json.dumps(document)
    assert "SEEN" not in text and str(root) not in text and "test_" not in text


def test_the_zip_has_gradescopes_layout_and_no_more_of_the_course_than_it_needs(archive: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        names = set(file.namelist())
        assert file.read("setup.sh").startswith(b"#!/usr/bin/env bash\n")
        assert file.read("run_autograder").startswith(b"#!/usr/bin/env bash\n")
    course = {name for name in names if name.startswith("course/")}
    assert {
        "course/course.yml",
        "course/tests/suites/week08/test_layer_norm.py",
        "course/reference/layer_norm.py",
    } <= course
    assert {name for name in course if "solutions" in name} == {"course/solutions/week08/layer_norm.py"}
    assert not [name for name in names if "secret" in name or "__pycache__" in name or "/." in name]
    assert {name.partition("/")[0] for name in names} == {
        "setup.sh",
        "run_autograder",
        "settings.json",
        "kit",
        "course",
    }


@pytest.mark.parametrize("script", ["setup.sh", "run_autograder"])
def test_the_scripts_parse(archive: bytes, script: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        (tmp_path / script).write_bytes(file.read(script))
    assert subprocess.run(["bash", "-n", tmp_path / script], capture_output=True).returncode == 0


def test_a_fault_of_the_kit_is_a_valid_document_without_a_score(
    laid_out: Laid, capsys: pytest.CaptureFixture[str]
) -> None:
    root = laid_out(solution("layer_norm"))
    (root / "source/course/tests/suites/week08/test_layer_norm.py").unlink()
    assert job.main(root) == 1
    document = json.loads((root / "results/results.json").read_bytes())
    assert "score" not in document and "every exercise needs a suite" in document["extra_data"]["reason"]
    assert "every exercise needs a suite" in capsys.readouterr().err


def test_who_and_when_come_from_gradescope(tmp_path: Path) -> None:
    assert job._student(METADATA) == "0042" and job._name(METADATA) == "Zoë 学"
    group = {"users": [{"email": "a@x", "id": 1}, {"id": 2}]}
    assert job._student(group) == "a@x + 2" and job._name(group) is None
    assert job._student({}) == "unknown"
    assert job._time(METADATA["created_at"]) == "2027-03-06T12:00:00-08:00"
    assert job._time("2027-03-06 12:00") is None and job._time(None) is None


def test_the_students_own_deadline_counts(tmp_path: Path) -> None:
    assignment = load_course(small_course(tmp_path)).assignment("week08")
    extended = {**METADATA, "users": [{"sid": "1", "assignment": {"due_date": "2027-03-09T23:00:00-08:00"}}]}
    zone = ZoneInfo("Europe/Berlin")
    assert job._with_their_deadline(assignment, extended, zone).deadline.isoformat() == "2027-03-10T08:00:00+01:00"
    assert job._with_their_deadline(assignment, METADATA, zone).deadline.isoformat() == "2027-03-08T08:00:00+01:00"
    assert job._with_their_deadline(assignment, {"assignment": {"due_date": None}}, zone) == assignment


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null"])
def test_metadata_that_cannot_be_read_keeps_nobody_from_a_grade(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "submission_metadata.json").write_bytes(content)
    assert job._metadata(tmp_path / "submission_metadata.json") == {}
    assert job._metadata(tmp_path / "nowhere.json") == {}
