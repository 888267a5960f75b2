"""Help in steps: a question, then the shape of the solution with blanks, then where to read. Each step is asked for.

The steps taken are counted in `progress.json` beside the exercises; it stays with the student.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

HINTS = "selfcheck/hints.json"
PROGRESS = "progress.json"


class HintError(Exception):
    """There is no such hint; the text says what to do."""


def hint(folder: Path, exercise: str, more: bool, command: str) -> str:
    """The step that an exercise of this folder has reached, or the next one: text to print.

    `command` is what the student typed, to say how to get more.

    Raises:
        HintError: no such exercise, no hints here, or the progress file cannot be read.
    """
    known = _read(folder / HINTS, "there are no hints in this folder")
    if exercise not in known:
        raise HintError(f'"{exercise}" is not an exercise of this folder; it has {", ".join(known)}')
    progress = _read(folder / PROGRESS, "") if (folder / PROGRESS).exists() else {}
    steps, uncounted = known[exercise], ""
    taken = progress.setdefault("hints", {}).get(exercise, 0)
    taken = taken if isinstance(taken, int) and 0 <= taken <= len(steps) else 0
    step = min(max(1, taken + more), len(steps))
    if step != taken:
        progress["hints"][exercise] = step
        uncounted = _write(folder / PROGRESS, progress)
    lines = [f"{exercise}, step {step} of {len(steps)}: {steps[step - 1]['step']}", ""]
    lines += [f"    {line}".rstrip() for line in steps[step - 1]["lines"]]
    if step < len(steps):
        lines += ["", f"next: {steps[step]['step']}, with {command} --more"]
    elif more and taken == step:
        lines += ["", "this was the last step; ask your instructor, and bring what you have tried"]
    return "\n".join(lines + (["", uncounted] if uncounted else []))


def _read(path: Path, absent: str) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise HintError(absent) from None
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("hints", {}), dict):
        cure = "take it from a fresh copy" if absent else "remove it, and the count begins anew"
        raise HintError(f"{path.name} cannot be read; {cure}")
    return found


def _write(path: Path, progress: dict[str, Any]) -> str:
    """Keep the progress; a sentence where that cannot be done."""
    try:
        fresh = path.with_name(f".{path.name}.new")
        fresh.write_text(json.dumps(progress, indent=1, sort_keys=True) + "\n", "utf-8")
        os.replace(fresh, path)
    except OSError as error:
        return f"this step is not counted: {path.name} cannot be written ({error.strerror})"
    return ""
