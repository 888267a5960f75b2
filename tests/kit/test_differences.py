"""What a message says of the kind of a difference, and that it says nothing where several kinds fit or a value would show."""

import pytest
import torch

from autograder.suite.differences import kind_of_difference, kind_of_shape, where_not_finite

WANTED = torch.tensor([[0.3, -1.2, 2.5, 0.9], [1.7, 0.4, -0.6, -2.2], [-0.1, 1.1, 0.8, 3.4]])

CHANGED = {
    "factor": (1.25 * WANTED, "a factor of 1.25 everywhere"),
    "sign": (-WANTED, "the sign is turned everywhere"),
    "offset": (WANTED - 0.25, "-0.25 everywhere"),
    "later": (
        torch.cat([torch.full((1, 4), 9.0), WANTED[:-1]]),
        "the right values one place after their own along axis 0",
    ),
    "earlier": (WANTED.roll(-1, 1), "the right values one place before their own along axis 1"),
    "reversed": (WANTED.flip(1), "the right values in reverse order along axis 1"),
    "reshaped": (WANTED.T.reshape(3, 4), "the right values in another order"),
    "one wrong": (torch.where(torch.arange(3)[:, None] == 1, 7.0, WANTED), "only index 1 along axis 0 is wrong"),
    "one right": (torch.where(torch.arange(4) == 2, WANTED, WANTED.cos()), "only index 2 along axis 1 is right"),
    "nearly right": (WANTED * 1.00005, ""),
    "something else": (WANTED.square(), ""),
    "constant answer": (torch.ones(3, 4), ""),
    "zeros": (torch.zeros(3, 4), ""),
}


@pytest.mark.parametrize("case", CHANGED)
def test_says_what_became_of_the_values(case: str) -> None:
    got, sentence = CHANGED[case]
    assert kind_of_difference(got, WANTED) == sentence


def test_says_that_axes_have_changed_places() -> None:
    wanted = torch.arange(9.0).reshape(3, 3) ** 1.5
    assert kind_of_difference(wanted.T, wanted) == "axes 0 and 1 have changed places"


@pytest.mark.parametrize("wanted", [torch.tensor([2.0]), torch.full((3, 3), 2.0), torch.tensor([1.0, 2.0, 1.0, 2.0])])
def test_an_expected_value_cannot_be_worked_out_from_a_factor(wanted: torch.Tensor) -> None:
    """Where few different values are expected, a factor or an offset would give them away."""
    assert kind_of_difference(3 * wanted, wanted) == ""
    assert kind_of_difference(wanted + 1, wanted) == ""


@pytest.mark.parametrize("value", [3e38, -3e38, 1e-45])
def test_extreme_answers_are_no_trouble(value: float) -> None:
    got = torch.where(torch.eye(3, 4).bool(), value, WANTED)
    assert isinstance(kind_of_difference(got, WANTED), str)
    assert isinstance(kind_of_difference(torch.full((3, 4), value) * WANTED.sign(), WANTED), str)


@pytest.mark.parametrize(
    ("got", "wanted", "sentence"),
    [
        ([3, 2], [2, 3], "the axes have changed places"),
        ([2, 1, 3], [2, 3], "an axis of length 1 is too many"),
        ([2, 3], [2, 3, 1], "an axis of length 1 is missing"),
        ([2], [2, 3], "an axis is missing"),
        ([2, 3, 4], [2, 3], "an axis is too many"),
        ([2, 4], [2, 3], ""),
    ],
)
def test_says_what_became_of_the_shape(got: list[int], wanted: list[int], sentence: str) -> None:
    assert kind_of_shape(got, wanted) == sentence


def test_says_which_rows_are_not_finite() -> None:
    row = torch.where(torch.arange(3)[:, None] == 1, torch.nan, WANTED)
    assert where_not_finite(row) == "in 1 of 3 rows, and there in the whole row"
    assert where_not_finite(torch.full((2, 2), torch.inf)) == "everywhere"
    assert where_not_finite(torch.where(torch.eye(3, 4).bool(), torch.nan, WANTED)) == ""
