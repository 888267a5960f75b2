"""Text in cells of files that people open in a spreadsheet, which runs what looks like a formula.

Such text gets an apostrophe in front, as a person would type it, and `restored` takes it away again. It is there too
behind a character at which a spreadsheet of another country begins a new cell (OWASP, CSV Injection).
"""

from __future__ import annotations

import re

_BEGINS = "=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20"
"""What a spreadsheet takes for the beginning of a formula: = + - @, the wide forms of Asian keyboards, white space."""

_RISKY = re.compile(rf"(^|[;\t\r\n])(?='*[{_BEGINS}])")
_MADE_HARMLESS = re.compile(rf"(^|[;\t\r\n])'(?='*[{_BEGINS}])")


def harmless(text: str) -> str:
    """The text for a cell, with nothing in it that a spreadsheet would run."""
    return _RISKY.sub(r"\1'", text)


def restored(cell: str) -> str:
    """The text that `harmless` was given."""
    return _MADE_HARMLESS.sub(r"\1", cell)
