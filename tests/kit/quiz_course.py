"""The small course with a quiz of one question of each type, for tests that change it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from small_course import small_course

from autograder.course import Course, CourseFiles, load_course
from autograder.quiz.bank import Bank, Draw, has_quiz, load_bank
from autograder.quiz.model import Drawn

ROOT = Path(__file__).parents[2]
SLOPE, OFFSET, IDEAS = (
    "solutions/lines/quiz/01_slope.yml",
    "solutions/lines/quiz/02_offset.yml",
    "reference/misconceptions.yml",
)

QUIZ: dict[str, str] = {
    IDEAS: """\
- {id: adds_instead, name: A slope is added to x}
- {id: looks_at_one, name: One point is enough for a line}
""",
    SLOPE: """\
course: Week 1 §1
items:
  - id: s1_what_it_does
    type: single
    aspect: concept
    prompt: What does a slope do to x?
    options:
      - {text: It stretches x by a factor, key: true, feedback: Twice the slope makes twice the height.}
      - {text: It moves x by an amount, misconception: adds_instead, feedback: What happens at zero then?}
      - {text: It cuts x at an amount, misconception: looks_at_one, feedback: Is there a largest value?}
    why: A slope multiplies.
  - id: s1_properties
    type: multiple
    aspect: misconception
    prompt: Which of these keep zero where it is?
    scoring: right_minus_wrong
    options:
      - {text: doubling, key: true, feedback: Twice nothing is nothing.}
      - {text: changing the sign, key: true, feedback: Zero is its own opposite.}
      - {text: adding one, misconception: adds_instead, feedback: What is zero and one?}
      - {text: squaring after adding one, misconception: adds_instead, feedback: What is squared at zero?}
    why: Factors keep zero.
  - id: s1_twice
    type: number
    aspect: number
    prompt: What does the slope 2 make of 1.5? Give it to 1 decimal.
    key: {value: "trace('slope.doubled.twice')[0]", tolerance: 0.05}
    wrong:
      - {value: 2 + 1.5, misconception: adds_instead, feedback: Is 2 an amount here?}
    why: It is twice as high.
  - id: s1_drawn
    type: number
    aspect: number
    parameters: {a: [2, 3, 5], b: [7, 11, 13]}
    prompt: What does the slope {a} make of {b}?
    key: {value: a * b, tolerance: 0}
    wrong:
      - {value: a + b, misconception: adds_instead, feedback: Is the slope an amount?}
    why: The height is multiplied.
  - id: s1_order
    type: order
    aspect: concept
    prompt: In which order is this done?
    steps: [choose two points, lay the ruler, draw the line]
    extra:
      - {text: sharpen the pen, misconception: looks_at_one, feedback: Does a sharp pen move the line?}
    scoring: neighbours
    feedback: What must be known before the ruler lies?
    why: Two points fix the line.
""",
    OFFSET: """\
course: Week 1 §2
items:
  - id: s2_shape
    type: shape
    aspect: number
    prompt: Which shape does the line give for two inputs?
    key: {value: "shape(trace('slope.doubled.inputs.x'))"}
    wrong:
      - {value: "[2, 1]", misconception: looks_at_one, feedback: Where does a second axis come from?}
    why: One height for each input.
  - id: s2_name
    type: text
    aspect: concept
    prompt: What is the height at zero called?
    key: {accept: [offset, intercept at zero]}
    wrong:
      - {text: slope, misconception: adds_instead, feedback: Which of the two is the factor?}
    why: It is where the line starts.
  - id: s2_match
    type: match
    aspect: misconception
    prompt: Which part does what?
    pairs:
      - {left: factor, right: turns the line}
      - {left: amount, right: lifts the line}
      - {left: input, right: chooses a place}
    extra: [bends the line]
    confusions:
      - {left: factor, right: lifts the line, misconception: adds_instead, feedback: What stays in place at zero?}
    why: One turns and one lifts.
  - id: s2_prints
    type: output
    aspect: number
    prompt: What does this print?
    code: print([3 * 2 + 1])
    key: {output: "[7]"}
    wrong:
      - {output: "[9]", misconception: adds_instead, feedback: Which sign binds more closely?}
    why: First the product, then the sum.
  - id: s2_open
    type: open
    aspect: concept
    prompt: Why are two points enough?
    rubric: [names both numbers of a line, says that they follow]
    model: A line has two numbers, and two points give both.
""",
}

RIGHT: dict[str, object] = {
    "s1_twice": "3,0",
    "s2_shape": "(2,)",
    "s2_name": " Off-Set ",
    "s2_prints": "[ 7 ]",
}
"""Full marks, where the answer depends on no order and no draw."""


def quiz_files(root: Path, **changed: str | None) -> tuple[CourseFiles, Course]:
    """Write the course with its quiz, some files changed (None: left out)."""
    files, _ = small_course(root, **{**QUIZ, **changed})
    return files, load_course(root)


def quiz_bank(root: Path, **changed: str | None) -> Bank:
    """The bank of that course."""
    return load_bank(*quiz_files(root, **changed), "lines")


@cache
def real_banks() -> tuple[Bank, ...]:
    """The banks of the course itself."""
    course, files = load_course(ROOT), CourseFiles(ROOT)
    return tuple(load_bank(files, course, name) for name in course.assignments if has_quiz(files, name))


def full_width(text: str) -> str:
    """The text in the wide letters of East Asian keyboards."""
    return "".join(chr(ord(c) + 0xFEE0) if c != " " else "\u3000" for c in text)


def hand_in(folder: Path, whose: str, answers: Mapping[str, object], **more: object) -> Path:
    """A student's folder with an answers file."""
    path = folder / whose / "quiz_answers.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"answers": answers, **more}), "utf-8")
    return path


def draw_of(bank: Bank, item: str, student: str) -> Draw:
    """The variant of a drawn question that this student gets."""
    found = bank.by_id[item]
    assert isinstance(found, Drawn)
    return bank.draw(found, student)
