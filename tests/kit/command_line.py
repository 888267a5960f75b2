"""The command as people run it: a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def autograder(
    *arguments: str | Path, cwd: Path = ROOT, environment: dict[str, str] | None = None, width: int = 120
) -> subprocess.CompletedProcess[str]:
    """Run `autograder ARGUMENTS` in `cwd`. Bytes that are not UTF-8 arrive as escapes."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": str(width), **(environment or {})}
    command = [sys.executable, "-c", "from autograder.cli import main; main(prog_name='autograder')"]
    done = subprocess.run([*command, *map(str, arguments)], cwd=cwd, env=variables, capture_output=True, timeout=300)
    return subprocess.CompletedProcess(
        done.args, done.returncode, _text(done.stdout), _text(done.stderr)
    )


def _text(output: bytes) -> str:
    return output.decode("utf-8", "backslashreplace")
