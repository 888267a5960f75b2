"""Looking at the bytes of a file, without decoding or parsing them: is this Python text at all?"""

from __future__ import annotations

import codecs
import re

_WIDE_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_WEB_PAGE = re.compile(rb"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_CONFLICT_MARKS = (b"<<<<<<< ", b">>>>>>> ")
_CONFLICT = re.compile(rb"(?:\A|[\r\n])(?:<<<<<<<|>>>>>>>) ")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_LOOK_AT = 4096


def unreadable(content: bytes) -> str | None:
    """Why `content` cannot be Python text, in words that continue the file's name; None when it can."""
    if content.startswith(_WIDE_MARKS):
        return "is saved as UTF-16 or UTF-32; save it as UTF-8"
    text = content.removeprefix(codecs.BOM_UTF8).strip()
    if not text:
        return "is empty; save your work and hand it in again"
    start = text[:_LOOK_AT]
    if _WEB_PAGE.match(start):
        return "is a web page; download the raw file"
    if start.startswith(b"{\\rtf"):
        return "is a word processor's document; save it as plain text"
    if start.startswith(b"{") and b'"cells"' in content and b'"nbformat"' in content:
        return "is a notebook under a .py name; export it as a Python file"
    if start.startswith(b"PK\x03\x04"):
        return "is a zip file under a .py name; hand in the file inside it"
    if b"\0" in content:
        return "contains zero bytes, so it is not Python text; save it as UTF-8"
    return None


def conflict_line(content: bytes) -> int | None:
    """The line, counted from 1, of the first conflict marker that git left in the file."""
    if not any(mark in content for mark in _CONFLICT_MARKS):
        return None  # the usual case, a hundred times faster than the search below
    marker = _CONFLICT.search(content)
    return None if marker is None else 1 + len(_LINE_END.findall(content, 0, marker.end() - 8))
