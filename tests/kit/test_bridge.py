"""Our steps in nbgrader's chain, one at a time: what becomes of outputs, points and faults. No worker, no database."""

from __future__ import annotations

import base64
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.utils import compute_checksum, determine_grade, is_ignored
from traitlets.config import Config

from autograder.course import Assignment, load_course
from autograder.grading.errors import GradingError
from autograder.grading.receipt import CheckResult
from autograder.intake import Submission
from autograder.notebooks import bench as benches
from autograder.notebooks import bridge, graded
from autograder.notebooks.bench import Bench
from autograder.notebooks.config import configure
from autograder.notebooks.runner import CellRun
from autograder.sandbox.host.errors import SandboxError

ROOT = Path(__file__).parents[2]
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def assignment() -> Assignment:
    return load_course(ROOT).assignment("week08")


def graded_cell(name: str = "layer_norm", points: float = 10, **marks: Any) -> NotebookNode:
    given = {"grade_id": name, "grade": True, "solution": False, "task": False, "locked": True, "points": points}
    return new_code_cell("check()", metadata={"nbgrader": {**given, "schema_version": 3, **marks}})


def check(earned: str, points: str) -> CheckResult:
    return CheckResult("layer_norm::t", "layer_norm", "a title", True, Fraction(points), "-", Fraction(earned))


class _Bench:
    """Has graded and run already."""

    def __init__(self, checks: list[CheckResult]) -> None:
        self._checks = checks
        self.ran: list[str] = []

    def run(self, assignment: Assignment, cells: list[str], submission: Submission) -> list[CellRun]:
        self.ran += cells
        return [CellRun("ran", (("stdout", cell),)) for cell in cells]

    def receipt(self, assignment: Assignment, submission: Submission) -> Any:
        return SimpleNamespace(exercises=lambda: {"layer_norm": self._checks}, checks=self._checks, diagnoses={})

    def withheld(self, assignment: Assignment, student: str) -> str:
        return ""

    def judge(self, assignment: Assignment) -> str:
        return "the same"


def stepped(
    monkeypatch: pytest.MonkeyPatch, kind: type, work: Any, *cells: NotebookNode, config: Config | None = None
) -> tuple[_Bench, dict[str, Any]]:
    """Have a step of ours change these cells; the bench it used, and nbgrader's notes."""
    bench = _Bench([check("1", "2"), check("2", "2")])
    monkeypatch.setattr(kind, "submission", lambda self, resources: work)
    monkeypatch.setattr(kind, "bench", bench)
    marks: dict[str, Any] = {"assignment": "week08", "student": "ana"}
    kind(config=config or Config()).step(new_notebook(cells=list(cells)), {"nbgrader": marks})
    return bench, marks


def test_an_exercise_gets_its_share_of_the_points_of_its_cell(
    monkeypatch: pytest.MonkeyPatch, assignment: Assignment
) -> None:
    """And nothing that stood there before."""
    cell = graded_cell(points=10)
    cell.outputs = [new_output("execute_result", {"text/plain": "10.0"})]
    stepped(monkeypatch, bridge.GradeModules, (assignment, Submission("ana")), cell)
    assert determine_grade(cell) == (7.5, 10)
    assert cell.outputs[0].data["text/plain"].startswith("layer_norm: 3 of 4 points\n  1/2  -: a title")


@pytest.mark.parametrize("cell", [graded_cell("no_exercise"), graded_cell("layer_norm")])
def test_a_cell_that_nothing_grades_is_a_fault_of_the_course(
    monkeypatch: pytest.MonkeyPatch, assignment: Assignment, cell: NotebookNode
) -> None:
    """nbgrader would give full marks for a cell without outputs."""
    known = cell.metadata.nbgrader["grade_id"] == "layer_norm"
    work = None if known else (assignment, Submission("ana"))
    sentence = "week08 is no assignment of course.yml" if known else "the cell no_exercise is no exercise of course.yml"
    with pytest.raises(GradingError, match=sentence):
        stepped(monkeypatch, bridge.GradeModules, work, cell)


def test_a_notebook_of_another_assignment_without_graded_code_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    cell, text = new_code_cell("1"), new_markdown_cell("x", metadata=graded_cell(solution=True).metadata)
    for kind in (bridge.GradeModules, bridge.RunCells):
        assert stepped(monkeypatch, kind, None, cell, text)[0].ran == []
    assert cell.outputs == []


def test_what_a_person_reads_is_known_by_the_released_text_above_it_and_not_by_a_students() -> None:
    question, written = graded_cell(grade=False), graded_cell("explain", 5, solution=True, locked=False)
    asks = new_markdown_cell("Stop 9.\n### Explain 1: why? (5 points)\n- one", metadata=question.metadata)
    answer = new_markdown_cell("Because.", metadata=written.metadata)
    task = new_markdown_cell("Draw it.", metadata=graded_cell("draw", 2.5, grade=False, task=True).metadata)
    cells = [asks, new_markdown_cell("# Full marks"), answer, task, graded_cell()]
    assert [graded.is_for_a_person(cell) for cell in cells[2:]] == [True, True, False]
    assert [graded.asked_above(cells, place) for place in (0, 2)] == ["", "Explain 1: why?"]
    assert [graded.written_in(cell) for cell in (answer, task)] == ["Because.", ""]
    assert graded.points_of(task) == Fraction(5, 2)
    answer.metadata.nbgrader["checksum"] = compute_checksum(answer)
    assert graded.written_in(answer) is None


