"""Commands count in good grammar and say whom they mean."""

from __future__ import annotations

import pytest

from autograder.cli.wording import attention, counted, named


@pytest.mark.parametrize(("count", "pages", "holds"), [(0, "0 pages", "0 hold"), (1, "1 page", "1 holds"), (2, "2 pages", "2 hold")])  # fmt: skip
def test_one_is_one(count: int, pages: str, holds: str) -> None:
    assert counted(count, "page") == pages
    assert counted(count, "holds", "hold") == holds


@pytest.mark.parametrize(
    ("students", "text"), [("a", "a"), ("abcde", "a, b, c, d, e"), ("abcdefg", "a, b, c, d, e and 2 more")]
)
def test_five_are_named_and_the_rest_is_counted(students: str, text: str) -> None:
    assert named(list(students)) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "none needs attention"), (1, "1 of 3 needs attention"), (3, "3 of 3 need attention")]
)
def test_who_needs_attention_is_counted(count: int, text: str) -> None:
    assert attention(count, 3) == text
