"""The helpers of checks: nothing passes but the right answer in the right form, and each refusal is a helpful sentence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from autograder.sandbox.values import Foreign
from autograder.suite.checking import (
    agree,
    equal,
    expect,
    has_state,
    leaves_unchanged,
    number,
    numbers,
    partial_credit,
    parts,
    rejects,
    same,
    tensor,
)
from autograder.suite.explain import verdict
from autograder.suite.faults import KitFault, Mismatch, NotAttempted, PartialCredit, Raised, Stopped, TimedOut

WANTED = torch.tensor([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], dtype=torch.float64)
RIGHT = WANTED.float()


def refusal(function: Any, *arguments: Any, **keywords: Any) -> Mismatch:
    with pytest.raises(Mismatch) as raised:
        function(*arguments, **keywords)
    return raised.value


# -- same


@pytest.mark.parametrize(
    ("got", "wanted"),
    [
        ("a", "a"),
        (3, 3),
        ([1, "b"], [1, "b"]),
        (("a", [2]), ["a", (2,)]),
        ({"x": [1], "y": None}, {"y": None, "x": [1]}),
    ],
)
def test_the_same_plain_data_is_the_same(got: Any, wanted: Any) -> None:
    same(got, wanted)


@pytest.mark.parametrize(
    ("got", "wanted", "told"),
    [
        ("b", "a", "the answer differs"),
        (["a", "b", "d"], ["a", "b", "c"], "the answer differs, first at [2]"),
        ({"x": [1, 2]}, {"x": [1, 3]}, "the answer differs, first at ['x'][1]"),
        ({"x": 1}, {"y": 1}, "the answer differs"),
        ({"x": 1, "y": 2}, {"x": 1}, "the answer differs"),
        (["a"], ["a", "b"], "expected a list of 2, got a list of 1"),
        ("ab", ["a", "b"], "expected a list of 2, got str"),
        ([True], [1], "expected int, got bool, first at [0]"),
        (1.0, 1, "expected int, got float"),
        ("1", 1, "expected int, got str"),
        (None, "a", "expected str, got None (is a return missing?)"),
        (torch.tensor(1), 1, "expected int, got a tensor of shape []"),
        (torch.tensor([1, 2]), [1, 2], "expected a list of 2, got a tensor of shape [2]"),
        (Foreign("generator"), [1], "expected a list of 1, got generator"),
    ],
)
def test_other_plain_data_is_told_apart(got: Any, wanted: Any, told: str) -> None:
    assert refusal(same, got, wanted).sentence == told


def test_expected_texts_stand_in_the_detail_and_never_in_the_sentence() -> None:
    fault = refusal(same, ["anna", "mia"], ["anna", "ZEBRA"])
    assert "ZEBRA" not in fault.sentence and "ZEBRA" in fault.detail


# -- agree


def test_a_right_answer_agrees() -> None:
    agree(RIGHT, WANTED)
    agree(RIGHT * (1 + 5e-5), WANTED)
    agree(RIGHT, WANTED.tolist())
    agree(WANTED, WANTED, dtype=torch.float64)
    agree(RIGHT.t().contiguous().t(), WANTED)
    agree(RIGHT.clone().requires_grad_(), WANTED)
    agree(torch.tensor(2.0), 2.0)
    agree(2, 2.0)
    agree(torch.tensor([True, False]), [True, False])
    agree(torch.tensor([3, 4]), torch.tensor([3, 4]))
    agree(torch.empty(0, 3), torch.empty(0, 3, dtype=torch.float64))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (None, "expected a torch.Tensor, got None (is a return missing?)"),
        ([[0.1]], "expected a torch.Tensor, got a list of 1"),
        ((RIGHT,), "expected a torch.Tensor, got a tuple of 1"),
        (0.5, "expected a torch.Tensor, got float"),
        ("0.5", "expected a torch.Tensor, got str"),
        (np.ones((2, 3), np.float32), "expected a torch.Tensor, got ndarray"),
        (Foreign("numpy.ndarray"), "expected a torch.Tensor, got numpy.ndarray"),
        (RIGHT.double(), "expected dtype float32, got float64"),
        (RIGHT.half(), "expected dtype float32, got float16"),
        (RIGHT.long(), "expected dtype float32, got int64"),
        (RIGHT[..., None], "expected shape [2, 3], got [2, 3, 1]"),
        (RIGHT[0], "expected shape [2, 3], got [3]"),
        (RIGHT[:, :1], "expected shape [2, 3], got [2, 1]"),
        (RIGHT.mean(), "expected shape [2, 3], got []"),
        (torch.empty(0), "expected shape [2, 3], got [0]"),
        (RIGHT.flatten(), "expected shape [2, 3], got [6]"),
        (RIGHT + 0.25, "6 of 6 values differ; the largest difference is 0.25"),
        (RIGHT + torch.tensor([0, 0, 1.0]), "2 of 6 values differ; the largest difference is 1 at"),
    ],
    ids=str,
)
def test_what_does_not_agree_is_told_apart(answer: Any, told: str) -> None:
    assert refusal(agree, answer, WANTED).sentence.startswith(told)


def test_a_column_never_equals_a_row_by_broadcasting() -> None:
    for answer, wanted in (
        (torch.ones(3, 1), torch.ones(3)),
        (torch.ones(3), torch.ones(3, 1)),
        (torch.ones(()), torch.ones(2, 3)),
        (torch.ones(1), torch.ones(())),
        (torch.empty(0), torch.ones(())),
        (torch.ones(1, 3), torch.ones(2, 3)),
    ):
        for compare in (agree, equal):
            assert "expected shape" in refusal(compare, answer, wanted).sentence


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_never_pass(bad: float) -> None:
    everywhere, somewhere = torch.full((2, 3), bad), RIGHT.clone()
    somewhere[1, 2] = bad
    cancelling = torch.tensor([math.inf, -math.inf])
    for answer, place in ((everywhere, "[0, 0]"), (somewhere, "[1, 2]")):
        for tolerance in (1e-4, 1e9, math.inf):
            told = refusal(agree, answer, WANTED, rtol=tolerance, atol=tolerance).sentence
            assert told.startswith("the answer holds ")
            assert place in told
        assert "the answer holds" in refusal(tensor, answer).sentence
        assert "the answer holds" in refusal(equal, answer, answer.clone()).sentence
    assert "the answer holds" in refusal(tensor, cancelling).sentence
    assert "expected a finite number" in refusal(agree, bad, 1.0).sentence
    assert "expected a finite number" in refusal(number, torch.tensor(bad)).sentence
    assert "finite floats" in refusal(numbers, [0.0, bad]).sentence


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_reference_that_is_not_finite_is_a_fault_of_the_kit(bad: float) -> None:
    """Nobody passes and nobody fails by it, not even with the same NaN."""
    for answer, wanted in ((torch.tensor([bad]), torch.tensor([bad])), (RIGHT, WANTED * bad), (1.0, bad), (bad, bad)):
        with pytest.raises(KitFault):
            agree(answer, wanted)
        with pytest.raises(KitFault):
            agree(answer, wanted, rtol=math.inf, atol=math.inf)
    with pytest.raises(KitFault) as raised:
        agree(RIGHT, [[bad] * 3] * 2)
    assert verdict(raised.value, (), public=True).outcome == "grader trouble"


def test_very_large_right_values_are_still_finite() -> None:
    large = torch.full((4,), 3e38)
    assert tensor(large) is large
    agree(large, large.double())


def test_tolerance_follows_the_dtype() -> None:
    assert "values differ" in refusal(agree, WANTED + 1e-7, WANTED, dtype=torch.float64).sentence
    assert "values differ" in refusal(agree, RIGHT + 2e-3, WANTED).sentence
    agree(WANTED.half(), WANTED, dtype=torch.float16)
    assert "dtype" in refusal(agree, WANTED.half(), WANTED).sentence


def test_integers_and_booleans_must_be_exactly_right() -> None:
    mask = torch.tensor([True, False])
    assert "expected dtype bool, got int64" in refusal(agree, mask.long(), mask).sentence
    assert "expected dtype bool, got float32" in refusal(equal, mask.float(), mask).sentence
    assert (
        "expected dtype int64, got int32" in refusal(equal, torch.tensor([1, 2]).int(), torch.tensor([1, 2])).sentence
    )
    assert "1 of 2 values differ" in refusal(equal, ~mask & mask, mask).sentence
    assert (
        "1 of 2 values differ; the largest difference is 5"
        in refusal(equal, torch.tensor([1, 7]), torch.tensor([1, 2])).sentence
    )


def test_expected_numbers_stand_in_the_detail_and_never_in_the_sentence() -> None:
    """A hidden check shows the sentence only."""
    for wrong, wanted in ((RIGHT + 0.25, WANTED), (RIGHT * math.nan, WANTED), (3.0, 123.456)):
        fault = refusal(agree, wrong, wanted)
        hidden = verdict(fault, (), public=False).message
        assert "123.456" not in hidden
        assert "0.1" not in hidden
        assert "[[" not in hidden
        assert "\n" not in hidden
        assert fault.detail
        assert verdict(fault, (), public=True).message.count("\n") >= 1


# -- the other helpers


@pytest.mark.parametrize("value", [None, [1, 2, 3], (1,), torch.ones(2), "ab", {1: 2, 3: 4}, Foreign("set")])
def test_parts_wants_exactly_so_many(value: Any) -> None:
    assert refusal(parts, value, 2).sentence.startswith("expected a tuple of 2 values, got ")
    assert parts([1, 2], 2) == (1, 2) == parts((1, 2), 2)


@pytest.mark.parametrize(
    "value", [None, True, "3", [1.0], torch.ones(1), torch.tensor(True), torch.tensor(1j), Foreign("decimal.Decimal")]
)
def test_a_number_is_a_number(value: Any) -> None:
    assert refusal(number, value).sentence.startswith("expected a number, got ")
    assert (number(2), number(2.5), number(torch.tensor(2.5)), number(torch.tensor(3))) == (2.0, 2.5, 2.5, 3.0)


@pytest.mark.parametrize(
    "value", [None, (1.0, 2.0), torch.ones(2), [1.0], [1.0, 2], [1.0, torch.tensor(2.0)], [True, 1.0]]
)
def test_numbers_are_a_list_of_floats(value: Any) -> None:
    assert refusal(numbers, value, 2).sentence.startswith("expected a list of ")
    assert torch.equal(numbers([1.0, 2.0], 2), torch.tensor([1.0, 2.0], dtype=torch.float64))


def raising(*, text: str = "", names: tuple[str, ...] = ("ValueError", "Exception")) -> Raised:
    return Raised("your code raised", f"ValueError: {text}", names, text)


def test_rejects_wants_a_value_error_that_names_the_numbers() -> None:
    for text in ("9 tokens, 8 places", "T=9>L=8", "(8, 9)", "got 9.0, at most 8"):
        with rejects(9, 8):
            raise raising(text=text)
    with rejects(-0.5):
        raise raising(text="temperature -0.5 is negative")
    with rejects():
        raise raising()


@pytest.mark.parametrize(
    ("text", "told"),
    [("", "does not name"), ("9 only", "does not name"), ("98", "does not name"), ("9.8", "does not name")],
)
def test_rejects_does_not_take_a_number_inside_another(text: str, told: str) -> None:
    with pytest.raises(Mismatch, match=told), rejects(9, 8):
        raise raising(text=text)


def test_rejects_takes_no_other_error_and_no_silence() -> None:
    with pytest.raises(Mismatch, match="expected a ValueError, got TypeError"), rejects(9):
        raise raising(text="9", names=("TypeError", "Exception"))
    with pytest.raises(Mismatch, match="expected a ValueError, got another error"), rejects(9):
        raise raising(text="9", names=())
    with pytest.raises(Mismatch, match="no error was raised"), rejects(9):
        pass
    for fault in (NotAttempted("not attempted"), Stopped("stopped"), TimedOut("timed out")):
        with pytest.raises(type(fault)), rejects(9):
            raise fault


class Answering:
    """Something whose answers are fixed, in the place of a student's function or module."""

    def __init__(self, answer: Any = None, after: list[Any] | None = None) -> None:
        self.answer, self.after = answer, after

    def state_dict(self) -> Any:
        return self.answer

    def arguments_after(self, *arguments: Any, **keywords: Any) -> tuple[Any, list[Any]]:
        return self.answer, list(arguments) if self.after is None else self.after


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (None, "state_dict() should return a dict, got None"),
        ([], "state_dict() should return a dict, got a list of 0"),
        ({}, "missing: bias, weight"),
        ({"weight": torch.ones(3)}, "missing: bias"),
        ({"weight": torch.ones(3), "bias": torch.ones(3), "mask": 1}, "not expected: mask"),
        ({"weight": torch.ones(3), "bias": torch.ones(1)}, "`bias` should have shape [3], has [1]"),
        ({"weight": torch.ones(3), "bias": 3.0}, "`bias` should have shape [3], has float"),
        ({"weight": torch.ones(3), "bias": Foreign("a sparse tensor")}, "`bias` should have shape [3], has a sparse"),
    ],
)
def test_a_state_has_exactly_these_names_and_shapes(state: Any, told: str) -> None:
    assert told in refusal(has_state, Answering(state), {"weight": (3,), "bias": (3,)}).sentence
    has_state(Answering({"bias": torch.ones(3), "weight": torch.ones(3)}), {"weight": (3,), "bias": (3,)})


