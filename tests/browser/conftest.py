"""The browser, and the courses that the kit's own tests use."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from laboratory import Browser

sys.path.append(str(Path(__file__).parents[1] / "kit"))


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    found = Browser(tmp_path / "profile", Path(os.environ.get("PICTURES", tmp_path / "pictures")))
    yield found
    found.close()
