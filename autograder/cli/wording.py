"""How commands speak of students: so many, these, and who needs attention."""

from __future__ import annotations

from collections.abc import Sequence

MOST_NAMED = 5


def counted(count: int, one: str, many: str = "") -> str:
    """`1 page`, `2 pages`; `many` where it is not `one` with an s."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def named(students: Sequence[str]) -> str:
    """The first few by name, and how many more there are."""
    more = len(students) - MOST_NAMED
    return ", ".join(students[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def attention(count: int, of: int) -> str:
    """How many of so many need attention."""
    return f"{count} of {of} {'needs' if count == 1 else 'need'} attention" if count else "none needs attention"
