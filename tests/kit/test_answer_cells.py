"""Answer cells: how they are made from the bank, and how an answer is read from a cell that nobody runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notebook_course import WORKBOOK
from quiz_course import QUIZ, SLOPE, quiz_bank, small_course

from autograder.authoring.errors import AuthoringError
from autograder.authoring.workbook import built, cut
from autograder.notebooks.answers import LONGEST, answer_lines, marked, typed_in
from autograder.notebooks.receipts import marked_answer

PLACE = "solutions/workbooks/lines.py"
QUESTION = '\n# %% quiz="{}"\n'


def notebooks(tmp_path: Path, *names: str, **changed: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The complete notebook and that of students."""
    text = WORKBOOK + "".join(map(QUESTION.format, names))
    files, assignment = small_course(tmp_path, **{**QUIZ, PLACE: text, **changed})
    assert built(files, assignment) == built(files, assignment)
    return json.loads(built(files, assignment)), json.loads(cut(files, assignment))


def source(notebook: dict[str, Any], grade_id: str) -> str:
    (found,) = [c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == grade_id]
    assert found["id"] == grade_id
    return "".join(found["source"])


def test_a_question_becomes_three_cells_and_its_key_stays_at_home(tmp_path: Path) -> None:
    whole, students = notebooks(tmp_path, "s1_twice", "s2_shape", "s2_name", "s1_drawn")
    for name, key in {"s1_twice": "3.0", "s2_shape": "[2]", "s2_name": "'offset'"}.items():
        assert f"### BEGIN SOLUTION\n{name} = {key}\n### END SOLUTION" in source(whole, f"answer-{name}")
        assert source(students, f"answer-{name}") == f"{name} = None\n# YOUR CODE HERE\nraise NotImplementedError()"
        assert f"{name} is not None" in source(students, f"quiz-{name}")
    assert source(students, "question-s1_twice").startswith("**Question (1 point, Week 1 §1).** What does the slope 2")
    assert "{" not in source(students, "question-s1_drawn")
    text = json.dumps(students)
    assert not [
        word for word in ("offset", "misconception", "adds_instead", "Is 2 an amount", "twice as high") if word in text
    ]


@pytest.mark.parametrize("name", ["s1_what_it_does", "s2_open", "nothing", "s2_match"])
def test_only_questions_with_a_plain_answer_can_be_asked(tmp_path: Path, name: str) -> None:
    with pytest.raises(AuthoringError, match=f"lines.py: {name} is not a question of the quiz of lines that asks for"):
        notebooks(tmp_path, name)


def test_a_question_cannot_be_asked_twice(tmp_path: Path) -> None:
    with pytest.raises(AuthoringError, match="two cells have the grade_id `question-s2_name`"):
        notebooks(tmp_path, "s2_name", "s2_name")


def test_points_are_those_of_the_bank(tmp_path: Path) -> None:
    worth = QUIZ[SLOPE].replace(
        "    prompt: What does the slope 2", "    points: 3/2\n    prompt: What does the slope 2"
    )
    whole, _ = notebooks(tmp_path, "s1_twice", **{SLOPE: worth})
    assert [c["metadata"]["nbgrader"]["points"] for c in whole["cells"] if c["id"] == "quiz-s1_twice"] == [1.5]


def test_what_is_told_of_an_answer_obeys_the_hint_policy(tmp_path: Path) -> None:
    bank = quiz_bank(tmp_path)
    item = bank.by_id["s1_twice"]
    later = "there is a hint: it is shown after the deadline"

    def told(typed: str, withheld: str) -> list[str]:
        mark = marked(bank, item, {"s1_twice": f"s1_twice = {typed}"})
        check = marked_answer("quiz-s1_twice", bank, item, mark).check
        return list(answer_lines(check, mark.feedback, withheld))[1:]

    assert told("3.5", "") == ["      Is 2 an amount here?"]
    assert told("3.5", later) == [f"  {later}"]
    assert told("17", later) == told("3.0", later) == []
    assert "write it without a comma" in told("'3,000'", later)[0]
    assert told("None", later) == ["      nothing was written behind the ="]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("x = 3", 3),
        ("x = None\n# YOUR CODE HERE\nraise NotImplementedError()", None),
        ("x = None\nx = (2, 2, 4)  # three axes", [2, 2, 4]),
        ("x = 1\nx = -0.5\ny = 7", -0.5),
        ("x = y = 'Layer Norm'", "Layer Norm"),
        ("x = 1/8", "1 / 8"),
        ("x = '1/8'", "1/8"),
        ("x = torch.Size([2, 4])", "torch.Size([2, 4])"),
        ("x = open('/etc/passwd').read()", "open('/etc/passwd').read()"),
        ("x = [1] * 10**9", "[1] * 10 ** 9"),
        ("x = 9**9**9", "9 ** 9 ** 9"),
        ("x = True", True),
        ("x = {(1, 2): 3}", "{(1, 2): 3}"),
        ("x = [1, {2}]", "[1, {2}]"),
        ("x = 1e999", "1e309"),
    ],
)
def test_the_last_value_of_the_name_is_the_answer_and_nothing_is_run(cell: str, value: object) -> None:
    assert typed_in(cell, "x") == (value, "")


@pytest.mark.parametrize(
    "cell",
    ["", "y = 3", "x", "x == 3", "if True:\n    x = 3", "x += 3", "x: int = 3", "def x(): pass", "x = ", "%time x = 3", "x = 1\n???", "\0",
     "x, y = 3, 4", "x = " + "(" * 900, "x = " + "-" * 3000 + "1", "x = " + "9" * 3999, "x = 0x" + "f" * 3900, "# " + "x" * LONGEST, "x.y = 3", "x = '\ud800"],
)  # fmt: skip
def test_a_cell_without_an_answer_is_asked_back_with_one_sentence(cell: str) -> None:
    value, sentence = typed_in(cell, "x")
    assert value is None
    assert "write it as in `x = 0.125`, in a line of its own" in sentence


@settings(max_examples=100, deadline=None, print_blob=True)
@given(st.text(max_size=40) | st.text("x=()[]{}'\"\\\n #019.,+-*/%!:abc", max_size=60).map(lambda text: "x = " + text))
def test_whatever_a_cell_holds_is_read_or_asked_back(cell: str) -> None:
    typed_in(cell, "x")
