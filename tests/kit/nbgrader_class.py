"""A class of twelve and their less honest friends, for a run of real nbgrader: who hands in what."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import quiz_course
from notebook_course import WORKBOOK, Course, Notebook, cell_of, code, notebook_course, solved, text

from autograder.course import load_course
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


def handed_in_class(root: Path) -> Course:
    """The course in a folder, its assignment generated, and everybody's work where nbgrader looks for it."""
    made = notebook_course(root, **{"solutions/workbooks/lines.py": QUESTIONS, **QUIZ})
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
    return made


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
    return list(quiz_course.draw_of(bank, "s1_drawn", "workbook").parameters.values())


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
