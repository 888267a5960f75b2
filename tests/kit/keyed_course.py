"""The small course with another quiz, whose secrets stand nowhere else: a search for them proves something (B36).

Tests that change a question find one of each type in `quiz_course`.
"""

from __future__ import annotations

from pathlib import Path

from quiz_course import IDEAS, OFFSET, SLOPE
from small_course import small_course

from autograder.course import Assignment, CourseFiles

WHY = "Each row by itself is what layer norm looks at, and one eighth is what is left of it."
FEEDBACK = "Which rows would have to be known before this one could be computed?"
IDEA = "looks_at_all_rows"

KEYED: dict[str, str] = {
    SLOPE: f"""\
course: Week 1 §1
items:
  - id: q_choice
    type: single
    aspect: concept
    prompt: Which rows count for the slope?
    options:
      - {{text: all rows of the prompt, misconception: {IDEA}, feedback: "{FEEDBACK}"}}
      - {{text: the row by itself, key: true, feedback: One row at a time is enough here.}}
      - {{text: the first row only, misconception: {IDEA}, feedback: The others have a slope as well.}}
    why: {WHY}
  - id: q_number
    type: number
    aspect: number
    prompt: What is $\\frac{{1}}{{8}}$ as a decimal number?
    key: {{value: 1 / 8, tolerance: 0.001}}
    wrong: [{{value: 1 / 7919, misconception: {IDEA}, feedback: The numerator is divided by the denominator.}}]
    why: {WHY}
  - id: q_text
    type: text
    aspect: misconception
    prompt: What looks at each row by itself?
    key: {{accept: [layer norm, row-wise normalization]}}
    wrong: [{{text: batch norm, misconception: {IDEA}, feedback: That one looks along the batch.}}]
    why: {WHY}
  - id: q_drawn
    type: number
    aspect: number
    parameters: {{C: [8, 16, 32, 64], H: [2, 4]}}
    prompt: A model of width {{C}} has {{H}} heads. How wide is one?
    key: {{value: C / H, tolerance: 0}}
    wrong: [{{value: C, misconception: {IDEA}, feedback: The heads share the width among them.}}]
    why: {WHY}
""",
    OFFSET: f"""\
course: Week 1 §2
items:
  - id: q_several
    type: multiple
    aspect: concept
    prompt: "Which of these are **offsets**?"
    options:
      - {{text: the β of a norm, key: true, feedback: It is added.}}
      - {{text: the b of a line, key: true, feedback: It is added too.}}
      - {{text: the γ of a norm, misconception: {IDEA}, feedback: It is a factor.}}
    scoring: right_minus_wrong
    why: {WHY}
  - id: q_shape
    type: shape
    aspect: number
    prompt: Which shape has `x[None]` where $x_0$ has the shape `[2, 4]`?
    key: {{value: "[1, 2, 4]"}}
    wrong: [{{value: "[2, 4, 1]", misconception: {IDEA}, feedback: On which side does the axis appear?}}]
    why: {WHY}
  - id: q_order
    type: order
    aspect: concept
    prompt: Put these in their order.
    steps: [read the input, multiply by the factor, add the offset, return the result]
    scoring: neighbours
    feedback: The factor comes before the offset.
    why: {WHY}
  - id: q_match
    type: match
    aspect: misconception
    prompt: What does what?
    pairs:
      - {{left: factor, right: stretches the line}}
      - {{left: offset, right: shifts the line}}
      - {{left: input, right: is stretched and shifted}}
    confusions: [{{left: factor, right: shifts the line, misconception: {IDEA}, feedback: Try a factor of one.}}]
    why: {WHY}
  - id: q_output
    type: output
    aspect: number
    prompt: What does this print?
    code: |
      for number in (1, 2):
          print(number)
    key: {{output: "1\\n2"}}
    wrong: [{{output: "1 2", misconception: {IDEA}, feedback: Each call ends its line.}}]
    why: {WHY}
  - id: q_open
    type: open
    aspect: concept
    prompt: Why is an offset needed?
    rubric: [names a line that does not pass the origin]
    model: Without an offset every line would pass through the origin of the plane.
""",
    IDEAS: f"- {{id: {IDEA}, name: A row's slope depends on all the other rows}}\n",
}


def keyed_course(root: Path, **changed: str | None) -> tuple[CourseFiles, Assignment]:
    """Write the course into a folder and load it; `changed` as for `small_course`."""
    return small_course(root, **{**KEYED, **changed})
