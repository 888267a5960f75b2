"""What a self-check says about the end of a check: outcome, the sentence for the table, and the text of the report."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from selfcheck.explain import trouble, verdict
from selfcheck.faults import Fault
from selfcheck.student import Call

MAX_FRAMES = 4


def told(error: BaseException | None, calls: Sequence[Call], folder: Path) -> tuple[dict[str, Any], str]:
    """Plain record {outcome, share, sentence} and the text for the student, empty when the check passed."""
    found = verdict(error, calls, public=True)
    record = {"outcome": found.outcome, "share": found.share, "sentence": found.message.partition("\n")[0]}
    if error is None:
        return record, ""
    if not isinstance(error, Fault):
        return record, f"this check itself is at fault, not your code; please tell your instructor: {trouble(error)}"
    if found.outcome == "not attempted":
        return record, found.message
    return record, "\n".join([f"{found.outcome}: {found.message}", *_own_lines(error.__cause__, folder)])


def _own_lines(error: BaseException | None, folder: Path) -> list[str]:
    """Where in the student's files an error arose, innermost last: place and source line."""
    found = []
    trace = error.__traceback__ if error is not None else None
    while trace is not None:
        code = trace.tb_frame.f_code
        path = Path(code.co_filename)
        if path.parent == folder and path.name != "conftest.py" and not path.name.startswith("test_"):
            found += [f"{path.name}:{trace.tb_lineno} in {code.co_name}"]
            found += [f"    {linecache.getline(code.co_filename, trace.tb_lineno).strip()}"]
        trace = trace.tb_next
    return found[-2 * MAX_FRAMES :]
