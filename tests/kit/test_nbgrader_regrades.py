"""Real nbgrader on a class of three: regrades, and faults that are no student's."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grading import sharing_zygotes
from notebook_course import ROOT, Course, notebook_course

from autograder.grading.store import Store


@pytest.fixture(scope="module")
def ungraded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Course, Path]:
    """Three students in a course of their own, generated but not graded, and a copy of it."""
    made = notebook_course(tmp_path_factory.mktemp("small") / "course")
    for student in ("ada", "bob", "cyd"):
        made.hand_in(student)
    with made.api() as api:
        generated = api.generate_assignment("lines")
        assert generated["success"], generated
    copy = made.root.with_name("copy")
    shutil.copytree(made.root, copy)
    return made, copy


@pytest.fixture
def small(ungraded: tuple[Course, Path]) -> Iterator[Course]:
    """That course, put back as it was after the test; only receipts of work that was graded stay, as they may."""
    made, copy = ungraded
    yield made
    for path in made.root.iterdir():
        if path.name == ".autograder":
            shutil.copy2(copy / ".autograder/gradebook.db", path)
        elif path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    shutil.copytree(copy, made.root, ignore=shutil.ignore_patterns(".autograder"), dirs_exist_ok=True)


def regrade(course: Course, student: str = "*") -> dict[str, Any]:
    with sharing_zygotes(), course.api() as api:
        told: dict[str, Any] = api.autograde("lines", student)
    return told


def test_manual_scores_survive_a_regrade(small: Course) -> None:
    assert regrade(small, "ada")["success"]
    with small.gradebook() as gradebook:
        for name, points in (("explain", 4.5), ("slope", 2.0)):
            gradebook.find_grade(name, "lines", "lines", "ada").manual_score = points
        gradebook.find_comment("explain", "lines", "lines", "ada").manual_comment = "well put"
        gradebook.db.commit()
    assert regrade(small, "ada")["success"]
    with Store.in_course(small.root) as store:
        assert len(store.history("lines/notebook", "ada")) == 1, "the same answers have one receipt"
    assert small.scores()["ada"] == {"slope": 2.0, "line": 4.0, "explain": 4.5}
    with small.gradebook() as gradebook:
        assert gradebook.find_grade("slope", "lines", "lines", "ada").auto_score == 6.0
        assert gradebook.find_comment("explain", "lines", "lines", "ada").manual_comment == "well put"


def test_a_broken_suite_stops_the_run_with_one_sentence_and_scores_nobody(small: Course) -> None:
    suite = small.files.suite_file("lines", "slope")
    good = suite.read_text("utf-8")
    suite.write_text("import no_such_module\n" + good)
    told = regrade(small)
    assert not told["success"]
    assert len([line for line in told["log"].splitlines() if line.endswith("nothing more is done")]) == 1
    assert "Traceback" not in told["log"]
    assert {name for name, found in small.scores().items() if any(v is not None for v in found.values())} == set()
    assert not list((small.root / "autograded").rglob("*.ipynb"))
    suite.write_text(good)
    assert regrade(small)["success"]
    assert [found["slope"] for found in small.scores().values()] == [6.0, 6.0, 6.0]


def test_a_cell_that_is_no_exercise_stops_the_run(small: Course) -> None:
    """As when course.yml was changed after the assignment was generated; nbgrader would give full marks."""
    path = small.root / "course.yml"
    path.write_text(path.read_text("utf-8").replace("name: line, points: 4", "name: curve, points: 4"))
    for folder, name in (("solutions/lines", ".py"), ("reference", ".py"), ("reference/stand_ins", ".py")):
        if (old := small.root / folder / f"line{name}").exists():
            old.rename(old.with_name(f"curve{name}"))
    small.files.suite_file("lines", "line").rename(small.files.suite_file("lines", "curve"))
    small.files.rig("lines", "line").rename(small.files.rig("lines", "curve"))
    told = regrade(small, "ada")
    assert not told["success"]
    assert "nothing more is done" in told["log"]
    assert all(value is None for value in small.scores()["ada"].values())


def test_an_unforeseen_fault_costs_one_student_no_score_and_the_others_nothing(
    small: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autograder.notebooks.bench import Bench

    receipt = Bench.receipt

    def fails_for_bob(self: Bench, assignment: Any, submission: Any) -> Any:
        if submission.student == "bob":
            raise ZeroDivisionError
        return receipt(self, assignment, submission)

    monkeypatch.setattr(Bench, "receipt", fails_for_bob)
    assert not regrade(small)["success"]
    found = small.scores()
    assert found["ada"]["slope"] == found["cyd"]["slope"] == 6.0
    assert found["bob"]["slope"] is None


def test_a_check_in_trouble_leaves_its_exercise_without_a_score(small: Course) -> None:
    """Grader trouble is neither a 0 nor full marks: the cell waits for a person."""
    suite = small.files.suite_file("lines", "slope")
    text = suite.read_text("utf-8")
    suite.write_text(text.replace("    x = rng.normal(2, 3)\n", "    x = rng.normal(2, 3)\n    1 / 0\n"))
    assert regrade(small, "ada")["success"]
    assert small.scores()["ada"] == {"slope": None, "line": 4.0, "explain": 0.0}
    assert small.waiting()["ada", "slope"]


def test_a_module_beside_the_source_notebook_is_refused(small: Course) -> None:
    """nbgrader would give it to students, and write it over theirs before grading."""
    (small.root / "solutions/notebooks/lines/slope.py").write_text("# PLANTED\n")
    with small.api() as api:
        told = api.generate_assignment("lines")
    assert not told["success"]
    assert "solutions/notebooks/lines/slope.py would be given to students" in told["log"]
    assert not (small.root / "assignments/notebooks/lines/slope.py").exists()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"course.yml": "id: ["}, "nbgrader cannot be used on this course"),
        ({}, "only with its kit installed beside it"),
    ],
)
def test_a_broken_configuration_is_not_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, str], sentence: str
) -> None:
    """nbgrader logs what its configuration raises, and goes on without it; the end of the program it cannot ignore."""
    (tmp_path / "nbgrader_config.py").write_bytes((ROOT / "nbgrader_config.py").read_bytes())
    for name, content in change.items():
        (tmp_path / name).write_text(content)
    if not change:
        monkeypatch.setitem(sys.modules, "autograder.notebooks.config", None)
    monkeypatch.chdir(tmp_path)
    from nbgrader.apps import NbGraderApp

    with pytest.raises(SystemExit) as ended:
        NbGraderApp().load_config_file()
    assert sentence in str(ended.value)
