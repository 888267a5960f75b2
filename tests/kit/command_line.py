"""The command: as people run it, in a process of its own, and for short questions in this one."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner
from grading import sharing_zygotes

from autograder.cli import main

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-c", "from autograder.cli import main; main(prog_name='autograder')")
Ran = subprocess.CompletedProcess[str]


def autograder(
    *arguments: str | Path, cwd: Path = ROOT, environment: dict[str, str] | None = None, width: int = 120
) -> Ran:
    """Run `autograder ARGUMENTS` in `cwd`, in a new process. Bytes that are not UTF-8 arrive as escapes."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": str(width), **(environment or {})}
    done = subprocess.run([*COMMAND, *map(str, arguments)], cwd=cwd, env=variables, capture_output=True, timeout=300)
    stdout, stderr = (stream.decode("utf-8", "backslashreplace") for stream in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(arguments, done.returncode, stdout, stderr)


def ask(*arguments: str | Path, cwd: Path) -> Ran:
    """`autograder ARGUMENTS` in `cwd`, run in this process and, where it grades, with the zygote that tests share."""
    with contextlib.chdir(cwd), sharing_zygotes():
        done = CliRunner(env={"COLUMNS": "120"}).invoke(main, [*map(str, arguments)], prog_name="autograder")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)
