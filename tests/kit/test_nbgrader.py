"""Real nbgrader on a class of twelve and their less honest friends: one run of its command line, looked at many times."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import quiz_course
from grading import run, sharing_zygotes
from nbgrader.plugins import CsvExportPlugin
from notebook_course import (
    ROOT,
    WORKBOOK,
    Course,
    Notebook,
    cell_of,
    code,
    notebook_course,
    planted,
    shown_text,
    solved,
    text,
)

from autograder.course import load_course
from autograder.grading.batch import Batch
from autograder.intake import collect
from autograder.notebooks.gradebook import write_csv
from autograder.quiz.bank import load_bank

RIGHT = solved()
SHIFTED = {**RIGHT, "slope.py": "def slope(x, factor):\n    return factor * x + 1\n"}
"""A wrong slope; everything that is tried to gain points stands on it."""
TAMPERING = """
import sys
try:
    import autograder.suite.checking as checking
    checking.agree = checking.equal = lambda *a, **k: None
except Exception:
    pass
class Same(float):
    __eq__ = lambda self, other: True
sys.modules["autograder"] = None
"""
LOOP = {**RIGHT, "slope.py": "def slope(x, factor):\n    while True:\n        pass\n"}
LEAVES = {**RIGHT, "slope.py": "import os\n\ndef slope(x, factor):\n    os._exit(0)\n"}
WARNS = {
    **RIGHT,
    "slope.py": "import sys, warnings\nwarnings.warn('old')\nprint('noise', file=sys.stderr)\n" + RIGHT["slope.py"],
}

QUESTIONS = WORKBOOK + "".join(f'\n# %% quiz="{name}"\n' for name in ("s1_drawn", "s2_shape", "s2_name"))
"""The workbook with three questions at its end."""
QUIZ = {
    **quiz_course.QUIZ,
    quiz_course.OFFSET: quiz_course.QUIZ[quiz_course.OFFSET]
    .replace("accept: [offset, intercept at zero]", "accept: [PLANTED_KEY, offset]")
    .replace("why: It is where the line starts.", "why: PLANTED_WHY.")
    .replace("feedback: What stays in place at zero?", "feedback: PLANTED_FEEDBACK?"),
}
QUIZ_SECRETS = (b"PLANTED_KEY", b"PLANTED_WHY", b"PLANTED_FEEDBACK", b"adds_instead", b"looks_at_one")

Work = tuple[dict[str, str], Notebook | bytes | None]


def notebook(course: Course, *more: Notebook, at: int = 2, **sources: str) -> Notebook:
    """The released notebook with some cells put in and the sources of some exchanged."""
    made = course.released()
    for grade_id, source in sources.items():
        cell_of(made, grade_id)["source"] = source
    made["cells"][at:at] = more
    return made


def without(course: Course, *grade_ids: str) -> Notebook:
    made = course.released()
    made["cells"] = [c for c in made["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") not in grade_ids]
    return made


def the_twelve(course: Course) -> dict[str, Work]:
    """The class that the issue lists."""
    return {
        "right": (RIGHT, None),
        "wrong": (SHIFTED, None),
        "tampered_tests": ({**SHIFTED, "test_slope.py": "", "selfcheck/notebook.py": "check = print"}, None),
        "tampered_modules": ({**SHIFTED, "slope.py": TAMPERING + SHIFTED["slope.py"]}, None),
        "extra_numpy": ({**RIGHT, "numpy.py": "raise SystemExit", "torch.py": "1/0", "conftest.py": "1/0"}, None),
        "loop_in_module": (LOOP, None),
        "loop_in_cell": (RIGHT, notebook(course, code("while True: pass"))),
        "os_exit": (LEAVES, notebook(course, code("import os; os._exit(0)"))),
        "warns": (WARNS, notebook(course, code("import warnings; warnings.warn('old')"))),
        "exits": (RIGHT, notebook(course, code("exit()"), code("import sys; sys.exit(1)"), code("quit"))),
        "edited_cells": (RIGHT, notebook(course, setup="1/0", slope="raise SystemExit", line="assert False")),
        "deleted_cells": (RIGHT, without(course, "setup", "slope", "line", "explain")),
    }


AST = """
import ast
class Nothing(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.Pass()
    def visit_Expr(self, node): return ast.Expr(ast.Constant(6.0))
get_ipython().ast_transformers.append(Nothing())
"""
INPUT = "get_ipython().input_transformers_post.append(lambda lines: ['6.0\\n'])"
SILENT = """
import sys
get_ipython().showtraceback = get_ipython()._showtraceback = lambda *a, **k: None
sys.excepthook = lambda *a: None
"""
GRADEBOOK = """
import sqlite3
base = sqlite3.connect({path!r})
base.execute("update grade set auto_score = 6, manual_score = 6")
base.commit()
print("GOT IT")
"""
PATCH = """
import gc, sys
for module in list(sys.modules.values()):
    for name in ("_scored", "total", "determine_grade", "run"):
        if hasattr(module, name):
            try:
                setattr(module, name, lambda *a, **k: {"ok": True, "outputs": [("result", "6.0")]})
            except Exception:
                pass
try:
    import autograder.notebooks.bridge as bridge
    bridge._outputs = lambda *a: []
    print("GOT IT")
except ImportError:
    pass
"""


def forgeries(course: Course) -> dict[str, Work]:
    """Seven ways to make a notebook say that all is well; below each lies the wrong slope."""
    gradebook = course.root / ".autograder/gradebook.db"
    full = {"output_type": "execute_result", "data": {"text/plain": "6.0"}, "metadata": {}, "execution_count": 1}
    printed = notebook(course, code("print('full marks')"), code("6.0"), code("'6.0'"))
    for grade_id in ("slope", "line"):
        cell_of(printed, grade_id)["outputs"] = [full]
    receipt = json.dumps({"exercises": {"slope": 6}, "score": 10, "total": "full marks"})
    fakes = dict.fromkeys(["results.json", "receipt.json", ".autograder/receipts.sqlite", "grades.csv"], receipt)
    bridge = "def _scored(*a): return []\n"
    patches = dict.fromkeys(["autograder/notebooks/bridge.py", "sitecustomize.py", "nbgrader_config.py"], bridge)
    return {
        "replaced_assertions": (SHIFTED, notebook(course, slope="6.0", line="assert True")),
        "ast_transformer": (SHIFTED, notebook(course, code(AST), code(INPUT))),
        "edited_gradebook": (SHIFTED, notebook(course, code(GRADEBOOK.format(path=str(gradebook))))),
        "silenced_traceback": (SHIFTED, notebook(course, code(SILENT))),
        "printed_marks": (SHIFTED, printed),
        "fake_receipt": ({**SHIFTED, **fakes}, None),
        "patched_bridge": ({**SHIFTED, **patches, "autograder/__init__.py": ""}, notebook(course, code(PATCH))),
    }


SCRIPTS = [
    "<script>run_1()</script>",
    "before <img src=x onerror='run_2()'> after **bold**",
    "[click](javascript:run_3())",
    "<iframe srcdoc='<script>run_4()</script>'></iframe>",
    "<svg onload=run_5()></svg> <a href='data:text/html,<script>run_6()</script>'>x</a>",
    "<style>@import 'https://example.org/run_7'</style><form action='https://example.org/run_8'><button>x</button></form>",
    "![pixel](https://example.org/run_9.png) <meta http-equiv=refresh content='0;url=https://example.org/run_10'>",
]
SHOWS = """
from IPython.display import HTML, Javascript, Markdown, SVG, display
display(HTML("<script>run_11()</script>"), Javascript("run_12()"), Markdown("<script>run_13()</script>"))
display({"text/html": "<script>run_14()</script>", "image/svg+xml": "<svg onload=run_15()/>"}, raw=True)
print("<script>run_16()</script>")
raise ValueError("<script>run_17()</script>")
"""
FLOOD = """
import sys
for rig in [m for n, m in sys.modules.items() if hasattr(m, "MAX_CHARACTERS")]:
    rig.MAX_CHARACTERS = rig.MAX_OUTPUTS = 10**9
print("x" * 3_000_000)
"""
TELLS = """
import os, sys, warnings, torch
print(os.getcwd(), __name__, sys.path, sys.argv, sys.executable and "", dict(os.environ))
warnings.warn("where am I")
torch.ones(2) @ torch.ones(3)
"""


def the_answers(course: Course) -> dict[str, Work]:
    """What people write into answer cells, and ways to make the kernel say something else."""
    a, b = drawn_for_the_workbook(course)
    patch = f"s1_drawn, s2_shape, s2_name = {a * b}, [2], 'offset'\n" + AST + SILENT
    full = {"output_type": "execute_result", "data": {"text/plain": "1.0"}, "metadata": {}, "execution_count": 1}
    forged = notebook(
        course,
        code(patch),
        at=99,
        **{"answer-s1_drawn": "s1_drawn = 1", "answer-s2_shape": patch, "quiz-s1_drawn": "1.0", "quiz-s2_shape": "1.0"},
    )
    for name in ("quiz-s1_drawn", "quiz-s2_shape", "quiz-s2_name"):
        cell_of(forged, name)["outputs"] = [full]
    answers = {
        "right": (
            f"s1_drawn = {a} * 0\ns1_drawn = {a * b}",
            "s2_shape = (2,)",
            "s2_name = 'Off-Set'\nraise SystemExit",
        ),
        "wrong": (f"s1_drawn = {a + b}", "s2_shape = '[2, 1]'", "s2_name = 'slope'"),
        "unread": (f"s1_drawn = {a} * {b}", "s2_shape = f(", "name = 'offset'"),
    }
    names = ("answer-s1_drawn", "answer-s2_shape", "answer-s2_name")
    return {
        "forged_answers": (RIGHT, forged),
        **{f"answers_{k}": (RIGHT, notebook(course, **dict(zip(names, v, strict=True)))) for k, v in answers.items()},
    }


def drawn_for_the_workbook(course: Course) -> list[float]:
    bank = load_bank(course.files, load_course(course.root), "lines")
    return list(bank.draw(bank.by_id["s1_drawn"], "workbook").parameters.values())  # type: ignore[arg-type]


def the_odd(course: Course) -> dict[str, Work]:
    """Whatever else people hand in."""
    scripts = notebook(course, *map(text, SCRIPTS), text(SCRIPTS[0], "raw"), code(SHOWS), explain="\n\n".join(SCRIPTS))
    return {
        "scripts": (RIGHT, scripts),
        "surrogates": (
            RIGHT,
            notebook(course, code("print('\\ud800\\x00\\x1b[31m')"), code("'\\udfff'"), code("\ud800")),
        ),
        "floods": (RIGHT, notebook(course, *[code(FLOOD)] * 3)),
        "tells": (RIGHT, notebook(course, code(TELLS))),
        "renamed": (RIGHT, None),
        "unreadable": (RIGHT, b"<!DOCTYPE html><script>run_18()</script>"),
        "only_notebook": ({}, None),
        "only_modules": (RIGHT, None),
        "two_names": (RIGHT, None),
        "links": (RIGHT, None),
        "bad_time": ({**RIGHT, "timestamp.txt": "yesterday, I swear"}, None),
        "asks": (RIGHT, notebook(course, code('n = int(input("size? "))'), code("!pip install x"), code("%cd /"))),
        "text_result": (RIGHT, notebook(course, slope="'full marks'", line="'none'")),
    }


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The class handed in, and nbgrader's own command line run over it."""
    made = notebook_course(tmp_path_factory.mktemp("nbgrader"), **{"solutions/workbooks/lines.py": QUESTIONS, **QUIZ})
    made.ran["generate"] = made.nbgrader("generate_assignment", "lines")
    work = {**the_twelve(made), **forgeries(made), **the_answers(made), **the_odd(made)}
    for student, (modules, handed_in) in work.items():
        mine = {name: f"{text}\n# SECRET_OF_{student}\n" for name, text in modules.items() if name.endswith(".py")}
        made.hand_in(student, {**modules, **mine}, handed_in)
    made.submitted("only_modules").joinpath("lines.ipynb").unlink()
    for student, name in {"renamed": "lines (1)", "two_names": "lines-a"}.items():
        made.submitted(student).joinpath("lines.ipynb").rename(made.submitted(student) / f"{name}.ipynb")
    shutil.copy(made.submitted("two_names") / "lines-a.ipynb", made.submitted("two_names") / "lines-b.ipynb")
    made.submitted("links").joinpath("mine.txt").symlink_to(made.root / "reference/slope.py")
    made.submitted("links").joinpath("all").symlink_to(made.root / "tests")
    made.ran["autograde"] = made.nbgrader("autograde", "lines")
    with made.api() as api:
        made.told["feedback"] = api.generate_feedback("lines")
    return made


STUDENTS = [
    *"right wrong tampered_tests tampered_modules extra_numpy loop_in_module loop_in_cell os_exit warns exits".split(),
    *"edited_cells deleted_cells".split(),
]
FORGERS = (
    "replaced_assertions ast_transformer edited_gradebook silenced_traceback printed_marks fake_receipt patched_bridge"
).split()
ODD = "scripts surrogates floods tells renamed unreadable only_notebook only_modules links bad_time asks".split()
ODD += ["text_result", "two_names"]
ANSWERING = "forged_answers answers_right answers_wrong answers_unread".split()
GRADED = [*STUDENTS, *FORGERS, *ANSWERING, *ODD]


@pytest.fixture(scope="module")
def ours(course: Course) -> dict[str, dict[str, float]]:
    """What `autograder grade` gives for the same folders, with another seed and without the receipts of that run."""
    assignment = load_course(course.root).assignment("lines")
    names = [exercise.name for exercise in assignment.exercises]
    handed_in = []
    for student in GRADED:
        (submission,) = collect([course.submitted(student)], names, "lines")
        handed_in.append(replace(submission, student=student))
    receipts = run(Batch(course.files, "small", assignment, handed_in, 4242))
    return {
        student: {name: float(sum(c.earned for c in checks)) for name, checks in receipt.exercises().items()}
        for student, receipt in receipts.items()
    }


@pytest.fixture(scope="module")
def cells(course: Course) -> dict[str, dict[str, float | None]]:
    """The score of each cell by student."""
    return course.scores()


@pytest.fixture(scope="module")
def scores(cells: dict[str, dict[str, float | None]]) -> dict[str, dict[str, float | None]]:
    """Those of exercises and of answers in words."""
    return {s: {name: v for name, v in found.items() if not name.startswith("quiz-")} for s, found in cells.items()}


def test_the_run_ends_well_and_drops_nobody(course: Course, scores: dict[str, Any]) -> None:
    for done in course.ran.values():
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    assert set(scores) == set(GRADED)
    assert all((course.root / f"autograded/notebooks/{name}/lines/lines.ipynb").is_file() for name in GRADED)


@pytest.mark.parametrize("student", GRADED)
def test_module_scores_are_those_of_our_grader(student: str, scores: dict[str, Any], ours: dict[str, Any]) -> None:
    assert {name: scores[student][name] for name in ("slope", "line")} == ours[student]


def test_the_class_has_the_scores_it_deserves(scores: dict[str, Any]) -> None:
    """The comparison above would not see a fault that both graders share."""
    full = {"slope": 6.0, "line": 4.0, "explain": 0.0}
    for student in (
        "right",
        "extra_numpy",
        "loop_in_cell",
        "warns",
        "exits",
        "edited_cells",
        "deleted_cells",
        "renamed",
    ):
        assert scores[student] == full, student
    assert scores["wrong"] == {**full, "slope": 1.5}
    for student in ("loop_in_module", "os_exit"):
        assert scores[student] == {**full, "slope": 0.0}


@pytest.mark.parametrize("student", ["tampered_tests", "tampered_modules", *FORGERS])
def test_no_forgery_gains_a_point(course: Course, student: str, scores: dict[str, Any]) -> None:
    assert scores[student] == scores["wrong"]
    assert "GOT IT" not in "".join(map(shown_text, course.autograded(student)["cells"]))
    assert shown_text(cell_of(course.autograded(student), "slope")).startswith("slope: 1.5 of 6 points\n")


def test_a_text_as_result_earns_nothing_and_noise_costs_nothing(course: Course, scores: dict[str, Any]) -> None:
    """nbgrader alone gives full marks for a text, and none for anything on stderr."""
    assert scores["text_result"] == scores["right"]
    assert scores["replaced_assertions"]["slope"] == 1.5
    assert any("noise" in shown_text(c) for c in course.autograded("warns")["cells"])
    assert scores["warns"] == scores["right"]


def test_what_follows_a_cell_that_never_ends_is_not_run(course: Course) -> None:
    shown = [shown_text(c) for c in course.autograded("loop_in_cell")["cells"] if c["cell_type"] == "code"]
    assert shown[1] == "did not end within 0.5 seconds"
    assert shown[2].startswith("not run, because an earlier cell did not end")


@pytest.mark.parametrize("student", ["exits", "asks"])
def test_leftovers_of_a_session_do_not_stop_the_notebook(course: Course, student: str) -> None:
    shown = [shown_text(c) for c in course.autograded(student)["cells"]]
    assert any("tensor([2.]" in said for said in shown)
    assert any(("delete the line" in said) for said in shown)


def test_what_cells_show_is_bounded_whatever_they_do_to_the_runner(course: Course) -> None:
    path = course.root / "autograded/notebooks/floods/lines/lines.ipynb"
    assert path.stat().st_size < 60_000
    assert any("[output truncated]" in shown_text(c) for c in course.autograded("floods")["cells"])


def test_mended_notebooks_say_so_and_wait_for_a_person(course: Course) -> None:
    flags = waiting(course)
    for student in ("edited_cells", "deleted_cells", "replaced_assertions", "unreadable"):
        assert "**Mended before grading**" in "".join(course.autograded(student)["cells"][0]["source"])
        assert flags[student, "slope"]
    assert not flags["right", "slope"]
    told = "".join(course.autograded("deleted_cells")["cells"][0]["source"])
    assert all(f"`{name}` was missing" in told for name in ("setup", "slope", "line", "explain"))


def waiting(course: Course) -> dict[tuple[str, str], bool]:
    """(student, cell) -> does formgrader say that it needs a person?"""
    with course.gradebook() as gradebook:
        return {
            (submission.student.id, grade.name): grade.needs_manual_grade
            for submission in gradebook.find_assignment("lines").submissions
            for part in submission.notebooks
            for grade in part.grades
        }


# -- questions of the quiz


@pytest.mark.parametrize(
    ("student", "points"),
    [("right", 0), ("answers_right", 3), ("answers_wrong", 0), ("answers_unread", 0), ("forged_answers", 0)],
)
def test_a_question_earns_what_its_answer_cell_says(student: str, points: int, cells: dict[str, Any]) -> None:
    """Whatever variables, outputs and the cell with the points hold."""
    names = ("quiz-s1_drawn", "quiz-s2_shape", "quiz-s2_name")
    assert [cells[student][name] for name in names] == [points / 3] * 3


def test_answers_that_cannot_be_read_are_asked_back_and_wait_for_a_person(course: Course) -> None:
    told = [
        shown_text(cell_of(course.autograded("answers_unread"), f"quiz-{n}"))
        for n in ("s1_drawn", "s2_shape", "s2_name")
    ]
    assert all("please rewrite" in said for said in told)
    assert '" is not a number; write one, such as 0.125 or 1/8' in told[0]
    assert "the answer cell is no Python" in told[1]
    assert "s2_name is given no value; write it as in" in told[2]
    flags = waiting(course)
    assert flags["answers_unread", "quiz-s2_name"]
    assert not flags["answers_wrong", "quiz-s2_name"]
    assert "nothing was written behind the =" in shown_text(cell_of(course.autograded("right"), "quiz-s2_name"))


def test_feedback_on_an_answer_speaks_of_the_idea_and_not_of_the_key(course: Course) -> None:
    said = shown_text(cell_of(course.autograded("answers_wrong"), "quiz-s2_name"))
    page = course.feedback("answers_wrong")
    for shown in (said, page):
        assert "failed: What is the height at zero called?" in said
        assert "Which of the two is the factor?" in shown


# -- what reaches students


def test_solutions_do_not_reach_the_release_and_stubs_do(course: Course) -> None:
    folder = course.root / "assignments/notebooks/lines"
    assert "raise NotImplementedError" in (folder / "slope.py").read_text("utf-8")
    assert (folder / "selfcheck/notebook.py").is_file()
    ours = {path.name: path.read_bytes() for path in (course.root / "assignments/lines").glob("*.py")}
    assert {path.name: path.read_bytes() for path in folder.glob("*.py")} == ours


@pytest.mark.parametrize("student", ["wrong", "tampered_modules", "fake_receipt"])
def test_no_file_of_a_student_is_overwritten(course: Course, student: str) -> None:
    handed_in = course.submitted(student)
    for path in handed_in.rglob("*.py"):
        graded = course.root / "autograded/notebooks" / student / "lines" / path.relative_to(handed_in)
        assert graded.read_bytes() == path.read_bytes()


def test_a_link_in_a_hand_in_brings_nothing_along(course: Course) -> None:
    """nbgrader follows links when it copies: into the graded folder, and from there into the feedback."""
    for step in ("submitted", "autograded", "feedback"):
        assert {p.name for p in (course.root / step / "notebooks/links/lines").iterdir()} <= {
            "slope.py", "line.py", "lines.ipynb", "lines.html",
        }  # fmt: skip
    assert "mine.txt was a link to" in course.ran["autograde"].stderr


def test_planted_strings_reach_nobody(course: Course) -> None:
    """What stands in hidden tests, references, traces, mistakes and answers; other students; folders of the machine."""
    with course.gradebook() as gradebook:
        CsvExportPlugin(to=str(course.root / "grades.csv")).export(gradebook)
        write_csv(gradebook, load_course(course.root).assignment("lines"), course.root / "lines.csv")
    names = [*(name.encode() for name in planted()), *(b"SECRET_OF_" + name.encode() for name in GRADED)]
    names += QUIZ_SECRETS
    assert len(names) >= 12 + len(GRADED)
    own = [str(course.root).encode(), str(Path(__file__).parents[2]).encode()]
    looked_at = 0
    for top in ("assignments", "autograded", "feedback"):
        for path in (path for path in (course.root / top).rglob("*") if path.is_file()):
            found, student = path.read_bytes(), path.relative_to(course.root).parts[2]
            allowed = {b"SECRET_OF_" + student.encode()} | (set(own) if student == "edited_gradebook" else set())
            assert [name for name in (*names, *own) if name in found and name not in allowed] == [], path
            looked_at += 1
    assert looked_at > 100
    exported = (course.root / "grades.csv").read_bytes() + (course.root / "lines.csv").read_bytes()
    assert not [name for name in (*names, *own) if name in exported]


def pages(course: Course, student: str) -> dict[str, str]:
    """What a student's notebook looks like as feedback, and in formgrader as nbgrader's own handler renders it."""
    from nbconvert.exporters import HTMLExporter
    from nbgrader.server_extensions.formgrader import handlers

    with course.api() as api:
        config = api.config
        config.HTMLExporter.template_name = "formgrade"
        config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
        path = course.root / "autograded/notebooks" / student / "lines/lines.ipynb"
        told = {"index": 0, "total": 1, "base_url": "/", "notebook_path": "x", "submission_id": "s"}
        ids = {"assignment_id": "lines", "notebook_id": "lines", "student": student, "first_name": "", "last_name": ""}
        form, _ = HTMLExporter(config=config).from_filename(str(path), resources={**told, **ids})
    return {"feedback": course.feedback(student), "formgrader": form}


class Running(HTMLParser):
    """Collects what a browser would run or fetch because of a page; a link to the web does nothing by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._in_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_script = tag in ("script", "style")
        is_link = tag == "a" and all((value or "").startswith("https://") for name, value in attrs if name == "href")
        self.found += [f"{tag} {n}={v}" for n, v in attrs if "run_" in (v or "") and not (is_link and n == "href")]

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script and "run_" in data:
            self.found.append(data)


def test_nothing_that_a_student_wrote_runs_in_a_page(course: Course) -> None:
    for name, page in pages(course, "scripts").items():
        parser = Running()
        parser.feed(page)
        assert parser.found == [], name
        assert "<strong>bold</strong>" in page
        assert "<h1>Lines, drawn with your own modules" in page


# -- folders that nbgrader has trouble with


def test_a_bad_timestamp_does_not_end_the_run_of_the_class(course: Course, scores: dict[str, Any]) -> None:
    assert scores["bad_time"] == scores["right"]
    assert "timestamp.txt holds no time; it is not used" in course.ran["autograde"].stderr


def test_a_notebook_under_another_name_is_graded(course: Course, scores: dict[str, Any]) -> None:
    assert scores["renamed"] == scores["right"]
    assert (course.submitted("renamed") / "lines (1).ipynb").is_file()


@pytest.mark.parametrize("student", ["only_modules", "two_names"])
def test_who_handed_in_no_notebook_has_a_row_that_says_so(course: Course, student: str, scores: dict[str, Any]) -> None:
    """nbgrader alone passes over the one, and gives the other an error for a row without scores."""
    assert scores[student] == scores["right"]
    told = "".join(course.autograded(student)["cells"][0]["source"])
    assert "there is no notebook, or none of the released name" in told
    assert waiting(course)[student, "slope"]
    assert not (course.submitted(student) / "lines.ipynb").exists(), "nothing is written where students hand in"
    assert f"{student}, lines: there is no notebook" in course.ran["autograde"].stderr


def test_a_notebook_without_modules_is_told_what_is_missing(course: Course, scores: dict[str, Any]) -> None:
    assert scores["only_notebook"] == {"slope": 0.0, "line": 0.0, "explain": 0.0}
    assert "slope.py was not handed in" in shown_text(cell_of(course.autograded("only_notebook"), "slope"))


# -- the configuration


def test_our_configuration_is_in_force(course: Course) -> None:
    assert (course.root / ".autograder/gradebook.db").is_file()
    assert not (course.root / "gradebook.db").exists()
    assert not (course.root / "autograded/right").exists()
    with course.api() as api:
        from nbgrader.converters import Autograde

        converter = Autograde(coursedir=api.coursedir, parent=api)
        names = [getattr(step, "__name__", str(step)).rpartition(".")[2] for step in converter.autograde_preprocessors]
    assert names.index("GradeModules") == names.index("SaveAutoGrades") - 1
    assert "Execute" not in names


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


# -- regrades, and faults that are no student's


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
    assert waiting(small)["ada", "slope"]


def test_a_module_beside_the_source_notebook_is_refused(small: Course) -> None:
    """nbgrader would give it to students, and write it over theirs before grading."""
    (small.root / "solutions/notebooks/lines/slope.py").write_text("# PLANTED\n")
    with small.api() as api:
        told = api.generate_assignment("lines")
    assert not told["success"]
    assert "solutions/notebooks/lines/slope.py would be given to students" in told["log"]
    assert not (small.root / "assignments/notebooks/lines/slope.py").exists()
