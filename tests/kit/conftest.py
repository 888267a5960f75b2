"""What holds for all tests of the kit."""

from __future__ import annotations

import sys

import pytest

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # as the command does

LONGEST = """
attacks nbgrader confinement processes tricks nbgrader_regrades wrong_kinds scratch demo same_scores selfcheck secrets
cases_submissions cases_scoring
""".split()
"""Files that take longest begin first, so that no core waits for the last one; they must not be reordered after that."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    rank = {f"test_{name}": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(rank)))
