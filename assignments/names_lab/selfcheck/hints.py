"""Help in steps: a question, then the shape of the solution with blanks, then where to read. Each step is asked for.

The steps taken are counted in `progress.json` beside the exercises; it stays with the student.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from selfcheck.progress import load_progress, save_progress

HINTS = "selfcheck/hints.json"


class HintError(Exception):
    """There is no such hint; the text says what to do."""


def hint(folder: Path, exercise: str, more: bool, command: str) -> str:
    """The step that an exercise of this folder has reached, or the next one: text to print.

    `command` is what the student typed, to say how to get more.

    Raises:
        HintError: no such exercise, or no hints here.
    """
    known = _read(folder / HINTS)
    if exercise not in known:
        raise HintError(f'"{exercise}" is not an exercise of this folder; it has {", ".join(known)}')
    progress, remark = load_progress(folder)
    steps = known[exercise]
    taken = progress.setdefault("hints", {}).get(exercise, 0)
    taken = taken if isinstance(taken, int) and 0 <= taken <= len(steps) else 0
    step = min(max(1, taken + more), len(steps))
    if step != taken:
        progress["hints"][exercise] = step
        remark = save_progress(folder, progress) or remark
    lines = [f"{exercise}, step {step} of {len(steps)}: {steps[step - 1]['step']}", ""]
    lines += [f"    {line}".rstrip() for line in steps[step - 1]["lines"]]
    if step < len(steps):
        lines += ["", f"next: {steps[step]['step']}, with {command} --more"]
    elif more and taken == step:
        lines += ["", "this was the last step; ask your instructor, and bring what you have tried"]
    return "\n".join(lines + (["", remark] if remark else []))


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise HintError("there are no hints in this folder") from None
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise HintError(f"{path.name} cannot be read; take it from a fresh copy")
    return found
