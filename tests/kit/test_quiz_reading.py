"""Reading of quiz answers: one written rule, no silent guess, and nothing that is typed breaks it (cases B37, B38)."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quiz_course import full_width

from autograder.quiz import reading
from autograder.quiz.reading import Rewrite

HUGE = pytest.param(10**5000, id="5001 digits")
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary(max_size=4)
    | st.integers(4000, 5000).map(lambda digits: 10**digits),
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(max_size=4) | st.integers(), part, max_size=3),
    max_leaves=8,
)
LOOKS_LIKE_AN_ANSWER = st.text("0123456789.,/%eE+-−xX×*()[]; abcACÀ½²\u00a0\u200b\u2044٣\x1btorch.size", max_size=60)


@pytest.mark.parametrize(
    "typed", ["0.5", "0,5", ".5", ",5", "5e-1", " 0.5 ", "1/2", "50%", "50 %", full_width("50%"), "0.500", 0.5, "2.5/5"]
)
def test_one_half_is_read_however_it_is_written(typed: object) -> None:
    assert reading.number(typed) == 0.5


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("16", 16),
        ("16.000", 16),
        ("16 000", 16000),
        ("1,234.56", 1234.56),
        ("1.234,56", 1234.56),
        ("1234,56", 1234.56),
        ("1,234,567", 1234567),
        ("1.234.567,5", 1234567.5),
        ("0,125", 0.125),
        ("-0,5", -0.5),
        ("−0.5", -0.5),
        ("+3", 3),
        ("12,34", 12.34),
        ("1,2345", 1.2345),
        ("1234,567", 1234.567),
        ("1/3 %", 1 / 300),
        ("3.\u200b5", 3.5),
    ],
)  # fmt: skip
def test_numbers_by_the_written_rule(typed: str, value: float) -> None:
    assert reading.number(typed) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("typed", ["16,000", "-3,145", "1,234", "999,999"])
def test_a_comma_that_may_separate_thousands_is_asked_back_with_both_meanings(typed: str) -> None:
    with pytest.raises(Rewrite, match=r"could be .* or .*; write it without a comma"):
        reading.number(typed)


@pytest.mark.parametrize(
    "typed",
    ["", "about 3", "1,2,3", "1.2.3", "1,234.567,8", "12,34,567", "1/2/3", "1/0", "nan", "inf", "1e999", "1e308/1e-308",
     "1e308%%", "0x10", "1_000", "10²", "½", "1½", "--1", "1e5000", "5 %" * 9, True, None, [1], {"a": 1}, math.nan, math.inf,
     -math.inf, 10**400, HUGE, "9" * 5000, "1" + "%" * 1500, "1/1e-320"],
)  # fmt: skip
def test_what_is_no_number_is_asked_back(typed: object) -> None:
    with pytest.raises(Rewrite):
        reading.number(typed)


def test_where_percent_is_asked_for_the_sign_makes_no_difference() -> None:
    assert reading.number("35 %", percent=True) == reading.number("35", percent=True) == 35
    assert reading.number("35 %") == 0.35


@pytest.mark.parametrize(
    "typed",
    ["[2, 2, 4]", "(2,2,4)", "2 x 2 x 4", "2×2×4", "2 2 4", "torch.Size([2, 2, 4])", "[2;2;4]", full_width("2,2,4"), [2, 2, 4], (2, 2, 4)],
)  # fmt: skip
def test_a_shape_is_read_however_it_is_written(typed: object) -> None:
    assert reading.shape(typed) == [2, 2, 4]


@pytest.mark.parametrize(
    ("typed", "value"), [("()", []), ("torch.Size([])", []), ([], []), ("(7,)", [7]), ("7", [7]), (7, [7])]
)
def test_shapes_of_no_and_one_axis(typed: object, value: list[int]) -> None:
    assert reading.shape(typed) == value


@pytest.mark.parametrize(
    "typed",
    ["", ",", "torch.Size", "[2,,4]", "[2, -1]", [-1], [2.0], [True], True, "2.5", "[2, [2, 4]]", "B, T", "1" * 12, "(2", HUGE]
)  # fmt: skip
def test_what_is_no_shape_is_asked_back(typed: object) -> None:
    with pytest.raises(Rewrite):
        reading.shape(typed)


@pytest.mark.parametrize(
    "typed",
    ["layer norm", "Layer Norm", "LAYER NORM", "layernorm", "layer-norm", "layer\u00a0norm", full_width("Layer Norm"), "layer\u2011norm",
     " layer norm.", "layer_norm", "lay\u00ader norm"],
)  # fmt: skip
def test_the_same_words_are_one_text(typed: str) -> None:
    assert reading.text(typed) == reading.text("Layer  Norm ")


def test_letter_case_counts_where_it_is_declared() -> None:
    assert reading.text("adam", case=True) != reading.text(" Adam ", case=True)
    assert reading.text(full_width("Adam"), case=True) == reading.text("Adam", case=True)


@pytest.mark.parametrize("typed", ["---", "...", 7, True, ["layer norm"], "x" * 2001])
def test_what_is_no_text_is_asked_back(typed: object) -> None:
    with pytest.raises(Rewrite):
        reading.text(typed)


@pytest.mark.parametrize(
    "typed", ["A;C", "a, c", "C A", "ac", "(a) (c)", "a/c", full_width("A,C"), ["C", "A", "A"], ("a", "C"), "a,c,a"]
)
def test_letters_are_a_set_however_they_are_written(typed: object) -> None:
    assert set(reading.letters(typed, "abcd", several=True)) == {"a", "c"}


@pytest.mark.parametrize(
    "typed",
    [
        "A,E",
        "e",
        "bd",
        "abc,d",
        ["ab"],
        ["A", "E"],
        "a and c",
        "1",
        1,
        ",;",
        [""],
        [["a"]],
        [None],
        True,
        {"a": "c"},
        "a" * 3000,
    ],
)
def test_letters_that_are_no_choices_are_asked_back(typed: object) -> None:
    with pytest.raises(Rewrite):
        reading.letters(typed, "abcd", several=False)


@pytest.mark.parametrize("typed", ["ab", "a, b", ["a", "b"]])
def test_one_letter_is_asked_for_where_there_is_one_choice(typed: object) -> None:
    with pytest.raises(Rewrite, match="one letter of a to d"):
        reading.letters(typed, "abcd", several=False)


def test_a_step_that_is_given_twice_is_asked_back() -> None:
    with pytest.raises(Rewrite, match="a is given twice"):
        reading.letters("a b a c", "abcd", several=True, in_order=True)


@pytest.mark.parametrize(
    "typed", ["1c 2a 3b", "1c2a3b", "1:C, 2:A, 3:B", "1 - c; 2 - a; 3 - b", "3b 1c 2a", {"1": "c", "2": " A", "3": "b"}]
)
def test_matches_are_read_however_they_are_written(typed: object) -> None:
    assert reading.matches(typed, "123", "abcd") == {"1": "c", "2": "a", "3": "b"}


@pytest.mark.parametrize(
    "typed",
    [
        "1c 1a",
        "1c 4a",
        "1e",
        "1",
        "c",
        "1c and 2a",
        "1cd",
        {1: "c"},
        {"1": "ab"},
        {"12": "a"},
        {"1": 3},
        {"1": ["c"]},
        1,
        "1a " * 500 + "!",
    ],
)
def test_matches_that_cannot_be_meant_are_asked_back(typed: object) -> None:
    with pytest.raises(Rewrite):
        reading.matches(typed, "123", "abcd")


def test_printed_blanks_and_brackets_are_forgiven_and_lines_are_not() -> None:
    assert reading.output("torch.Size( [2,4] )\n") == reading.output("torch.Size([2, 4])")
    assert reading.output("1\n2") != reading.output("1 2")
    assert reading.output(True) == "True"


def test_what_a_message_quotes_cannot_steer_a_terminal() -> None:
    for read in (reading.number, reading.shape, lambda typed: reading.letters(typed, "ab", True)):
        with pytest.raises(Rewrite) as error:
            read("\x1b[2J\u202ex\x07")
        assert str(error.value).isprintable()


@pytest.mark.parametrize(
    "text",
    ["1a " * 660 + "!", "9" * 2000 + "x", "9," * 1000, "(" * 1000 + ")" * 999, "x" * 2000, "1 " * 1000, "%" * 2000],
)
def test_no_answer_takes_longer_than_its_length(text: str) -> None:
    """Where one does, this test does not end."""
    for read in readers():
        _read_or_asked(read, text)


@settings(print_blob=True, max_examples=150, deadline=None)
@given(ANYTHING | LOOKS_LIKE_AN_ANSWER)
def test_whatever_is_typed_is_read_or_asked_back(typed: object) -> None:
    reading.is_empty(typed)
    for read in readers():
        found, sentence = _read_or_asked(read, typed)
        assert len(sentence) < 200
        assert sentence.isprintable()
        assert not isinstance(found, float) or math.isfinite(found)


def _read_or_asked(read: Callable[[object], object], typed: object) -> tuple[object, str]:
    try:
        return read(typed), ""
    except Rewrite as error:
        return None, str(error)


def readers() -> list[Callable[[object], object]]:
    return [
        reading.number,
        lambda typed: reading.number(typed, percent=True),
        reading.shape,
        reading.text,
        lambda typed: reading.text(typed, case=True),
        reading.output,
        lambda typed: reading.letters(typed, "abc", several=False),
        lambda typed: reading.letters(typed, "abc", several=True),
        lambda typed: reading.letters(typed, "abc", several=True, in_order=True),
        lambda typed: reading.matches(typed, "123", "abc"),
    ]
