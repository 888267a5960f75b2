"""What holds for all tests of the kit."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import postgres
import pytest

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # as the command does

LONGEST = """
attacks nbgrader confinement verify wrong_kinds same_scores tricks scratch processes cluster demo nbgrader_regrades
nbgrade selfcheck cases_endless cases_submissions lab_command lab_models leaks dask hostile_replies cases_scoring cli gradescope_zip
secrets cases_answers release
""".split()
"""Files that take longest begin first, so that no core waits for the last one; they must not be reordered after that."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    rank = {f"test_{name}": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(rank)))


@pytest.fixture(scope="session")
def postgresql() -> Iterator[postgres.NewDatabase]:
    if reason := postgres.missing():
        pytest.skip(reason)
    with postgres.server() as new_database:
        yield new_database


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Where a new store may be: the test runs once on each database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'receipts.sqlite'}"
    return request.getfixturevalue("postgresql")()
