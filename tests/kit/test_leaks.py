"""The search for leaks: a clean release has none, every planted one is found, and none gets out."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest
from small_course import FILES, small_course

from autograder.authoring import AuthoringError, archive_path, contents, release, scan
from autograder.authoring import leaks as searching
from autograder.course import CourseFiles, load_course

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files, lines = small_course(tmp_path_factory.mktemp("course"))
    release(files, lines)
    return files.root


@pytest.fixture
def course(released: Path, tmp_path: Path):
    shutil.copytree(released, tmp_path / "course")
    return CourseFiles(tmp_path / "course"), load_course(released).assignment("lines")


def test_a_clean_release_and_its_archive_hold_no_leak(course):
    assert scan(course[0].stubs("lines"), *course) == []
    assert scan(archive_path(*course), *course) == []


def test_the_releases_of_this_course_hold_no_leak():
    files = CourseFiles(ROOT)
    for assignment in load_course(ROOT).assignments.values():
        assert scan(files.stubs(assignment.id), files, assignment) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("stretched = x * factor", "a line of the solution of slope"),
        ("    stretched   =  x * factor  # [...]", "a line of the solution of slope"),
        ("return slope(x, self.factor) + self.offset", "a line of the solution of line"),
        ("test_derivative_is_the_factor", "a name of the hidden checks of slope"),
        ("def far_away():", "a line of the hidden rig of line"),
        ("far_away", None),
        ("agrees with the reference everywhere", "the title of a hidden check of slope"),
        ("the slope of a slope is its factor", "the title of a hidden check of slope"),
        ("goes through a far\npoint", "the title of a hidden check of line"),
        ("x, along = rng.normal(4), rng.normal(4)", "a line of the hidden checks of slope"),
        ("return torch.full((1,), 1e3)", "a line of the hidden rig of line"),
        ("return torch.mul(x.double(), factor)", "a line of reference/slope.py"),
        ("x.new_tensor(factor).mul(x)", None),  # only a part of the stand-in's line
        ("return x.new_tensor(factor).mul(x)", "a line of reference/stand_ins/slope.py"),
        ("[0.8125, 2]", "a value of the hidden trace secret_point of slope"),
        ("-0.40630", "a value of the hidden trace secret_point of slope"),
        ('{"half": 4062e-4}', "a value of the hidden trace secret_point of slope"),
        ("10.8125 or 0.81250001 or x0.8125 or v1.0.8125", None),
        ("### BEGIN SOLUTION", "still has the marker"),
        ("    ###  END HIDDEN TESTS", "still has the marker"),
        ("def slope(x: torch.Tensor, factor: float) -> torch.Tensor:", None),  # the stub shows it
        ("x = rng.normal(2, 3)", None),  # a public check shows it
        ("self.factor = factory", None),
    ],
)
def test_a_planted_leak_is_found(course, text: str, kind: str | None):
    found = searching.leaks_in({"deeper/copy.txt": f"before\n{text}\nafter\n".encode()}, *course)
    assert len(found) == (kind is not None), found
    if kind is not None:
        assert found[0].startswith("deeper/copy.txt ")
        assert kind in found[0]


@pytest.mark.parametrize("place", ["notes.md", "deeper/copy.py", "selfcheck/traces.json", "__pycache__/slope.pyc"])
def test_every_file_is_searched(course, place: str):
    files, lines = course
    target = files.stubs("lines") / place
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(b"\xff\x00\r\n  stretched = x * factor\r\n")
    assert scan(files.stubs("lines"), files, lines) == [
        f"{place} holds a line of the solution of slope: `stretched = x * factor`"
    ]


def test_a_rig_that_only_hidden_checks_use_is_secret_as_a_whole(tmp_path: Path):
    suite = FILES["tests/suites/lines/test_line.py"].replace("(student, rig)", "(student)", 1)
    suite = suite.replace("rig.origin()", "torch.zeros(1)")
    course = small_course(tmp_path, **{"tests/suites/lines/test_line.py": suite})
    assert searching.leaks_in(contents(*course), *course) == []
    assert searching.leaks_in({"README.md": b"def origin():"}, *course) == [
        "README.md holds a line of the hidden rig of line: `def origin():`"
    ]


def test_a_planted_leak_is_found_in_an_archive(course):
    with zipfile.ZipFile(archive_path(*course), "a") as archive:
        archive.writestr("lines/extra.txt", "stretched = x * factor")
    assert scan(archive_path(*course), *course) == [
        "lines/extra.txt holds a line of the solution of slope: `stretched = x * factor`"
    ]


def test_a_folder_of_this_machine_is_a_leak(course):
    files, lines = course
    (files.stubs("lines") / "log.txt").write_text(f"written to {files.root}/assignments")
    assert scan(files.stubs("lines"), files, lines) == ["log.txt names a folder of this machine"]


def test_hidden_numbers_that_are_also_public_are_no_leak(tmp_path: Path):
    suite = FILES["tests/suites/lines/test_slope.py"].replace("rng.normal(2, 3)", "rng.normal(2, 3) + 0.8125")
    files, lines = small_course(tmp_path, **{"tests/suites/lines/test_slope.py": suite})
    release(files, lines)
    assert scan(files.stubs("lines"), files, lines) == []


@pytest.mark.parametrize(
    ("path", "before", "after", "kind"),
    [
        # Each is a slip of an author: something secret repeated where students read.
        ("course.yml", "Week 1 §1", "see agrees with the reference everywhere", "title of a hidden check"),
        ("reference/traces/slope.yml", "[1.5, -2.25]", "[1.5, -2.25, 0.8125]", None),  # public: the author said so
        (
            "reference/traces/slope.yml",
            "where: Week 1 §1\n  public: true",
            "where: return x.new_tensor(factor).mul(x)\n  public: true",
            "a line of reference/stand_ins",
        ),
    ],
)
def test_nothing_is_written_when_the_release_would_leak(tmp_path: Path, path: str, before: str, after: str, kind):
    files, lines = small_course(tmp_path, **{path: FILES[path].replace(before, after, 1)})
    if kind is None:
        assert release(files, lines)
        return
    with pytest.raises(AuthoringError, match=kind):
        release(files, lines)
    assert not files.stubs("lines").exists()
    assert not archive_path(files, lines).exists()


def test_a_cut_that_lets_a_region_through_is_caught(course, monkeypatch: pytest.MonkeyPatch):
    files, lines = course
    broken = contents(files, lines)
    broken["slope.py"] = (files.solutions("lines") / "slope.py").read_bytes()
    broken["test_line.py"] = files.suite_file("lines", "line").read_bytes()
    kinds = {leak.partition(": `")[0] for leak in searching.leaks_in(broken, files, lines)}
    assert kinds == {
        "slope.py holds a line of the solution of slope",
        "slope.py still has the marker `### BEGIN SOLUTION`",
        "test_line.py holds a line of the hidden checks of line",
        "test_line.py holds a name of the hidden checks of line",
        "test_line.py holds the title of a hidden check of line",
        "test_line.py still has the marker `### BEGIN HIDDEN TESTS`",
    }


@pytest.mark.parametrize("name", ["nothing_there", "course.yml"])
def test_what_is_neither_folder_nor_archive_is_refused(course, name: str):
    with pytest.raises(AuthoringError, match="neither a folder nor a zip archive"):
        scan(course[0].root / name, *course)
