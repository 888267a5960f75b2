"""A terminal to ask questions on: its width, whether it shows colours and more than ASCII. A pipe will do as well."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress

from selfcheck.plain import Layout

WIDEST = 100
STYLES = {"bold": "1", "dim": "2", "yellow": "33"}


class Terminal:
    """Where lines are written to and read from: standard output and input."""

    def __init__(self) -> None:
        for stream in (sys.stdout, sys.stdin):
            if hasattr(stream, "reconfigure") and not stream.closed:
                stream.reconfigure(errors="replace")
        on_terminal = sys.stdout.isatty()
        self.layout = Layout(max(24, min(shutil.get_terminal_size().columns, WIDEST)), _is_ascii())
        self.has_colours = on_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        if on_terminal and sys.stdin.isatty():
            with suppress(ImportError):
                import readline  # noqa: F401  (lets `input` edit its line)

    def say(self, *lines: str, style: str = "") -> None:
        """Write lines that are wrapped already; none writes an empty one."""
        for line in lines or ("",):
            text = self.layout.spelled(line)
            print(f"\x1b[{STYLES[style]}m{text}\x1b[0m" if style and text and self.has_colours else text, flush=True)

    def ask(self, prompt: str = "> ") -> str:
        """A line that is typed. Raises EOFError where the input ends, KeyboardInterrupt on Ctrl-C."""
        if sys.stdin is None or sys.stdin.closed:
            raise EOFError
        return input(prompt).encode("utf-8", "replace").decode("utf-8").strip()


def _is_ascii() -> bool:
    """Is there no more than ASCII: by the encoding of the output, or by a locale that says so?"""
    try:
        "§₀√".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return True
    locale: Sequence[str] = [os.environ.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG")]
    return next(filter(None, locale), "").upper() in ("C", "POSIX")
