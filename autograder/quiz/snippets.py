"""What pieces of an author's code print, run one after the other in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence

SECONDS = 120

_RUN = """
import contextlib, io, json, sys
found = []
for code in json.load(sys.stdin):
    out, fault = io.StringIO(), ""
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(code, "code", "exec"), {"__name__": "__main__"})
    except BaseException as error:
        fault = f"{type(error).__name__}: {error}".splitlines()[0]
    found.append([out.getvalue(), fault])
json.dump(found, sys.__stdout__)
"""


def printed(codes: Sequence[str]) -> list[tuple[str, str]]:
    """Output and fault of each piece of code; the fault is empty where it ran to its end."""
    variables = {**os.environ, "PYTHONUTF8": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-I", "-c", _RUN]
    try:
        done = subprocess.run(
            command, input=json.dumps(codes), capture_output=True, encoding="utf-8", timeout=SECONDS, env=variables
        )
        return [(output, fault) for output, fault in json.loads(done.stdout)]
    except subprocess.TimeoutExpired:
        fault = f"not one of the {len(codes)} pieces of code of this bank ended within {SECONDS} seconds"
    except ValueError:
        fault = "the process that ran the code of this bank ended early"
    return [("", fault)] * len(codes)
