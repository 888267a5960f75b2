"""The banks of the course: complete, with values that are worked out, and no draw that spoils a question."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from quiz_course import OFFSET, QUIZ, ROOT, SLOPE, quiz_bank, real_banks

from autograder.course import CourseError, load_course
from autograder.quiz.bank import MOST_DRAWS, Bank
from autograder.quiz.drawing import drawn, filled
from autograder.quiz.errors import QuizError
from autograder.quiz.formula import FormulaError, parsed, value_of
from autograder.quiz.lint import lint
from autograder.quiz.marking import close, mark
from autograder.quiz.model import Drawn, Number, Output
from autograder.quiz.snippets import printed

STUDENTS = [f"student_{number:04d}" for number in range(1000)]
DRAWN = [
    pytest.param(bank, item, id=item.id)
    for bank in real_banks()
    for item in bank.items
    if isinstance(item, Drawn) and item.parameters
]


def test_every_section_of_week_8_has_a_check_of_at_least_three_items() -> None:
    (week,) = load_course(ROOT).weeks
    checks = {group.course: group for group in real_banks()[0].groups}
    assert set(checks) == {f"Week {week.number} §{section.number}" for section in week.sections}
    assert len(checks) == 20
    assert all(len(group.items) >= 3 for group in checks.values())
    assert all({item.aspect for item in g.items} == {"concept", "number", "misconception"} for g in checks.values())


def test_there_are_120_items_and_fewer_than_three_in_five_are_choices() -> None:
    kinds = Counter(item.type for bank in real_banks() for item in bank.items)
    assert kinds.total() >= 120
    assert kinds["single"] + kinds["multiple"] <= 0.6 * kinds.total()
    assert all(count for count in kinds.values()) and len(kinds) == 9


def test_the_lint_finds_nothing_in_the_banks_of_the_course(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = [item.code for bank in real_banks() for item in bank.items if isinstance(item, Output)]
    done = dict(zip(codes, printed(codes), strict=True))  # one process for all of them
    monkeypatch.setattr("autograder.quiz.lint.printed", lambda some: [done[code] for code in some])
    assert [sentence for bank in real_banks() for sentence in lint(bank)] == []


def test_no_number_is_typed() -> None:
    """Values of traces are tied to the reference by the tests of traces; everything else is worked out here."""
    for bank in real_banks():
        for item in bank.items:
            if isinstance(item, Number):
                key = parsed(item.key.value)
                assert not key.is_bare, item.id
                for name in key.traces:
                    bank.traces(name)


@pytest.mark.parametrize(("bank", "item"), DRAWN)
def test_no_draw_spoils_a_question(bank: Bank, item: Drawn) -> None:
    draws = bank.draws(item)
    got = Counter(draws.index(bank.draw(item, student)) for student in STUDENTS)
    assert len(got) == len(draws)
    assert max(got.values()) < 3 * len(STUDENTS) / len(draws)
    assert len({str(draw.parameters) for draw in draws}) == len(draws) <= MOST_DRAWS
    for draw in draws:
        assert "{" not in filled(item.prompt, draw.parameters).replace("{{", "")
        values = [draw.value, *(value for value, _ in draw.wrong)]
        if isinstance(item, Number):
            numbers = [float(value) for value in values if isinstance(value, (int, float)) and math.isfinite(value)]
            assert len(numbers) == len(values)
            assert not any(close(v, w, draw.tolerance) for v, w in combinations(numbers, 2))
        else:
            assert all(values.count(value) == 1 for value in values)


@pytest.mark.parametrize(("bank", "item"), DRAWN[::7])
def test_the_key_of_each_draw_passes_and_its_named_wrong_values_fail_by_name(bank: Bank, item: Drawn) -> None:
    for student in STUDENTS[:50]:
        draw = bank.draw(item, student)
        assert mark(bank, item, draw.value, student).outcome == "passed"
        for value, wrong in draw.wrong:
            assert mark(bank, item, value, student).misconceptions == (wrong.misconception,)


def test_every_key_of_the_course_passes_as_it_is_written() -> None:
    """What an author wrote, read as an answer."""
    for bank in real_banks():
        for item in bank.items:
            if isinstance(item, Drawn) and not item.parameters:
                assert mark(bank, item, bank.draw(item, "mira").value, "mira").share == 1, item.id
            elif item.type == "text":
                assert all(mark(bank, item, text, "mira").share == 1 for text in item.key.accept), item.id
            elif item.type == "output":
                assert mark(bank, item, item.key.output, "mira").share == 1, item.id


def test_a_draw_depends_on_the_student_and_the_question_only() -> None:
    """A web page works it out as well: FNV-1a, 32 bits, over the names in UTF-8."""
    assert [drawn(name, "s1_drawn", 2**32) for name in ("mira", "", "zoë")] == [2642112640, 2283088577, 740838474]


@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        (SLOPE, "It moves x by an amount", " it stretches x by a  FACTOR", "says the same as"),
        (SLOPE, "key: true, feedback: Twice the", "misconception: adds_instead, feedback: Twice the", "exactly one option"),
        (SLOPE, "scoring: right_minus_wrong", "scoring: any", "must be 'all_or_nothing' or 'right_minus_wrong'"),
        (SLOPE, "misconception: looks_at_one, feedback: Is there", "feedback: Is there", "every option that is not a key names one"),
        (SLOPE, "looks_at_one", "seen_by_nobody", "is no mistake of an exercise and not in"),
        (SLOPE, "s1_twice", "s1_order", "is already the id of"),
        (SLOPE, "Week 1 §1", "Week 1 §7", "course: "),
        (SLOPE, "type: single", "type: essay", "type: must be one of single, multiple"),
        (SLOPE, "trace('slope.doubled.twice')", "trace('slope.doubled.thrice')", "not a value of a worked example"),
        (SLOPE, "[2, 3, 5], b", "[2, 2, 5], b", "at least two values, none twice"),
        (SLOPE, "why: Two points fix the line.", "because: no", "because"),
        (OFFSET, "accept: [offset, intercept at zero]", "accept: []", "must not be empty"),
        (OFFSET, "{left: factor, right: lifts the line,", "{left: factor, right: turns the line,", "these two belong together"),
        (OFFSET, "right: lifts the line, m", "right: opens the line, m", "must be texts of this item"),
    ],
)  # fmt: skip
def test_a_bank_that_cannot_be_meant_is_refused(tmp_path: Path, file: str, old: str, new: str, sentence: str) -> None:
    assert old in QUIZ[file]
    with pytest.raises((CourseError, QuizError), match=sentence) as error:
        quiz_bank(tmp_path, **{file: QUIZ[file].replace(old, new)})
    assert "\n\n" not in str(error.value)


def test_a_course_without_a_quiz_says_where_it_belongs(tmp_path: Path) -> None:
    with pytest.raises(QuizError, match="solutions/lines/quiz"):
        quiz_bank(tmp_path, **dict.fromkeys((SLOPE, OFFSET)))


@pytest.mark.parametrize(
    "formula",
    ["__import__('os')", "(1).real", "[x for x in [1]]", "lambda: 1", "2 ** 65", "10 ** 60", "'a'", "C", "sqrt(-1)", "[1] * 3", "trace('a.b')",
     "trace(C)", "1 if 1 else 2", "[1][3]", "open('x')", "abs", "1 < 2 < 3", "(" * 300 + "1" + ")" * 300, "1 +", "sum(1)", "exp(1000)"],
)  # fmt: skip
def test_a_formula_that_is_not_arithmetic_is_refused(formula: str) -> None:
    with pytest.raises(FormulaError):
        value_of(parsed(formula), {}, lambda name: value_of(parsed(name), {}, lambda _: 0))


def test_formulas_are_worked_out() -> None:
    names = {"C": 8, "H": 2}
    for formula, value in {
        "C // H": 4, "[C, H][1]": 2, "shape([[1, 2, 3]])": [1, 3], "C % H == 0 and not C < H": True, "-C + 2**3": 0,
        "round(softmax([0, log(3)])[1], 6)": 0.75, "gelu(0)": 0, "mean([1, 2, 6])": 3, "max(C, H)": 8,
    }.items():  # fmt: skip
        assert value_of(parsed(formula), names, lambda _: 0) == value, formula