def test_a_message_is_bounded_and_printable_whatever_a_student_names() -> None:
    state = {f"\x1b[31m{i}" * 500: 1 for i in range(500)}
    found = verdict(refusal(has_state, Answering(state), {}), (), public=False)
    assert len(found.message) < 2000
    assert all(c.isprintable() or c == "\n" for c in found.message)
    told = verdict(refusal(agree, {"\x07" * 9000: 1}, WANTED), (), public=True)
    assert len(told.message) < 5000
    assert all(c.isprintable() or c == "\n" for c in told.message)


def test_arguments_are_compared_bit_by_bit() -> None:
    x, mask = torch.tensor([1.0, math.nan]), torch.tensor([True])
    leaves_unchanged(Answering(RIGHT), x, mask, 3, "text")
    for after in (
        [x + 1, mask, None],
        [x, ~mask, None],
        [x[:1], mask, None],
        [x.double(), mask, None],
        [None, mask, None],
    ):
        place = 2 if after[0] is x else 1
        told = refusal(leaves_unchanged, Answering(RIGHT, after), x, mask, 3).sentence
        assert told == f"argument {place} was modified in place; work on a copy"


@pytest.mark.parametrize("answer", [None, Foreign("numpy.ndarray"), [], 1.0, (None, None)])
def test_nothing_returned_is_no_proof_that_nothing_was_changed(answer: Any) -> None:
    assert refusal(leaves_unchanged, Answering(answer), RIGHT).sentence.startswith("expected a torch.Tensor, got ")
    leaves_unchanged(Answering((RIGHT, None)), RIGHT)


