"""`autograder doctor`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console
from rich.text import Text

from autograder.cli.exit_codes import ATTENTION, OK
from autograder.grading import GradingError
from autograder.sandbox.doctor import Diagnosis, examine
from autograder.sandbox.host.errors import SandboxError
from autograder.sandbox.levels import FULL


def run(without: Sequence[str], as_json: bool) -> int:
    """Examine this host and print what was found. Returns the exit code."""
    try:
        found = examine(without)
    except SandboxError as error:
        raise GradingError(f"student code cannot be run here at all: {error}") from None
    if as_json:
        print(json.dumps(asdict(found), indent=1))
    else:
        _report(Console(), found)
    return OK if found.isolation == FULL else ATTENTION


def _report(console: Console, found: Diagnosis) -> None:
    console.print(Text(f"isolation: {found.isolation}", style="bold"))
    console.print(Text(f"  {', '.join(f'{name} {version}' for name, version in found.versions.items())}"))
    console.print(Text(f"  in force: {', '.join(found.in_force) or 'nothing but limits on time, memory and output'}"))
    for mechanism, why in found.missing.items():
        console.print(Text(f"  missing: {mechanism} ({why})", style="yellow"))
        console.print(Text(f"    to get it: {found.cures[mechanism]}"))
    scratch = f"cannot be given ({found.no_scratch})" if found.no_scratch else "can be given"
    console.print(Text(f"  scratch: {scratch}"))
    console.print(Text("\nCan student code, when it tries:"))
    for finding in found.findings:
        remark = "" if finding.proven else " (not proven: it does not work outside either)"
        answer = Text("  no   ", style="green") if finding.is_stopped else Text("  YES  ", style="bold red")
        console.print(answer + Text(f"{finding.act}{remark}"))
