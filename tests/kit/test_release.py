"""The release: what it holds, the same bytes everywhere, and hand-made files that it leaves alone."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from small_course import FILES, small_course

from autograder.authoring import AuthoringError, archive_path, contents, release, stale
from autograder.course import CourseFiles, load_course

ROOT = Path(__file__).parents[2]
SLOPE, SUITE = FILES["solutions/lines/slope.py"], FILES["tests/suites/lines/test_slope.py"]
RELEASE = """
import sys
from pathlib import Path
from autograder.authoring import release
from autograder.course import CourseFiles, load_course
root = Path(sys.argv[1])
release(CourseFiles(root), load_course(root).assignment("lines"))
"""


@pytest.fixture
def course(tmp_path: Path):
    return small_course(tmp_path)


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_release_is_what_a_student_needs_and_nothing_else(course):
    files, lines = course
    written = release(files, lines)
    folder = files.stubs("lines")
    assert set(written) == {*(folder / path for path in files_in(folder)), archive_path(files, lines)}
    outside_the_kit = {path for path in files_in(folder) if not path.startswith("selfcheck/")}
    assert outside_the_kit == {
        *("README.md", "conftest.py", "pytest.ini", "slope.py", "line.py", "test_slope.py", "test_line.py"),
        "rigs/line.py",
    }
    assert "far_away" not in (folder / "rigs" / "line.py").read_text()


def test_the_self_check_needs_no_module_of_the_kit_and_no_python_beyond_3_10(course):
    standard = {"__future__", *sys.stdlib_module_names}
    for path, data in contents(*course).items():
        if not path.endswith(".py"):
            continue
        for node in ast.walk(ast.parse(data, path, feature_version=(3, 10))):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for module in modules:
                known = standard | {"torch", "numpy", "pytest", "selfcheck", "slope"}
                assert module.partition(".")[0] in known, f"{path} imports {module}"


def test_only_public_traces_that_public_checks_use_are_shipped(course):
    traces = json.loads(contents(*course)["selfcheck/traces.json"])
    doubled = {
        "where": "Week 1 §1",
        "inputs": {"x": [1.5, -2.25]},
        "values": {"twice": {"value": [3.0, -4.5], "digits": 1}},
    }
    assert traces == {"slope": {"doubled": doubled}, "line": {}}


def test_points_are_told_exactly(course):
    exercises = json.loads(contents(*course)["selfcheck/exercises.json"])["exercises"]
    assert exercises["slope"] == {
        "points": "6",
        "public_points": "5/2",
        "public_checks": 2,
        "course": ["Week 1 §1"],
        "needs": [],
        "forbidden": [],
    }
    readme = contents(*course)["README.md"].decode()
    assert "| `slope.py` | 6 | 2.5 | Week 1 §1 | - |\n| `line.py` | 4 | 1 | Week 1 §2 | `slope` |" in readme
    assert "worth 3.5 of the 10 points. Hidden checks for the other 6.5" in readme


def test_the_manifest_lists_every_other_file_with_its_hash(course):
    files, lines = course
    release(files, lines)
    found = files_in(files.stubs("lines"))
    listed = dict(line.split("  ")[::-1] for line in found.pop("selfcheck/MANIFEST").decode().splitlines())
    assert listed == {path: hashlib.sha256(data).hexdigest() for path, data in found.items()}


def test_the_archive_holds_the_folder(course):
    files, lines = course
    release(files, lines)
    with zipfile.ZipFile(archive_path(files, lines)) as archive:
        held = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    assert held == {f"lines/{path}": data for path, data in files_in(files.stubs("lines")).items()}


def test_the_bytes_depend_on_the_sources_only(tmp_path: Path):
    settings = [
        {"umask": 0o077, "TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONHASHSEED": "1", "PYTHONUTF8": "0"},
        {"umask": 0o000, "TZ": "America/St_Johns", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "2"},
    ]
    results = []
    for i, (umask, *_), setting in ((i, tuple(s.values()), s) for i, s in enumerate(settings)):
        files, lines = small_course(tmp_path / f"{'copy' * (i + 1)}")
        for path in sorted(files.root.rglob("*.py"), reverse=bool(i)):
            os.utime(path, (i * 10**8, i * 10**8))
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **{k: v for k, v in setting.items() if k != "umask"}}
        subprocess.run(
            [sys.executable, "-c", RELEASE, files.root if i else os.path.relpath(files.root, tmp_path)],
            cwd=files.root if i else tmp_path,
            env=environment,
            umask=umask,
            check=True,
        )
        results.append((files_in(files.stubs("lines")), archive_path(files, lines).read_bytes()))
    assert results[0] == results[1]
    assert not any(b"\r" in data for data in results[0][0].values())


def test_windows_line_ends_in_the_sources_change_nothing(tmp_path: Path):
    unix = contents(*small_course(tmp_path / "unix"))
    windows = small_course(tmp_path / "windows")
    for path in windows[0].root.rglob("*.py"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert contents(*windows) == unix


def test_a_second_release_writes_nothing(course):
    release(*course)
    assert release(*course) == []
    assert stale(*course) == []


def test_a_changed_source_makes_the_release_stale_until_it_is_written_again(course):
    files, lines = course
    release(files, lines)
    solution = files.solutions("lines") / "slope.py"
    solution.write_text(SLOPE.replace("x times factor", "x stretched by factor"))
    assert stale(files, lines) == [
        "assignments/lines/selfcheck/MANIFEST differs from what its source gives now",
        "assignments/lines/slope.py differs from what its source gives now",
        "dist/lines.zip holds an earlier release",
    ]
    folder = files.stubs("lines")
    assert release(files, lines) == [folder / "slope.py", folder / "selfcheck/MANIFEST", archive_path(files, lines)]
    assert stale(files, lines) == []


def test_a_change_inside_a_region_does_not_make_it_stale(course):
    files, lines = course
    release(files, lines)
    (files.solutions("lines") / "slope.py").write_text(SLOPE.replace("x * factor", "factor * x"))
    assert stale(files, lines) == []


def test_a_missing_archive_is_not_stale(course):
    release(*course)
    archive_path(*course).unlink()
    assert stale(*course) == []


def test_files_of_an_earlier_release_go_and_all_others_stay(course, tmp_path: Path):
    files, lines = course
    release(files, lines)
    folder = files.stubs("lines")
    (folder / "notes.txt").write_text("mine")
    (folder / "__pycache__").mkdir()
    suite = (
        FILES["tests/suites/lines/test_line.py"]
        .replace("(student, rig)", "(student)", 1)
        .replace("rig.origin()", "torch.zeros(1)")
    )
    small_course(tmp_path, **{"tests/suites/lines/test_line.py": suite})
    assert stale(files, lines)[-2:] == [
        "assignments/lines/rigs/line.py is no longer part of the release",
        "dist/lines.zip holds an earlier release",
    ]
    release(files, lines)
    assert not (folder / "rigs").exists()
    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / "__pycache__").is_dir()


def test_a_file_edited_by_hand_is_replaced_only_by_force(course):
    files, lines = course
    release(files, lines)
    stub = files.stubs("lines") / "slope.py"
    stub.write_text("mine\n")
    assert "assignments/lines/slope.py differs from what its source gives now" in stale(files, lines)
    with pytest.raises(AuthoringError, match=r"edited by hand in assignments/lines: slope\.py; "):
        release(files, lines)
    assert stub.read_text() == "mine\n"
    assert release(files, lines, force=True) == [stub]
    assert stale(files, lines) == []


def test_an_edited_file_that_is_no_longer_released_is_removed_only_by_force(course, tmp_path: Path):
    files, lines = course
    release(files, lines)
    rig = files.stubs("lines") / "rigs" / "line.py"
    rig.write_text("mine\n")
    suite = (
        FILES["tests/suites/lines/test_line.py"]
        .replace("(student, rig)", "(student)", 1)
        .replace("rig.origin()", "torch.zeros(1)")
    )
    small_course(tmp_path, **{"tests/suites/lines/test_line.py": suite})
    with pytest.raises(AuthoringError, match=r"rigs/line\.py"):
        release(files, lines)
    release(files, lines, force=True)
    assert not rig.exists()


def test_a_file_that_was_there_before_the_first_release_is_not_overwritten(course):
    files, lines = course
    files.stubs("lines").mkdir(parents=True)
    (files.stubs("lines") / "README.md").write_text("mine\n")
    with pytest.raises(AuthoringError, match=r"README\.md"):
        release(files, lines)


def test_a_link_is_neither_followed_nor_replaced(course, tmp_path: Path):
    files, lines = course
    release(files, lines)
    stub, elsewhere = files.stubs("lines") / "slope.py", tmp_path / "elsewhere.py"
    elsewhere.write_bytes(stub.read_bytes() + b"# more\n")
    stub.unlink()
    stub.symlink_to(elsewhere)
    with pytest.raises(AuthoringError, match=r"slope\.py"):
        release(files, lines)
    release(files, lines, force=True)
    assert not stub.is_symlink()
    assert elsewhere.read_bytes().endswith(b"# more\n")


def test_a_manifest_cannot_have_files_outside_removed(course, tmp_path: Path):
    files, lines = course
    release(files, lines)
    outside = tmp_path / "assignments" / "other.txt"
    outside.write_bytes(b"x")
    manifest = files.stubs("lines") / "selfcheck" / "MANIFEST"
    digest = hashlib.sha256(b"x").hexdigest()
    manifest.write_text(manifest.read_text() + f"{digest}  ../other.txt\n{digest}  {outside}\nnonsense\n")
    release(files, lines)
    assert outside.exists()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"solutions/lines/slope.py": None}, r"^solutions/lines/slope\.py is missing$"),
        ({"tests/suites/lines/test_line.py": None}, r"^tests/suites/lines/test_line\.py is missing$"),
        ({"tests/suites/lines/rigs/line.py": None}, r"^tests/suites/lines/rigs/line\.py is missing$"),
        (
            {"tests/suites/lines/test_slope.py": '"""Nothing."""\n'},
            r"^tests/suites/lines/test_slope\.py: there is no public check in it",
        ),
        (
            {"tests/suites/lines/test_slope.py": SUITE.replace("(student, rng)", "(student, reference)", 1)},
            r"test_slope\.py:18: a public check cannot use `reference`",
        ),
        (
            {"tests/suites/lines/test_slope.py": SUITE.replace('trace("doubled")', 'trace("secret_point")')},
            r"a public check uses the trace `secret_point`, which reference/traces/slope\.yml keeps from students",
        ),
        (
            {"tests/suites/lines/test_slope.py": SUITE.replace("@pytest.mark.points(2, ", "@pytest.mark.slow(2, ", 1)},
            r"test_slope\.py:12: the first mark of a check is",
        ),
        (
            {"tests/suites/lines/test_slope.py": SUITE.replace("points(2, ", "points(0, ", 1)},
            r"test_slope\.py:11: points must be positive",
        ),
        (
            {"tests/suites/lines/test_slope.py": SUITE.replace("points(2, ", "points(9, ", 1)},
            r"the public checks of slope are worth 19/2 points, the exercise only 6",
        ),
        (
            {"tests/suites/lines/test_slope.py": SUITE.replace("def test_factor_of_one", "def test_by_hand")},
            r"a second check is called test_by_hand",
        ),
        (
            {"solutions/lines/slope.py": SLOPE.replace("### END", "## END")},
            r"^solutions/lines/slope\.py:12: write a marker",
        ),
    ],
)
def test_a_source_at_fault_stops_the_release_with_one_sentence(tmp_path: Path, changed, words: str):
    if None in changed.values():
        files, lines = small_course(tmp_path)
        (tmp_path / next(iter(changed))).unlink()
    else:
        files, lines = small_course(tmp_path, **changed)
    with pytest.raises(AuthoringError, match=words) as error:
        release(files, lines)
    assert "\n" not in str(error.value)
    assert not files.stubs("lines").exists()


def test_data_of_an_assignment_come_along(course):
    files, lines = course
    with_data = lines.model_copy(update={"data": ("points.txt",)})
    with pytest.raises(AuthoringError, match=r"data/points\.txt is missing"):
        release(files, with_data)
    files.data("points.txt").parent.mkdir()
    files.data("points.txt").write_bytes(b"1 2\r\n3 4\n")
    release(files, with_data)
    assert (files.stubs("lines") / "data" / "points.txt").read_bytes() == b"1 2\r\n3 4\n"
    assert "`data/points.txt`" in (files.stubs("lines") / "README.md").read_text("utf-8")
    release(files, lines)
    assert not (files.stubs("lines") / "data").exists()


def test_examples_come_along_as_they_are(tmp_path: Path):
    program = (
        b'"""Draw a line.\n\nAxes: none.\n"""\n\nfrom parts import DOT\n\nif __name__ == "__main__":\n    print(DOT)\n'
    )
    examples = {"draw.py": program, "deeper/parts.py": b'DOT = "."\n', "notes.txt": "one\r\ntwo §\n".encode()}
    left = {"__pycache__/draw.pyc": b"\xff", ".draw.py.swp": b"\xff"}
    files, lines = small_course(tmp_path)
    before = contents(files, lines)
    for path, data in {**examples, **left}.items():
        place = files.examples("lines") / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data.replace(b"\n", b"\r\n") if path.endswith(".py") else data)
    new = contents(files, lines)
    assert {path: data for path, data in new.items() if path not in before} == {
        f"examples/{path}": data for path, data in examples.items()
    }
    assert {path for path in before if new[path] != before[path]} == {"README.md", "selfcheck/MANIFEST"}
    readme = new["README.md"].decode()
    assert "- `python examples/draw.py`: Draw a line.\n" in readme and "parts.py" not in readme
    assert "examples" not in before["README.md"].decode()
    release(files, lines)
    (files.examples("lines") / "draw.py").write_bytes(b"")
    assert "assignments/lines/examples/draw.py differs from what its source gives now" in stale(files, lines)
    for path in files.examples("lines").rglob("*"):
        if path.is_file():
            path.unlink()
    release(files, lines)
    assert not (files.stubs("lines") / "examples").exists()


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("draw.py", "import torch, slope, other, selfcheck.trace\n", None),
        (
            "draw.py",
            "import os\nfrom autograder.suite.checking import agree\n",
            r"examples/draw\.py:2: students do not have `autograder\.suite\.checking`, which this example imports$",
        ),
        ("draw.py", "import matplotlib.pyplot\n", r"draw\.py:1: students do not have `matplotlib\.pyplot`"),
        ("draw.py", "def (:\n", r"^solutions/lines/examples/draw\.py:1: this is not valid Python"),
        ("draw.py", b"x = '\xff'\n", r"^solutions/lines/examples/draw\.py is not UTF-8"),
        ("test_draw.py", "x = 1\n", r"test_draw\.py: pytest would take it for checks of the students"),
        ("draw.py", "### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n", r"examples/draw\.py still has the marker"),
        ("notes.md", "stretched = x * factor\n", r"examples/notes\.md holds a line of the solution of slope"),
    ],
)
def test_an_example_at_fault_or_with_an_answer_stops_the_release(
    course, name: str, text: str | bytes, words: str | None
):
    files, lines = course
    files.examples("lines").mkdir()
    (files.examples("lines") / "other.py").write_text("")
    (files.examples("lines") / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    if words is None:
        assert release(files, lines)
        return
    with pytest.raises(AuthoringError, match=words):
        release(files, lines)
    assert not files.stubs("lines").exists()


def test_assignments_are_current():
    """When this fails: `autograder release ASSIGNMENT`, and commit what it writes."""
    files = CourseFiles(ROOT)
    for assignment in load_course(ROOT).assignments.values():
        assert stale(files, assignment) == []
