"""Mistakes as changes of a solution: what applies, what is refused, and with which sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_course import FILES

from autograder.authoring import AuthoringError
from autograder.authoring.variants import written
from autograder.course import CourseError
from autograder.course.mistakes import Writing, load_mistakes

LINE = FILES["solutions/lines/line.py"]
assert LINE is not None

GOOD = """\
ladder:
  question: What grows?
  pseudocode: ___ times ___
mistakes:
  - id: adds
    name: The factor is added
    hint: What does a slope do to twice the x?
    course: Week 1 §1
    edit: [{find: x * factor, replace: x + factor}]
    also:
      - body: {slope: return x + factor}
equivalents:
  - {id: other_way_round, name: factor first, edit: [{find: x * factor, replace: factor * x}]}
left_out:
  - {what: an offset, why: there is none}
"""


def write(text: str, source: str = LINE) -> str:
    return written(source, [Writing.model_validate(load(text))], "line: a mistake")


def load(text: str) -> object:
    import yaml

    return yaml.safe_load(text)


def test_an_edit_changes_one_passage_of_a_solution_region() -> None:
    assert write("edit: [{find: + self.offset, replace: '- self.offset'}]") == LINE.replace("+ self", "- self")


def test_a_body_takes_the_place_of_a_whole_region_and_keeps_its_indentation() -> None:
    text = write('body: {Line.forward: "y = slope(x, 2.0)\\n\\nreturn y"}')
    assert "        ### BEGIN SOLUTION\n        y = slope(x, 2.0)\n\n        return y\n        ### END SOLUTION" in text


def test_text_at_the_top_stands_before_the_first_class() -> None:
    text = write("{top: 'import math', body: {Line.forward: return x * math.pi}}")
    assert text.index("from slope import slope") < text.index("import math") < text.index("class Line")


def test_mistakes_of_a_pair_are_made_one_after_the_other() -> None:
    both = [
        Writing.model_validate(load(text))
        for text in (
            "edit: [{find: + self.offset, replace: ''}]",
            "edit: [{find: torch.zeros(()), replace: torch.ones(())}]",
        )
    ]
    text = written(LINE, both, "line")
    assert "+ self.offset" not in text and "torch.ones(())" in text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("edit: [{find: nothing like it, replace: x}]", "is there 0 times"),
        ("edit: [{find: self, replace: x}]", "is there 4 times"),
        ("edit: [{find: import torch, replace: x}]", "is there 0 times"),
        ("edit: [{find: self.factor = factor, replace: x, within: Line.forward}]", "is there 0 times"),
        (
            "edit: [{find: x, replace: y, within: Lines}]",
            "no solution region is that of Lines; there are Line.__init__",
        ),
        ("body: {forward: pass}", "no solution region is that of forward"),
        ("edit: [{find: + self.offset, replace: + self.offset}]", "nothing is changed"),
        ("edit: [{find: + self.offset, replace: +}]", "this is not valid Python"),
    ],
)
def test_a_change_that_does_not_apply_is_refused_with_the_reason(text: str, sentence: str) -> None:
    with pytest.raises(AuthoringError, match="line: a mistake") as refused:
        write(text)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("id: adds", "id: Adds up", "mistakes[0].id: must be lower-case letters"),
        ("id: adds\n    name", "name", "mistakes[0].id: missing"),
        ("What does a slope do to twice the x?", "Multiply.", "mistakes[0].hint: must ask a question"),
        ("    edit: [{find: x * factor, replace: x + factor}]\n", "", "mistakes[0]: must have an `edit` or a `body`"),
        ("replace: x + factor", "with: x + factor", "mistakes[0].edit[0].with: not a field of this file"),
        ("ladder:\n  question: What grows?\n  pseudocode: ___ times ___\n", "", "ladder: missing"),
        ("name: The factor is added", "name: |\n      two\n      lines", "mistakes[0].name: must be one line of text"),
    ],
)
def test_a_wrong_file_says_where_and_what(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert old in GOOD
    path = tmp_path / "slope.yml"
    path.write_text(GOOD.replace(old, new), "utf-8")
    with pytest.raises(CourseError) as refused:
        load_mistakes(path)
    assert any(problem.startswith(sentence) for problem in refused.value.problems), refused.value.problems


def test_ids_are_given_once(tmp_path: Path) -> None:
    path = tmp_path / "slope.yml"
    entry = GOOD[GOOD.index("  - id: adds") : GOOD.index("    also")]
    path.write_text(GOOD.replace("equivalents:", entry + "equivalents:"), "utf-8")
    with pytest.raises(CourseError, match=r"mistakes\[1\].id: adds is already the id of mistakes\[0\]"):
        load_mistakes(path)


def test_a_good_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "slope.yml"
    path.write_text(GOOD, "utf-8")
    found = load_mistakes(path)
    assert [mistake.id for mistake in found.mistakes] == ["adds"]
    assert len(found.mistakes[0].also) == 1
    assert [one.id for one in found.equivalents] == ["other_way_round"]
    assert found.left_out[0].why == "there is none"


@pytest.mark.parametrize("depth", [500, 5000])
def test_a_file_that_is_nested_too_deeply_is_one_sentence(tmp_path: Path, depth: int) -> None:
    path = tmp_path / "slope.yml"
    path.write_text("[" * depth + "]" * depth, "utf-8")
    with pytest.raises(CourseError, match="nest"):
        load_mistakes(path)
