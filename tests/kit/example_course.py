"""The exercise that CONTRIBUTING.md shows, as a course of its own."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOLUTION, SUITE = "solutions/week08/running_mean.py", "tests/suites/week08/test_running_mean.py"

_HEAD = """\
id: example
title: A course of one exercise
timezone: UTC
total_sections: 2
weeks:
  - {number: 8, title: Means, sections: [{number: 0, title: Goal}, {number: 1, title: Means}]}
assignments:
  week08:
    title: Means
    points: 5
    deadline: 2027-03-07T23:59:00+00:00
    late_policy: {grace_days: 0, percent_per_day: 10, cap_percent: 50}
    limits: {seconds_per_check: 5, seconds_per_submission: 60, memory_mb: 2048, output_kb: 16}
    exercises:
"""


def example() -> dict[str, str]:
    """The files that CONTRIBUTING.md shows, by path; of course.yml it shows the entry of the exercise."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    return dict(re.findall(r"^`([\w./]+)`\n\n```\w+\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))


def make_course(folder: Path) -> Path:
    """Write the course into `folder`, with two submissions in `class`: the solution and a wrong answer."""
    files = example()
    files["course.yml"] = _HEAD + textwrap.indent(textwrap.dedent(files["course.yml"]), " " * 6)
    files["class/right/running_mean.py"] = files[SOLUTION]
    files["class/wrong/running_mean.py"] = files[SOLUTION].replace("cumsum(dim=1)", "cumsum(dim=0)")
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    return folder
