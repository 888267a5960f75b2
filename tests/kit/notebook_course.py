"""The small course of two exercises with a workbook, real nbgrader over it, and what its database says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from small_course import FILES, small_course

from autograder.authoring import release
from autograder.course import CourseFiles

ROOT = Path(__file__).parents[2]
WORKBOOK = """\
# %% [markdown]
# # Lines, drawn with your own modules

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "solution": false}
import warnings

import torch

# %% nbgrader={"grade": false, "grade_id": "predict", "locked": false, "solution": true}
### BEGIN SOLUTION
guess = "PLANTED_ANSWER_OF_THE_WORKBOOK"
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "slope", "locked": true, "points": 6, "solution": false}
from selfcheck.notebook import check

check("slope")

# %%
from line import Line

print(Line(2.0)(torch.ones(1)))

# %% nbgrader={"grade": true, "grade_id": "line", "locked": true, "points": 4, "solution": false}
from selfcheck.notebook import check

check("line")

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain", "locked": false, "points": 5, "solution": true}
# ### BEGIN SOLUTION
# PLANTED_EXPLANATION
# ### END SOLUTION
"""
MISTAKES = """\
# PLANTED_COMMENT_ON_MISTAKES
ladder: {question: What comes out at zero?, pseudocode: "x times ___"}
mistakes:
  - id: planted_mistake_with_offset
    name: The offset is added to the slope
    hint: What must come out at zero?
    course: Week 1 §1
    edit: [{find: "stretched = x * factor  # [...]", replace: "stretched = x * factor + 1  # PLANTED_MISTAKE"}]
"""
PLANTED = {
    "tests/suites/lines/test_slope.py": (
        'rng.normal(3, 5) + trace("secret_point").value("half")',
        'rng.normal(3, 5) + trace("secret_point").value("half").float() * len("PLANTED_HIDDEN_TEST")',
    ),
    "tests/suites/lines/test_line.py": ("torch.tensor([2e3])", 'torch.tensor([2e3 + 0 * len("PLANTED_EXPECTED")])'),
    "tests/suites/lines/rigs/line.py": ("(1,), 1e3", '(1,), 1e3 + 0 * len("PLANTED_RIG")'),
    "reference/slope.py": ('"""Oracle for `slope`."""', '"""Oracle, PLANTED_REFERENCE."""'),
    "reference/line.py": ("Oracle for `line`", "PLANTED_REFERENCE_OF_LINE"),
    "reference/traces/slope.yml": ("rounded down in the text", "PLANTED_TRACE_NOTE"),
    "reference/stand_ins/slope.py": ('"""Stand-in for `slope`."""', '"""PLANTED_STAND_IN."""'),
    "solutions/lines/slope.py": (
        "stretched = x * factor  # [...]",
        "stretched = x * factor  # [...]  PLANTED_SOLUTION",
    ),
}
"""Strings in what students must not see: file -> a text of it and what stands there instead."""
LIMITS = "limits: {seconds_per_check: 2, seconds_per_submission: 60, memory_mb: 2048, output_kb: 16}"
SHORT = "limits: {seconds_per_check: 0.5, seconds_per_submission: 20, memory_mb: 2048, output_kb: 16}"


def notebook_course(root: Path, **changed: str | None) -> Course:
    """The course in a folder, released by the kit; some files changed (None: left out)."""
    planted = {path: _exchanged(FILES[path], old, new) for path, (old, new) in PLANTED.items()}
    course = _exchanged(FILES["course.yml"], LIMITS, SHORT + "\n    seconds_per_cell: 0.5")
    own = {"course.yml": course, "solutions/workbooks/lines.py": WORKBOOK, "reference/mistakes/slope.yml": MISTAKES}
    config = (ROOT / "nbgrader_config.py").read_text("utf-8")
    files, assignment = small_course(root, **{**planted, **own, "nbgrader_config.py": config, **changed})
    release(files, assignment)
    return Course(files)


def _exchanged(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


Notebook = dict[str, Any]


@dataclass(frozen=True)
class Course:
    """A course that nbgrader is run on."""

    files: CourseFiles
    ran: dict[str, subprocess.CompletedProcess[str]] = field(default_factory=dict)
    """What the command line said, by a name for the command."""
    told: dict[str, Any] = field(default_factory=dict)
    """What the API said."""

    @property
    def root(self) -> Path:
        return self.files.root

    def released(self) -> Notebook:
        """A fresh copy of the students' notebook."""
        found: Notebook = json.loads((self.root / "assignments/lines/lines.ipynb").read_text("utf-8"))
        return found

    def submitted(self, student: str) -> Path:
        return self.root / "submitted/notebooks" / student / "lines"

    def hand_in(
        self, student: str, modules: Mapping[str, str] | None = None, notebook: Notebook | bytes | None = None
    ) -> None:
        """The student's folder as nbgrader wants it, with everything of the release that the student did not touch."""
        folder = self.submitted(student)
        folder.mkdir(parents=True)
        for name, text in (solved() if modules is None else modules).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
        data = notebook if isinstance(notebook, bytes) else json.dumps(notebook or self.released()).encode()
        (folder / "lines.ipynb").write_bytes(data)

    def nbgrader(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """nbgrader's own command line, in the course's folder."""
        paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        # Without rfc3987_syntax, which takes seconds to be imported, and of which nothing here has any use.
        program = "import sys; sys.modules['rfc3987_syntax'] = None; sys.argv[0] = 'nbgrader'"
        program += "; from nbgrader.apps.nbgraderapp import main; main()"
        return subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program, *arguments],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=1800,
        )

    @contextmanager
    def api(self) -> Iterator[Any]:
        """nbgrader in this process, as formgrader's buttons call it."""
        from nbgrader.apps import NbGraderAPI
        from traitlets.config import Config, PyFileConfigLoader

        before = os.getcwd(), os.environ["PATH"]
        os.chdir(self.root)
        try:
            config = Config(PyFileConfigLoader("nbgrader_config.py", str(self.root)).load_config())
            yield NbGraderAPI(config=config)
        finally:
            os.chdir(before[0])
            os.environ["PATH"] = before[1]

    @contextmanager
    def gradebook(self) -> Iterator[Any]:
        from nbgrader.api import Gradebook

        with Gradebook(f"sqlite:///{self.root}/.autograder/gradebook.db", "small") as gradebook:
            yield gradebook

    def scores(self) -> dict[str, dict[str, float | None]]:
        """Student -> cell -> the score that nbgrader's database holds; None where nobody has given one."""
        with self.gradebook() as gradebook:
            return {
                submission.student.id: {
                    grade.name: grade.auto_score if grade.manual_score is None else grade.manual_score
                    for notebook in submission.notebooks
                    for grade in notebook.grades
                }
                for submission in gradebook.find_assignment("lines").submissions
            }

    def waiting(self) -> dict[tuple[str, str], bool]:
        """(student, cell) -> does formgrader say that it needs a person?"""
        with self.gradebook() as gradebook:
            return {
                (submission.student.id, grade.name): grade.needs_manual_grade
                for submission in gradebook.find_assignment("lines").submissions
                for notebook in submission.notebooks
                for grade in notebook.grades
            }

    def autograded(self, student: str) -> Notebook:
        path = self.root / "autograded/notebooks" / student / "lines/lines.ipynb"
        found: Notebook = json.loads(path.read_text("utf-8"))
        return found

    def feedback(self, student: str) -> str:
        return (self.root / "feedback/notebooks" / student / "lines/lines.html").read_text("utf-8")


