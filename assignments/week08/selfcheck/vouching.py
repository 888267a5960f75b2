"""Sentences about a file that come from the process in which the student's code runs: believed as far as they can be.

Code there can put anything into them, hidden inputs too. So a sentence is only passed on when it is one that reading a
file gives rise to, and every part of it is known here: numbers of lines that the file has, names of built-in
exceptions, words that stand in the file.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Collection

UNKNOWN = "a part of the file could not be read"

_STILL = "; the rest of the file was still read"
_SENTENCES = [
    re.compile(pattern)
    for pattern in (
        r"line (?P<line>\d+) stopped the program \((?P<error>\w+)\); nothing after it was read",
        r"line (?P<line>\d+), column (?P<column>\d+): byte 0x[0-9A-F]{2} is not UTF-8; the file was read as Latin-1, "
        "save it as UTF-8",
        r"(?:the file does not parse: )?line (?P<line>\d+) does not parse: (?P<syntax>.+?)(?: \(`(?P<quote>.*)`\))?",
        r"(?:the file does not parse: )?the text does not parse \((?P<error>\w+)\)",
        r"line (?P<line>\d+) needs (?P<word>[\w.]+), which is (?:not installed|out of reach) here",
        r"line (?P<line>\d+) asks for input, and nobody is there to answer",
        r"line (?P<line>\d+) raised (?P<error>\w+) \(`(?P<quote>.*)`\)",
        r"(?P<name>\w+)\.py has no `(?P<asked>\w+)`",
    )
]
_RENAME = re.compile(r", but it has `(?P<word>\w+)`: rename it")
_BECAUSE = re.compile(r"(?P<absent>\w+\.py has no `\w+`) \((?P<note>.+)\)")
_SYNTAX = re.compile(
    r"invalid syntax(?:\. Perhaps you forgot a comma\?|\. Maybe you meant '==' or ':=' instead of '='\?)?"
    r"|invalid (?:decimal literal|character '.' \(U\+[0-9A-F]{4,6}\)|non-printable character U\+[0-9A-F]{4,6})"
    r"|'[(\[{]' was never closed|unmatched '[)\]}]'"
    r"|closing parenthesis '.' does not match opening parenthesis '.'(?: on line \d+)?"
    r"|expected '[:(=]'|expected 'except' or 'finally' block|unexpected indent|unexpected EOF while parsing"
    r"|expected an indented block(?: after (?:(?:function|class) definition|'(?:if|elif|else|for|while|with|try|except"
    r"|finally|match|case)' statement) on line \d+)?"
    r"|unindent does not match any outer indentation level|inconsistent use of tabs and spaces in indentation"
    r"|unterminated (?:triple-quoted )?(?:f-)?string literal(?: \(detected at line \d+\))?"
    r"|(?:unexpected character after|unexpected EOF after) line continuation character"
    r"|leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers"
    r"|cannot assign to (?:function call|literal|expression|attribute|subscript|comparison|lambda"
    r"|conditional expression|True|False|None|f-string expression)(?: here\. Maybe you meant '==' instead of '='\?)?"
    r"|'(?:return|yield|await|break|continue)' outside (?:function|loop|async function)"
    r"|positional argument follows keyword argument|source code string cannot contain null bytes"
    r"|too many (?:nested parentheses|statically nested blocks)"
    r"|Missing parentheses in call to 'print'\. Did you mean print\(\.\.\.\)\?"
)


def vouched(said: str, source: bytes, names: Collection[str] = ()) -> str:
    """The sentence, as far as everything in it is known here; otherwise one that says less.

    `source` is the file that it speaks of; `names` are those of files, and of what was asked of them.
    """
    text = source.decode("utf-8", "replace")
    because = _BECAUSE.fullmatch(said)
    if because:
        return f"{vouched(because['absent'], source, names)} ({vouched(because['note'], source)})"
    body = said.removesuffix(_STILL)
    still = _STILL if body != said else ""
    near = _RENAME.search(body)
    if near:
        tail = near.group() if _stands_in(near["word"], text) else ""
        return vouched(body[: near.start()], source, names) + tail
    for pattern in _SENTENCES:
        match = pattern.fullmatch(body)
        if match:
            found = match.groupdict()
            known = [
                p in names if kind in ("name", "asked") else _known(kind, p, text, source)
                for kind, p in found.items()
                if p
            ]
            if not all(known):
                return UNKNOWN
            if found.get("syntax") and not _is_a_parsers(found["syntax"], source):
                body = body.replace(found["syntax"], "invalid syntax", 1)
            return body + still
    return UNKNOWN


def is_line_of(line: object, source: bytes) -> bool:
    """Is it the number of a line that the file has?"""
    return type(line) is int and 1 <= line <= len(re.split(rb"\r\n|\r|\n", source))


def _is_a_parsers(said: str, source: bytes) -> bool:
    """Does Python's parser say so, of lines that the file has?"""
    lines = re.findall(r"\bline (\d+)", said)
    return _SYNTAX.fullmatch(said) is not None and all(_is_number(n) and is_line_of(int(n), source) for n in lines)


def _is_number(digits: str) -> bool:
    return re.fullmatch(r"[1-9][0-9]{0,6}", digits) is not None


def _known(kind: str, part: str, text: str, source: bytes) -> bool:
    match kind:
        case "line":
            return _is_number(part) and is_line_of(int(part), source)
        case "column":
            return _is_number(part) and int(part) <= max(map(len, re.split(rb"\r\n|\r|\n", source))) + 1
        case "error":
            found = getattr(builtins, part, None)
            return isinstance(found, type) and issubclass(found, BaseException)
        case "word":
            return _stands_in(part, text)
        case "quote":
            return any(part in read or part in _printable(read) for read in (text, source.decode("latin-1")))
        case _:
            return True


def _printable(text: str) -> str:
    """As a quotation arrives: a blank for what cannot be printed, such as a blank that does not break a line."""
    return "".join(c if c.isprintable() else " " for c in text)


def _stands_in(word: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None
