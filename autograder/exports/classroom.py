"""A workflow for GitHub Classroom: the public checks, in the student's own repository, with their points.

It belongs into the repository that students' ones are made from, beside the released files. What runs there is theirs
to change, so hidden checks must not be there, and what it reports is practice; grades come from `autograder grade`
over the clones of all repositories. Classroom gives the points of a step or none: a step for each exercise is as fine
as it gets.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import yaml

from autograder.authoring.contents import read_source, shown
from autograder.authoring.cut import public_part
from autograder.authoring.public import read_public
from autograder.course import Assignment, CourseFiles
from autograder.exports.standing import Exported, number

PATH = ".github/workflows/classroom.yml"
_HEAD = """\
# Public checks of {title}: practice, not the grade. Hidden checks run when your instructor grades.
# Written by `autograder export classroom {id}`; it belongs into the root of the template repository, beside the
# released files.
"""
_GRADER = "classroom-resources/autograding-command-grader@v1"
_REPORTER = "classroom-resources/autograding-grading-reporter@v1"


def classroom(files: CourseFiles, assignment: Assignment) -> Exported:
    """The workflow. Raises AuthoringError when a suite is missing or at fault."""
    graded = {e.name: points for e in assignment.exercises if (points := _public_points(files, assignment, e.name))}
    steps: list[dict[str, Any]] = [
        {"uses": "actions/checkout@v4"},
        {"uses": "actions/setup-python@v5", "with": {"python-version": "3.12"}},
        {"name": "What the checks need", "run": "python -m pip install torch numpy pytest"},
        *(_step(name, points) for name, points in graded.items()),
        {"name": "How far you are", "if": "always()", "run": 'python -m selfcheck progress >> "$GITHUB_STEP_SUMMARY"'},
        {
            "name": "Points for Classroom",
            "if": "always()",
            "uses": _REPORTER,
            "env": {f"{name.upper()}_RESULTS": f"${{{{ steps.{name}.outputs.result }}}}" for name in graded},
            "with": {"runners": ",".join(graded)},
        },
    ]
    workflow = {
        "name": "Public checks",
        "on": ["push", "workflow_dispatch"],
        "permissions": {"checks": "write", "actions": "read", "contents": "read"},
        "jobs": {
            "checks": {"runs-on": "ubuntu-latest", "if": "github.actor != 'github-classroom[bot]'", "steps": steps}
        },
    }
    head = _HEAD.format(title=" ".join(assignment.title.split()), id=assignment.id)
    text = head + yaml.safe_dump(workflow, sort_keys=False, allow_unicode=True, width=120)
    remark = f"commit it with the content of assignments/{assignment.id}/ as the template of the Classroom assignment"
    return Exported({PATH: text.encode()}, (remark,))


def _step(exercise: str, points: Fraction) -> dict[str, Any]:
    given = {"test-name": exercise, "command": f"python -m pytest -q test_{exercise}.py", "timeout": 5}
    return {"name": exercise, "id": exercise, "uses": _GRADER, "with": {**given, "max-score": number(points)}}


def _public_points(files: CourseFiles, assignment: Assignment, exercise: str) -> Fraction:
    suite = files.suite_file(assignment.id, exercise)
    name = shown(files, suite)
    return sum(read_public(public_part(read_source(files, suite), name), name).points.values(), Fraction(0))