def test_expect_fails_with_its_sentence() -> None:
    expect(True, "unused")
    assert refusal(expect, False, "a later position should change nothing").sentence.endswith("nothing")


@pytest.mark.parametrize(("share", "earned"), [(0, 0), (0.0, 0), (0.25, 0.25), (1, 1), (1.5, 1), (-3, 0)])
def test_partial_credit_is_held_between_nothing_and_all(share: float, earned: float) -> None:
    with pytest.raises(PartialCredit) as raised:
        partial_credit(share, "so far")
    found = verdict(raised.value, (), public=True)
    assert (found.share, found.outcome) == (earned, "passed" if earned == 1 else "failed")


@pytest.mark.parametrize("share", [math.nan, math.inf, -math.inf, "3", None, True])
def test_partial_credit_that_is_no_number_is_a_fault_of_the_kit(share: Any) -> None:
    with pytest.raises(PartialCredit) as raised:
        partial_credit(share, "so far")
    assert verdict(raised.value, (), public=True).outcome == "grader trouble"


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("x"), AssertionError("y"), KitFault("z"), SystemExit(0), RuntimeError()]
)
def test_any_other_error_of_a_check_is_the_graders_trouble(error: BaseException) -> None:
    found = verdict(error, (), public=True)
    assert (found.outcome, found.share) == ("grader trouble", 0)
    assert "instructor" in found.message
