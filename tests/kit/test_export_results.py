"""JUnit XML, Gradescope's results.json and the command: valid for their readers, and telling students no secret (B34)."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from command_line import ask, autograder
from grading import ROOT
from standings import ODD_NAMES, odd_class, receipt, standing_of, stored, written_course

from autograder.course import CourseFiles, load_course
from autograder.exports.classroom import PATH, classroom
from autograder.exports.gradescope.results import failed, gradescope, results, written
from autograder.exports.junit import junit
from autograder.exports.standing import Exported, Standing
from autograder.exports.table import read_table
from autograder.grading.receipt import Diagnosis
from autograder.grading.store import Adjustment

# -- JUnit: what the schema junit-10 of Jenkins's xUnit plugin allows, as far as we write it

_TIME = re.compile(r"\d+\.\d{3}")
_ALLOWED = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, set(), {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "package"},
        {"name", "tests", "failures", "errors"},
        {"properties", "testcase", "system-out"},
    ),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, {"name", "value"}, set()),
    "testcase": ({"name", "classname", "time"}, {"name"}, {"failure", "error"}),
    "failure": ({"type", "message"}, set(), set()),
    "error": ({"type", "message"}, set(), set()),
    "system-out": (set(), set(), set()),
}


def one_file(exported: Exported) -> bytes:
    ((_, content),) = exported.files.items()
    return content


def assert_valid(content: bytes) -> ElementTree.Element:
    root = ElementTree.fromstring(content)
    assert root.tag == "testsuites"
    for element in root.iter():
        attributes, required, children = _ALLOWED[element.tag]
        assert required <= set(element.keys()) <= attributes, element.tag
        assert {child.tag for child in element} <= children, element.tag
        assert _TIME.fullmatch(element.get("time", "0.000"))
    for suite in root:
        cases = suite.findall("testcase")
        counts = [len(cases), len(suite.findall("testcase/failure")), len(suite.findall("testcase/error"))]
        assert [suite.get(name) for name in ("tests", "failures", "errors")] == list(map(str, counts))
    return root


@pytest.fixture
def odd(tmp_path: Path) -> Standing:
    return odd_class(tmp_path)


def test_junit_is_valid_and_names_come_back(odd: Standing) -> None:
    root = assert_valid(one_file(junit(odd)))
    found = {suite.get("name"): suite.find("properties/property[@name='name']") for suite in root}
    names = {student: element.get("value") for student, element in found.items() if element is not None}
    assert names == ODD_NAMES
    assert [root.get(name) for name in ("tests", "failures", "errors")] == ["15", "9", "0"]


def test_a_lost_point_is_never_a_pass_or_skipped(tmp_path: Path) -> None:
    outcomes = ["not attempted", "not run", "refused", "timed out", "stopped", "raised", "failed"]
    lost = receipt("s01").checks[0]
    checks = tuple(replace(lost, outcome=outcome, earned=Fraction(0)) for outcome in outcomes)
    root = assert_valid(one_file(junit(standing_of(tmp_path, receipt("s01", checks=checks)))))
    kinds = {element.get("type"): element.tag for element in root.iter() if element.tag in ("failure", "error")}
    assert kinds.keys() == set(outcomes)
    assert {name for name, kind in kinds.items() if kind == "error"} == {"not run", "timed out", "stopped"}
    assert all(suite.get("skipped") == "0" for suite in root)


def test_characters_that_no_xml_holds_are_replaced(tmp_path: Path) -> None:
    content = one_file(junit(standing_of(tmp_path, receipt("s01", notes=("bell \a, null \0, half \ud800, 学",)))))
    assert assert_valid(content).findtext("testsuite/system-out") == "bell \ufffd, null \ufffd, half \ufffd, 学"


def test_some_students_alone(odd: Standing) -> None:
    assert [suite.get("name") for suite in assert_valid(one_file(junit(odd, ["s01"])))] == ["s01"]


# -- Gradescope

_FIELDS = {
    "score": (int, float),
    "execution_time": (int, float),
    "output": str,
    "visibility": str,
    "stdout_visibility": str,
    "tests": list,
    "extra_data": dict,
}
_OF_A_TEST = {
    "number": str,
    "name": str,
    "score": (int, float),
    "max_score": (int, float),
    "status": str,
    "output": str,
    "tags": list,
    "visibility": str,
}
_VISIBLE = {"hidden", "after_due_date", "after_published", "visible"}


def assert_as_specified(document: dict[str, Any]) -> None:
    assert document.keys() == _FIELDS.keys()
    assert all(isinstance(document[name], kind) for name, kind in _FIELDS.items())
    for test in document["tests"]:
        assert test.keys() == _OF_A_TEST.keys()
        assert all(isinstance(test[name], kind) for name, kind in _OF_A_TEST.items())
        assert test["visibility"] in _VISIBLE and test["status"] in ("passed", "failed")
        assert 0 <= test["score"] <= test["max_score"]
        assert (test["status"] == "passed") == (test["score"] == test["max_score"])
    assert document["stdout_visibility"] == "hidden"


def test_gradescope_gets_a_document_for_each_student(odd: Standing) -> None:
    files = gradescope(odd).files
    assert files.keys() == {f"{student}.json" for student in ODD_NAMES}
    documents = {name: json.loads(content) for name, content in files.items()}
    for document in documents.values():
        assert_as_specified(document)
    assert documents["s02.json"]["score"] == 5.7 and documents["+4.json"]["score"] == 5.67


def test_hidden_checks_wait_for_publication_and_are_never_named_by_their_function(tmp_path: Path) -> None:
    found = standing_of(tmp_path, receipt("s01", "3", "0"))
    (content,) = gradescope(found).files.values()
    document = json.loads(content)
    assert [test["visibility"] for test in document["tests"]] == ["visible", "after_published", "after_published"]
    secrets = (b"ZEBRA42", b"test_", b"424242", b"hidden_")
    for form in (content, one_file(junit(found))):
        assert not [secret for secret in secrets if secret in form]


def test_hints_are_told_by_the_policy(tmp_path: Path) -> None:
    diagnosis = Diagnosis("m1", "divides twice", "look at the scale", "Week 1 §1", ("slope::test_ZEBRA42",))
    (row,) = standing_of(tmp_path, receipt("s01", "3", diagnoses={"slope": (diagnosis,)})).rows
    told = results(row.receipt, row.final)["output"]
    assert "slope looks like: divides twice. look at the scale" in told and "ZEBRA42" not in told
    withheld = results(row.receipt, row.final, "there is a hint: later")["output"]
    assert withheld == "there is a hint: later"


def test_points_by_hand_are_the_score_and_are_said(tmp_path: Path) -> None:
    by_hand = {"s01": Adjustment("line", Fraction(3), "oral exam", "kim", "now")}
    (row,) = standing_of(tmp_path, receipt("s01", line="0"), by_hand=by_hand).rows
    document = results(row.receipt, row.final)
    assert document["score"] == 9 and "line: 3 points, given by hand: oral exam" in document["output"]


def test_a_failed_grader_is_valid_and_no_zero() -> None:
    document = json.loads(written(failed("GradingError: no suite")))
    assert "score" not in document and "tests" not in document
    assert document["extra_data"] == {"reason": "GradingError: no suite"} and "no suite" not in document["output"]


# -- GitHub Classroom


def test_the_classroom_workflow_runs_every_public_check_and_nothing_hidden() -> None:
    import yaml

    course = load_course(ROOT)
    text = classroom(CourseFiles(ROOT), course.assignment("week08")).files[PATH].decode()
    workflow = yaml.safe_load(text)
    (job,) = workflow["jobs"].values()
    released = json.loads((ROOT / "assignments/week08/selfcheck/exercises.json").read_text("utf-8"))["exercises"]
    graders = {step["id"]: step["with"] for step in job["steps"] if "grader@" in step.get("uses", "")}
    points = {name: Fraction(str(given["max-score"])) for name, given in graders.items()}
    assert points == {name: Fraction(one["public_points"]) for name, one in released.items() if one["public_checks"]}
    for name, given in graders.items():
        assert given["command"].endswith(f" test_{name}.py") and (ROOT / f"assignments/week08/test_{name}.py").is_file()
    reporter = job["steps"][-1]
    assert reporter["with"]["runners"].split(",") == list(graders)
    assert reporter["env"] == {f"{name.upper()}_RESULTS": f"${{{{ steps.{name}.outputs.result }}}}" for name in graders}
    assert "suites" not in text and "reference" not in text


# -- the command


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course in whose store a class is."""
    root = written_course(tmp_path)
    (root / ".autograder").mkdir()
    stored(root / ".autograder", [receipt("s01", "5.7", name="Łukasz 学"), receipt("s02")])
    return root


