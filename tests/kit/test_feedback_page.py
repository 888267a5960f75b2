"""What must never be on a feedback page, and what must."""

from __future__ import annotations

import base64
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.notebooks.feedback.page import Heading, page

HOSTILE = """<script>x()</script> <img src=x onerror=x()> [a](javascript:x()) [b](evil.html) [c](data:text/html,x)
![p](https://example.org/p.png) <iframe srcdoc="x"></iframe> **bold** $a_b<b>$"""
LINES = """layer_norm: 1 of 2 points
  1/1  passed: normalizes a row
  0/1  failed: hidden: also <b>narrow</b> rows
      3 of 4 values differ
  looks like: the sample variance (Week 8 §9)
      What is divided by?"""


def shown(*cells: object) -> str:
    return page(new_notebook(cells=list(cells)), Heading("Week 8", "<i>mira</i>", 1, 2, 0), Path("/a/course"))


def marks(**more: object) -> dict[str, object]:
    given = {"grade_id": "layer_norm", "grade": True, "solution": False, "score": 1.0, "points": 2.0}
    return {"nbgrader": {**given, "open": False, "by_hand": False, "locked": True, **more}}


def test_points_checks_and_the_mistake_are_told() -> None:
    cell = new_code_cell("check()", metadata=marks(), outputs=[new_output("display_data", {"text/plain": LINES})])
    html = shown(cell)
    for part in ("1 of 2", "normalizes a row", "3 of 4 values differ", "Looks like: the sample variance", "divided by"):
        assert part in html
    assert "hidden check" in html and "&lt;b&gt;narrow" in html and "&lt;i&gt;mira" in html


def test_an_answer_nobody_has_read_is_no_zero() -> None:
    html = shown(new_markdown_cell("Because.", metadata=marks(solution=True, open=True, score=0.0, comment="")))
    assert "not read yet, of 2" in html and "0 of 2" not in html


@pytest.mark.parametrize("as_comment", [False, True])
def test_what_somebody_wrote_neither_runs_nor_loads_anything(as_comment: bool) -> None:
    source, comment = ("x", HOSTILE) if as_comment else (HOSTILE, "")
    html = shown(new_markdown_cell(source, metadata=marks(solution=True, comment=comment)))
    assert "<script" not in html and "<img" not in html and "<iframe" not in html
    assert 'href="javascript' not in html and 'href="evil' not in html and 'href="data' not in html
    assert "<strong>bold</strong>" in html and "$a_b&lt;b&gt;$" in html


def test_only_text_and_real_pngs_of_outputs_are_shown() -> None:
    data = {
        "text/html": HOSTILE,
        "application/javascript": "x()",
        "image/svg+xml": "<svg onload=x()>",
        "text/plain": "t",
    }
    fake = base64.b64encode(b"<svg onload=x()>").decode()
    outputs = [new_output("display_data", data), new_output("display_data", {"image/png": fake, "text/plain": "<u>"})]
    html = shown(new_code_cell("'<script>'", outputs=outputs))
    assert "onload" not in html and "<script" not in html and "<img" not in html and "&lt;u&gt;" in html


def test_places_on_this_machine_are_left_out() -> None:
    text = f"\x1b[31m{sys.prefix}/lib /a/course/solutions\x1b[0m"
    html = shown(new_code_cell("x", outputs=[new_output("stream", name="stdout", text=text)]))
    assert sys.prefix not in html and "/a/course" not in html and "\x1b" not in html
