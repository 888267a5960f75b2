"""How answers are read: one written rule for numbers, shapes, texts, letters and outputs, for keys and answers alike.

Numbers. A point is a decimal point. A single comma is a decimal comma (`0,5`, `1234,56`), except where it could as
well separate thousands (`16,000`): then the student is asked. With both signs the last one is the decimal sign, and the
others stand between groups of three (`1,234.56`, `1.234,56`). Fractions (`1/8`), percent (`50 %`) and powers of ten
(`5e-1`) are numbers. What was typed is kept as it is; only its meaning is read here.

Students get this file as well, so that what cannot be read is asked again while they are there to say what they mean.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence

LONGEST = 2000
"""Characters of one answer; nobody types more."""

_DASHES = dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2212, 0xFE63, 0xFF0D), "-")
_PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,3})?")
_GROUPED = re.compile(r"[-+]?\d{1,3}(?P<sign>[., ])\d{3}((?P=sign)\d{3})*(?P<rest>[.,]\d*)?")
_COMMA = re.compile(r"(?P<front>[-+]?\d*),(?P<back>\d+)(?P<power>e[-+]?\d{1,3})?")


class Rewrite(ValueError):
    """An answer that could mean two things, or nothing; the text says how to write it."""


def number(typed: object) -> float:
    """The number that an answer says. Raises Rewrite."""
    if isinstance(typed, (int, float)) and not isinstance(typed, bool):
        return _finite(float(typed) if abs(typed) < 10**300 else math.inf, str(typed))
    text = _line(typed, "a number, such as 0.125 or 1/8").lower()
    if text.endswith("%"):
        return number(text[:-1]) / 100
    if text.count("/") == 1:
        above, below = (number(part) for part in text.split("/"))
        if below == 0:
            raise Rewrite(f"{text} divides by zero; write a number, such as 0.125 or 1/8")
        return above / below
    return _finite(_decimal(text), text)


def _decimal(text: str) -> float:
    if _PLAIN.fullmatch(text):
        return float(text)
    if found := _COMMA.fullmatch(text):
        front, back = found["front"], found["back"]
        digits = front.lstrip("+-")
        if len(back) == 3 and 1 <= len(digits) <= 3 and not digits.startswith("0") and not found["power"]:
            raise Rewrite(f"{text} could be {front}{back} or {front}.{back}; write it without a comma")
        return float(f"{front}.{back}{found['power'] or ''}")
    if (found := _GROUPED.fullmatch(text)) and (found["rest"] or "")[:1] != found["sign"]:
        rest = found["rest"] or ""
        whole = text[: len(text) - len(rest)].replace(found["sign"], "")
        return float(f"{whole}.{rest[1:]}")
    raise Rewrite(f"{_short(text)} is not a number; write one, such as 0.125 or 1/8")


def shape(typed: object) -> list[int]:
    """The shape that an answer says: `[2, 2, 4]`, `(2, 2, 4)`, `2 x 2 x 4`, `torch.Size([2, 2, 4])`. Raises Rewrite."""
    wanted = "a shape, such as [2, 2, 4]"
    if isinstance(typed, (list, tuple)):
        if not all(isinstance(x, int) and not isinstance(x, bool) for x in typed) or len(typed) > 12:
            raise Rewrite(f"{_short(str(typed))} is not {wanted}")
        return [int(x) for x in typed]
    if isinstance(typed, int) and not isinstance(typed, bool):
        typed = str(typed)
    text = _line(typed, wanted).lower()
    text = re.sub(r"^torch\.size", "", text).strip()
    while len(text) > 1 and text[0] + text[-1] in ("()", "[]"):
        text = text[1:-1].strip()
    sizes = [part for part in re.split(r"\s*[,;x×*]\s*|\s+", text) if part]
    if len(sizes) > 12 or not all(re.fullmatch(r"\d{1,9}", part) for part in sizes):
        raise Rewrite(f"{_short(text)} is not {wanted}")
    return [int(part) for part in sizes]


def text(typed: object, case: bool = False) -> str:
    """A short text as it is compared: no blanks, hyphens or full-width forms, no letter case unless it counts.

    Raises Rewrite.
    """
    plain = re.sub(r"[\s_-]", "", _line(typed, "a word or two")).rstrip(".!")
    return plain if case else plain.casefold()


def output(typed: object) -> str:
    """What a program prints, as it is compared: blanks count as one, and not at all beside brackets and commas.

    Raises Rewrite.
    """
    if isinstance(typed, (int, float, bool)):
        typed = str(typed)
    if not isinstance(typed, str) or len(typed) > LONGEST:
        raise Rewrite("write what the program prints, as text")
    plain = unicodedata.normalize("NFKC", typed).translate(_DASHES)
    lines = [" ".join(line.split()) for line in plain.strip().splitlines()]
    return "\n".join(re.sub(r" ?([\[\](),:]) ?", r"\1", line) for line in lines)


def letters(typed: object, known: Sequence[str], several: bool) -> list[str]:
    """The letters that an answer names, each once, in its order. Raises Rewrite."""
    wanted = f"{'letters' if several else 'one letter'} of {known[0]} to {known[-1]}"
    if isinstance(typed, (list, tuple)):
        if not all(isinstance(part, str) for part in typed) or len(typed) > 30:
            raise Rewrite(f"write {wanted}")
        parts = list(typed)
    else:
        line = _line(typed, wanted) if typed != "" else ""
        parts = list(line) if line.isalpha() and several else re.split(r"[\s,;/]+", line)
    plain = [part.strip().strip("().").casefold() for part in parts if part.strip()]
    unknown = [part for part in plain if part not in known]
    if unknown:
        raise Rewrite(f"{_short(unknown[0])} is none of the choices; write {wanted}")
    found = list(dict.fromkeys(plain))
    if not several and len(found) != 1:
        raise Rewrite(f"write {wanted}")
    return found


def matches(typed: object, lefts: Sequence[str], rights: Sequence[str]) -> dict[str, str]:
    """Number of a left side -> letter of a right side: `1c 2a 3b` or a mapping. Raises Rewrite."""
    wanted = f"a letter for each number, such as 1{rights[0]} 2{rights[-1]}"
    if isinstance(typed, dict):
        pairs = [(str(k), v) for k, v in typed.items()]
    else:
        line = _line(typed, wanted)
        if not re.fullmatch(r"(\s*\d+\s*[-:=.)]?\s*[a-zA-Z]\s*[,;]?)+", line):
            raise Rewrite(f"{_short(line)} cannot be read; write {wanted}")
        pairs = re.findall(r"(\d+)\s*[-:=.)]?\s*([a-zA-Z])", line)
    found: dict[str, str] = {}
    for left, right in pairs:
        if left in found:
            raise Rewrite(f"{left} is given twice; write {wanted}")
        if left not in lefts or not isinstance(right, str) or right.strip().casefold() not in rights:
            raise Rewrite(f"{_short(f'{left}: {right}')} is none of the choices; write {wanted}")
        found[left] = right.strip().casefold()
    return found


def is_empty(typed: object) -> bool:
    """Was nothing answered?"""
    return typed is None or typed == [] or typed == {} or (isinstance(typed, str) and not typed.strip())


def _line(typed: object, wanted: str) -> str:
    """Text of one line: full-width forms, kinds of blanks and kinds of dashes made one."""
    if not isinstance(typed, str):
        raise Rewrite(f"write {wanted}")
    if len(typed) > LONGEST:
        raise Rewrite(f"an answer of {len(typed)} characters is too long; write {wanted}")
    return " ".join(unicodedata.normalize("NFKC", typed).translate(_DASHES).split())


def _finite(value: float, text: str) -> float:
    if not math.isfinite(value):
        raise Rewrite(f"{_short(text)} is not a finite number; write one, such as 0.125 or 1/8")
    return value


def _short(text: str) -> str:
    return f'"{text}"' if len(text) <= 40 else f'"{text[:37]}..."'