@pytest.mark.parametrize("enabled", [True, False])
def test_cells_run_but_those_that_are_graded_and_none_where_nbgrader_is_told_so(
    monkeypatch: pytest.MonkeyPatch, assignment: Assignment, enabled: bool
) -> None:
    """`nbgrader autograde --no-execute` sets Execute.enabled."""
    cells = [new_code_cell("a"), graded_cell(), new_markdown_cell("b"), new_code_cell("c")]
    work = assignment, Submission("ana")
    config = Config() if enabled else Config({"Execute": {"enabled": False}})
    bench, _ = stepped(monkeypatch, bridge.RunCells, work, *cells, config=config)
    assert bench.ran == (["a", "c"] if enabled else [])
    shown = [[output.text for output in cell.outputs] for cell in (cells[0], cells[1], cells[3])]
    assert shown == ([["a"], [], ["c"]] if enabled else [[], [], []])


def test_what_a_cell_showed_is_kept_as_a_notebook_keeps_it() -> None:
    shown = (
        ("stderr", "warned"),
        ("picture", PNG),
        ("result", "2"),
        ("display", "a text"),
        ("error", "ValueError\nTraceback\n  line 1\nValueError: no"),
    )
    stream, picture, result, display, error, end = bridge.outputs_of(CellRun("timed out", shown, "did not end"), 3)
    assert (stream.output_type, stream.name, stream.text) == ("stream", "stderr", "warned")
    assert base64.b64decode(picture.data["image/png"]) == PNG
    assert (result.output_type, result.execution_count, result.data) == ("execute_result", 3, {"text/plain": "2"})
    assert (display.output_type, display.data) == ("display_data", {"text/plain": "a text"})
    assert (error.ename, error.evalue, error.traceback[1]) == ("ValueError", "no", "  line 1")
    assert (end.output_type, end.ename, end.evalue) == ("error", "timed out", "did not end")


@pytest.mark.parametrize(
    "name", ["a.html", "A.HTM", "a.xhtml", "a.shtml", "a.svg", "a.SVGZ", "a.xml", "a.xsl", "a.mht", "a.htm.bak"]
)
def test_pages_of_students_are_not_copied_to_where_formgrader_serves_them(tmp_path: Path, name: str) -> None:
    (tmp_path / "course.yml").write_bytes((ROOT / "course.yml").read_bytes())
    config = Config()
    configure(config, tmp_path)
    for path in (tmp_path / name, tmp_path / "slope.py", tmp_path / "picture.png"):
        path.write_text("")
    assert is_ignored(str(tmp_path / name), config.CourseDirectory.ignore)
    assert not is_ignored(str(tmp_path / "slope.py"), config.CourseDirectory.ignore)
    assert not is_ignored(str(tmp_path / "picture.png"), config.CourseDirectory.ignore)


@pytest.mark.parametrize("failures", [1, 2])
def test_when_the_sandbox_fails_cells_are_run_once_more_in_another(
    monkeypatch: pytest.MonkeyPatch, assignment: Assignment, failures: int
) -> None:
    class Ended:
        def __init__(self, **how: Any) -> None:
            pass

        def __enter__(self) -> Ended:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    seen: list[Any] = []

    def run_cells(zygote: Any, *_: Any) -> list[CellRun]:
        seen.append(zygote)
        if len(seen) <= failures:
            raise SandboxError("it ended")
        return [CellRun("ran")]

    monkeypatch.setattr(benches, "_SharedZygote", Ended)
    monkeypatch.setattr(benches, "run_cells", run_cells)
    bench = Bench(ROOT)
    if failures == 1:
        assert bench.run(assignment, ["1"], Submission("ana")) == [CellRun("ran")]
    else:
        with pytest.raises(GradingError, match="notebooks cannot be run: it ended"):
            bench.run(assignment, ["1"], Submission("ana"))
    assert len(set(seen)) == 2


def test_prepared_cells_are_not_run_again_and_only_for_the_same_work(
    monkeypatch: pytest.MonkeyPatch, assignment: Assignment
) -> None:
    ran: list[str] = []

    def run_cells(_: Any, cells: list[str], *__: Any) -> list[CellRun]:
        ran.extend(cells)
        return [CellRun("ran", (("stdout", cell),)) for cell in cells]

    monkeypatch.setattr(Bench, "_zygote_of_cells", lambda self: None)
    monkeypatch.setattr(benches, "run_cells", run_cells)
    bench = Bench(ROOT)
    bench.prepare(assignment, ["a", "b"], Submission("ana"))
    assert [run.shown[0][1] for run in bench.run(assignment, ["a", "b"], Submission("ana"))] == ["a", "b"]
    assert ran == ["a", "b"]
    bench.prepare(assignment, ["a"], Submission("ana"))
    for cells, student in ((["b"], "ana"), (["a"], "ben")):
        bench.run(assignment, cells, Submission(student))
    assert ran == ["a", "b", "a", "b", "a"]
