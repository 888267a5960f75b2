"""Marks: what each type of question earns by its declared rule, and the idea that a wrong answer shows (B37, B38)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest
from quiz_course import IDEAS, QUIZ, SLOPE, draw_of, full_width, quiz_bank, real_banks

from autograder.quiz.bank import Bank
from autograder.quiz.marking import Mark, mark
from autograder.quiz.model import AnyItem, Match, Multiple, Order, Single
from autograder.quiz.public import LETTERS, displayed_lefts, displayed_options, displayed_rights, displayed_steps

NUMBER = """\
course: Week 1 §1
items:
  - {id: n, type: number, aspect: number, prompt: "?", why: "-", key: {value: %s}, wrong: []}
"""


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Bank:
    return quiz_bank(tmp_path_factory.mktemp("quiz"))


@pytest.fixture
def number(tmp_path: Path) -> Callable[[str], Bank]:
    def with_key(key: str) -> Bank:
        return quiz_bank(tmp_path, **{SLOPE: NUMBER % key})

    return with_key


def given(bank: Bank, item: str, typed: object, student: str = "mira") -> Mark:
    return mark(bank, bank.by_id[item], typed, student)


def letter(shown: list[str], text: str) -> str:
    return LETTERS[shown.index(text)]


def chosen(bank: Bank, item: str, *texts: str) -> list[str]:
    found = bank.by_id[item]
    assert isinstance(found, Single | Multiple)
    return [letter(displayed_options(found), text) for text in texts]


def steps_of(bank: Bank) -> list[str]:
    found = bank.by_id["s1_order"]
    assert isinstance(found, Order)
    return displayed_steps(found)


def steps(bank: Bank, *texts: str) -> str:
    return " ".join(letter(steps_of(bank), text) for text in texts)


def pairs(item: AnyItem, **rights: str) -> dict[str, str]:
    assert isinstance(item, Match)
    lefts, shown = displayed_lefts(item), displayed_rights(item)
    return {str(lefts.index(left) + 1): letter(shown, right) for left, right in rights.items()}


@pytest.mark.parametrize(
    ("key", "typed", "outcome"),
    [
        ("1 / 2, tolerance: 0", "0,5", "passed"),
        ("1 / 2, tolerance: 0", "50%", "passed"),
        ("1 / 2, tolerance: 0", "0.5000001", "failed"),
        ("4 * 4, tolerance: 0", "16.000", "passed"),
        ("4 * 4, tolerance: 0", "16,000", "please rewrite"),
        ("4 * 4, tolerance: 0", "16", "passed"),
        ("1234 + 0.56, tolerance: 0.001", "1,234.56", "passed"),
        ("1234 + 0.56, tolerance: 0.001", "1.234,56", "passed"),
        ("1234 + 0.56, tolerance: 0.001", "1234,56", "passed"),
        ("1 - 1, relative: 0.01", "0", "passed"),
        ("1 - 1, relative: 0.01", "1e-12", "passed"),
        ("1 - 1, relative: 0.01", "0.1", "failed"),
        ("1 - 1, tolerance: 0", "0", "passed"),
        ("1 - 1, tolerance: 0", "1e-12", "failed"),
        ("0.1 * 3 - 0.3, relative: 0.01", "0", "passed"),
        ("1 / 8, tolerance: 0.005", "0.13", "passed"),
        ("1 / 8, tolerance: 0.004", "0.13", "failed"),
        ("0.1 + 0.2, tolerance: 0", "0.3", "passed"),
        ("1 / 3, tolerance: 0", "1/3", "passed"),
        ("1 / 3, relative: 0.01", "0.33", "passed"),
        ("1 / 3, relative: 0.01", "0.34", "failed"),
        ("5 * 7, tolerance: 0, percent: true", "35 %", "passed"),
        ("5 * 7, tolerance: 0, percent: true", "0.35", "failed"),
        ("5 * 7, tolerance: 0", "35 %", "failed"),
        ("1 / 2, tolerance: 0", "1e308", "failed"),
        ("1 / 2, tolerance: 0", "1e999", "please rewrite"),
        ("1 / 2, tolerance: 0", True, "please rewrite"),
        ("1 / 2, tolerance: 0", 0.5, "passed"),
    ],
)
def test_a_number_by_its_tolerance(number: Callable[[str], Bank], key: str, typed: object, outcome: str) -> None:
    assert given(number(key), "n", typed).outcome == outcome


def test_what_was_typed_is_kept_as_it_was(bank: Bank) -> None:
    for typed in (" 3,0 ", "16,000", "\u00a03", 3, None):
        assert given(bank, "s1_twice", typed).typed == typed


def test_a_named_wrong_value_tells_its_idea_and_another_one_none(bank: Bank) -> None:
    named, other = given(bank, "s1_twice", "3.5"), given(bank, "s1_twice", "17")
    assert (named.misconceptions, named.feedback) == (("adds_instead",), ("Is 2 an amount here?",))
    assert (other.outcome, other.misconceptions, other.feedback) == ("failed", (), ())


def test_a_drawn_question_is_marked_by_the_variant_of_the_student(bank: Bank) -> None:
    for student in ("mira", "noor", "ole", "pia"):
        a, b = draw_of(bank, "s1_drawn", student).parameters.values()
        assert given(bank, "s1_drawn", a * b, student).outcome == "passed"
        assert given(bank, "s1_drawn", a + b, student).misconceptions == ("adds_instead",)


def test_one_of_several(bank: Bank) -> None:
    right = chosen(bank, "s1_what_it_does", "It stretches x by a factor")[0]
    wrong = chosen(bank, "s1_what_it_does", "It moves x by an amount")[0]
    assert given(bank, "s1_what_it_does", right.upper()).share == 1
    assert (given(bank, "s1_what_it_does", wrong).share, given(bank, "s1_what_it_does", wrong).misconceptions) == (
        0,
        ("adds_instead",),
    )
    for typed in ("abc", "d", f"{right},{wrong}", [right, wrong]):
        assert given(bank, "s1_what_it_does", typed).outcome == "please rewrite", typed


@pytest.mark.parametrize("scoring", ["right_minus_wrong", "all_or_nothing"])
def test_set_scoring_of_every_choice(tmp_path: Path, scoring: str) -> None:
    """A and C of A to D are meant; in whatever order and however often, and everything together is never all."""
    bank = quiz_bank(tmp_path, **{SLOPE: QUIZ[SLOPE].replace("right_minus_wrong", scoring)})
    a, c = chosen(bank, "s1_properties", "doubling", "changing the sign")
    b, d = chosen(bank, "s1_properties", "adding one", "squaring after adding one")
    share = {
        (a, c): 1, (c, a): 1, (a, a, c): 1, f"{a};{c}": 1, f"{a.upper()}, {c}": 1, a + c: 1,
        (a,): Fraction(1, 2), (a, b): 0, (a, c, b): Fraction(1, 2), (a, b, c, d): 0, (b, d): 0,
    }  # fmt: skip
    for typed, earned in share.items():
        found = given(bank, "s1_properties", list(typed) if isinstance(typed, tuple) else typed)
        assert found.share == (earned if earned == 1 or scoring == "right_minus_wrong" else 0), typed
        assert found.outcome == ("passed" if found.share == 1 else "partly" if found.share else "failed")
    for unknown in ([a, "e"], f"{a}, E", "1"):
        assert given(bank, "s1_properties", unknown).outcome == "please rewrite"
    for nothing in ([], "", {}, None, "  "):
        assert given(bank, "s1_properties", nothing).outcome == "not attempted"


def test_everything_selected_is_never_full_marks_in_the_real_banks() -> None:
    several = [(bank, item) for bank in real_banks() for item in bank.items if isinstance(item, Multiple)]
    assert several
    for bank, item in several:
        assert mark(bank, item, LETTERS[: len(item.options)], "mira").share < 1, item.id


def test_a_text_and_its_named_wrong_ones(bank: Bank) -> None:
    for typed in ("offset", "OFF-SET", full_width(" offset "), "Intercept  at-zero."):
        assert given(bank, "s2_name", typed).outcome == "passed", typed
    assert given(bank, "s2_name", "Slope").misconceptions == ("adds_instead",)
    assert given(bank, "s2_name", 7).outcome == "please rewrite"


def test_code_may_count_letter_case(tmp_path: Path) -> None:
    item = '{id: t, type: text, aspect: concept, prompt: "?", why: "-", key: {accept: [Adam], case: true}, wrong: []}'
    bank = quiz_bank(tmp_path, **{SLOPE: f"course: Week 1 §1\nitems:\n  - {item}\n"})
    assert (given(bank, "t", "Adam ").outcome, given(bank, "t", "adam").outcome) == ("passed", "failed")


def test_steps_earn_the_share_of_right_neighbours_and_lose_for_strangers(bank: Bank) -> None:
    first, second, third, stranger = "choose two points", "lay the ruler", "draw the line", "sharpen the pen"
    assert given(bank, "s1_order", steps(bank, first, second, third)).share == 1
    assert given(bank, "s1_order", steps(bank, second, third, first)).share == Fraction(1, 2)
    assert given(bank, "s1_order", steps(bank, first, second)).share == Fraction(1, 2)
    assert given(bank, "s1_order", steps(bank, third, second, first)).share == 0
    extra = given(bank, "s1_order", steps(bank, first, second, third, stranger))
    assert (extra.share, extra.misconceptions) == (Fraction(1, 2), ("looks_at_one",))
    assert given(bank, "s1_order", steps(bank, first, second, third, first)).outcome == "please rewrite"


def test_only_one_order_of_the_steps_passes(bank: Bank) -> None:
    texts = steps_of(bank)
    orders = [order for count in range(1, 5) for order in permutations(texts, count)]
    assert sum(given(bank, "s1_order", steps(bank, *order)).share == 1 for order in orders) == 1


def test_steps_may_count_in_the_exact_order_only(tmp_path: Path) -> None:
    bank = quiz_bank(tmp_path, **{SLOPE: QUIZ[SLOPE].replace("scoring: neighbours", "scoring: exact")})
    assert given(bank, "s1_order", steps(bank, "lay the ruler", "draw the line", "choose two points")).share == 0


def test_pairs_earn_their_share_and_a_confusion_is_named(bank: Bank) -> None:
    item = bank.by_id["s2_match"]
    turns, lifts, chooses = "turns the line", "lifts the line", "chooses a place"
    assert given(bank, "s2_match", pairs(item, factor=turns, amount=lifts, input=chooses)).share == 1
    swapped = given(bank, "s2_match", pairs(item, factor=lifts, amount=turns, input=chooses))
    assert (swapped.share, swapped.misconceptions) == (Fraction(1, 3), ("adds_instead",))
    assert given(bank, "s2_match", pairs(item, factor=turns)).share == Fraction(1, 3)
    assert given(bank, "s2_match", {"1": "ab"}).outcome == "please rewrite"


def test_shapes_and_printed_text(bank: Bank) -> None:
    assert [given(bank, "s2_shape", typed).outcome for typed in ("[2]", "2", [2], "(2,)")] == ["passed"] * 4
    assert given(bank, "s2_shape", "[2, 1]").misconceptions == ("looks_at_one",)
    assert given(bank, "s2_shape", "[1, 2]").outcome == "failed"
    assert given(bank, "s2_prints", "[ 7 ]\n").outcome == "passed"
    assert given(bank, "s2_prints", "[9]").misconceptions == ("adds_instead",)


def test_open_questions_never_count(bank: Bank) -> None:
    found = given(bank, "s2_open", "two numbers, two points")
    assert (found.outcome, found.share, found.feedback) == ("self-assessed", 0, ())


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("1 / 2, tolerance: -1", "tolerance: must not be negative"),
        ("1 / 2, relative: -0.01", "relative: must not be negative"),
        ("1 / 2", "must have `tolerance` or `relative`"),
        ("1 / 2, tolerance: 1, relative: 1", "and not both"),
        ("1 / 2, tolerance: .inf", "finite"),
        ("1 / 2, tolerance: .nan", "finite"),
        ("1 / 0, tolerance: 0", "has no value"),
        ("1e300 * 1e300, tolerance: 0", "ordinary size"),
        ("nothing, tolerance: 0", "not a parameter"),
        ("'[1, 2]', tolerance: 0", "must be one number"),
    ],
)
def test_a_key_that_cannot_be_marked_is_refused_when_the_bank_is_loaded(
    number: Callable[[str], Bank], key: str, sentence: str
) -> None:
    with pytest.raises(Exception, match=sentence) as error:
        number(key)
    assert type(error.value).__name__ in ("CourseError", "QuizError")


def test_ideas_have_names(bank: Bank) -> None:
    assert bank.misconceptions["adds_instead"] in QUIZ[IDEAS]