def test_every_form_is_written_where_it_is_asked_for(course: Path) -> None:
    (course / "people.csv").write_text("student_id,name,id\ns01,Ana,901\ns02,Bo,902\n")
    (course / "book.csv").write_text("Student,ID,SIS Login ID,Section,Week 1: Lines\nA,1,s01,A,\nB,2,s02,A,\n")
    wanted = {
        ("csv",): "lines.csv",
        ("moodle",): "lines_moodle.csv",
        ("junit",): "lines_junit.xml",
        ("canvas", "--roster", "people.csv"): "lines_canvas.csv",
        ("canvas", "--template", "book.csv"): "book_filled.csv",
        ("gradescope",): "lines_gradescope/s01.json",
        ("csv", "--output", "deep/er/x.csv"): "deep/er/x.csv",
    }
    for (form, *options), path in wanted.items():
        done = ask("export", form, "lines", *options, cwd=course)
        assert (done.returncode, (course / path).is_file()) == (0, True), done.stderr
    assert (course / "book.csv").read_text().endswith("B,2,s02,A,\n")
    assert not list(course.rglob("*.new"))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("csv", "lines", "--template", "course.yml"), "--template is for canvas"),
        (("canvas", "lines"), "give the gradebook that Canvas exported"),
        (("canvas", "lines", "--by", "ID"), "say what in a --template is meant"),
        (("csv", "lines/quiz"), "there are no receipts for lines/quiz; `autograder quiz mark lines"),
        (("junit", "lines", "--student", "s77"), "s77 has no receipt"),
        (("canvas", "lines", "--template", "book.csv", "--output", "book.csv"), "is the template itself"),
        (("csv", "lines", "--output", "course.yml/x.csv"), "course.yml"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(course: Path, arguments: tuple[str, ...], sentence: str) -> None:
    (course / "book.csv").write_text("Student,ID,SIS Login ID,Section,Week 1: Lines\nA,1,s01,A,\nB,2,s02,A,\n")
    done = ask("export", *arguments, cwd=course)
    assert done.returncode == 2
    assert sentence in done.stderr and "Traceback" not in done.stderr


def test_a_student_who_is_left_out_is_told_and_in_the_exit_code(course: Path) -> None:
    (course / "book.csv").write_text("Student,ID,SIS Login ID,Section,Week 1: Lines\nA,1,s01,A,\n")
    done = ask("export", "canvas", "lines", "--template", "book.csv", cwd=course)
    assert (done.returncode, done.stderr) == (1, "s02 is not in book.csv\n")


def test_names_are_written_under_any_locale(course: Path) -> None:
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = autograder("export", "csv", "lines", cwd=course, environment=ascii_only)
    assert done.returncode == 0, done.stderr
    first, _ = read_table((course / "lines.csv").read_bytes())
    assert (first["name"], first["final"]) == ("Łukasz 学", "9.7")