def solved() -> dict[str, str]:
    """The modules of a student who has them right, in their own words."""
    return {
        "slope.py": "def slope(x, factor):\n    return factor * x\n",
        "line.py": (
            "import torch\nfrom torch import nn\nfrom slope import slope\n\n\nclass Line(nn.Module):\n"
            "    def __init__(self, factor):\n        super().__init__()\n        self.factor = factor\n"
            "        self.offset = nn.Parameter(torch.zeros(()))\n\n"
            "    def forward(self, x):\n        return slope(x, self.factor) + self.offset\n"
        ),
    }


def cell_of(notebook: Notebook, grade_id: str) -> Notebook:
    """The one cell with this grade_id."""
    (found,) = [c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == grade_id]
    return found


def edited_cells(notebook: Notebook, **changes: Callable[[Notebook], Any]) -> Notebook:
    """The notebook, with these cells changed in place."""
    for grade_id, change in changes.items():
        change(cell_of(notebook, grade_id))
    return notebook


def code(source: str) -> Notebook:
    """A code cell without marks."""
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def text(source: str, kind: str = "markdown") -> Notebook:
    return {"cell_type": kind, "metadata": {}, "source": source}


def shown_text(cell: Notebook) -> str:
    """All that a cell's outputs say."""
    found = []
    for output in cell.get("outputs", []):
        said = output.get("text") or output.get("data", {}).get("text/plain") or output.get("traceback", "")
        found.append(said if isinstance(said, str) else "".join(said))
    return "\n".join(found)


def planted() -> set[str]:
    """The strings that must not reach students."""
    sources = "\n".join([*(new for _, new in PLANTED.values()), WORKBOOK, MISTAKES])
    return set(re.findall(r"PLANTED_\w+", sources))
