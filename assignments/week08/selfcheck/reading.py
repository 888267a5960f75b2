"""How answers are read: one written rule for numbers, shapes, texts, letters and outputs, for keys and answers alike.

Numbers. A point is a decimal point. A single comma is a decimal comma (`0,5`, `1234,56`), except where it could as
well separate thousands (`16,000`): then the student is asked. With both signs the last one is the decimal sign, and the
others stand between groups of three (`1,234.56`, `1.234,56`). Fractions (`1/8`), percent (`50 %`) and powers of ten
(`5e-1`) are numbers; where a question asks for percent, `50 %` and `50` are the same. Raised and circled digits are not
read, since `10²` would become 102. What was typed is kept as it is; only its meaning is read here.

Students get this file as well, so that what cannot be read is asked again while they are there to say what they mean.
Whatever is typed, of whatever type, these functions return or raise Rewrite, and take time in proportion to its length.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence

LONGEST = 2000
"""Characters of one answer; nobody types more."""

_DASHES = dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2212, 0xFE63, 0xFF0D), "-")
_PLAIN = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d{1,3})?")
_GROUPED = re.compile(r"[-+]?\d{1,3}(?P<sign>[., ])\d{3}((?P=sign)\d{3})*(?P<rest>[.,]\d*)?")
_COMMA = re.compile(r"(?P<front>[-+]?\d*),(?P<back>\d+)(?P<power>e[-+]?\d{1,3})?")
_SIZES = re.compile(r"\d{1,9}(( ?[,;x×*] ?| )\d{1,9})*( ?,)?")
_PAIR = re.compile(r"(\d{1,3}) ?[-:=.)]? ?([a-zA-Z])(?![a-zA-Z])")


class Rewrite(ValueError):
    """An answer that could mean two things, or nothing; the text says how to write it."""


def number(typed: object, percent: bool = False) -> float:
    """The number that an answer says; with `percent`, how many percent. Raises Rewrite."""
    if isinstance(typed, (int, float)) and not isinstance(typed, bool):
        return _finite(float(typed) if abs(typed) < 10**300 else math.inf, "this")
    if isinstance(typed, str) and any(unicodedata.category(character) == "No" for character in typed):
        raise Rewrite(f"{_short(typed)} has digits that are raised or joined; write it in plain ones, such as 1/2")
    text = _line(typed, "a number, such as 0.125 or 1/8").lower()
    if not text.endswith("%"):
        return _fraction(text)
    return _fraction(text[:-1].rstrip()) / (1 if percent else 100)


def _fraction(text: str) -> float:
    if text.count("/") != 1:
        return _finite(_decimal(text), _short(text))
    above, below = (_decimal(part.strip()) for part in text.split("/"))
    if below == 0:
        raise Rewrite(f"{_short(text)} divides by zero; write a number, such as 0.125 or 1/8")
    return _finite(above / below, _short(text))


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
        if not all(isinstance(x, int) and not isinstance(x, bool) and x >= 0 for x in typed):
            raise Rewrite(f"write {wanted}")
        return list(typed)
    if isinstance(typed, int) and not isinstance(typed, bool) and 0 <= typed < 10**9:
        return [typed]
    text = _line(typed, wanted)
    plain = text.lower().removeprefix("torch.size").strip()
    bare = plain
    while len(bare) > 1 and bare[0] + bare[-1] in ("()", "[]"):
        bare = bare[1:-1].strip()
    if not bare and plain:
        return []
    if not _SIZES.fullmatch(bare):
        raise Rewrite(f"{_short(text)} is not {wanted}")
    return [int(size) for size in re.findall(r"\d+", bare)]


def text(typed: object, case: bool = False) -> str:
    """A short text as it is compared: no blanks, hyphens or full-width forms, no letter case unless it counts.

    Raises Rewrite.
    """
    plain = re.sub(r"[\s_-]", "", _line(typed, "a word or two")).rstrip(".!")
    if not plain:
        raise Rewrite("write a word or two")
    return plain if case else plain.casefold()


def output(typed: object) -> str:
    """What a program prints, as it is compared: blanks count as one, and not at all beside brackets and commas.

    Raises Rewrite.
    """
    if isinstance(typed, (bool, float)) or (isinstance(typed, int) and abs(typed) < 10**300):
        typed = str(typed)
    if not isinstance(typed, str) or len(typed) > LONGEST:
        raise Rewrite("write what the program prints, as text")
    lines = [" ".join(line.split()) for line in _plain(typed).strip().splitlines()]
    return "\n".join(re.sub(r" ?([\[\](),:]) ?", r"\1", line) for line in lines)


def letters(typed: object, known: Sequence[str], several: bool, in_order: bool = False) -> list[str]:
    """The letters that an answer names, each once, in its order. Where the order counts, none may be given twice.

    Raises Rewrite.
    """
    wanted = f"{'letters' if several else 'one letter'} of {known[0]} to {known[-1]}"
    if isinstance(typed, (list, tuple)):
        parts = [_line(part, wanted) for part in typed]
    else:
        line = _line(typed, wanted)
        parts = list(line) if line.isalpha() and several else re.split(r"[ ,;/]+", line)
    plain = [part.strip("(). ").casefold() for part in parts if part]
    unknown = [part for part in plain if part not in set(known)]
    if unknown:
        raise Rewrite(f"{_short(unknown[0])} is none of the choices; write {wanted}")
    found = list(dict.fromkeys(plain))
    if in_order and len(found) < len(plain):
        twice = next(part for part in found if plain.count(part) > 1)
        raise Rewrite(f"{twice} is given twice; write each of its letters once")
    if not found or (not several and len(found) > 1):
        raise Rewrite(f"write {wanted}")
    return found


def matches(typed: object, lefts: Sequence[str], rights: Sequence[str]) -> dict[str, str]:
    """Number of a left side -> letter of a right side: `1c 2a 3b` or a mapping. Raises Rewrite."""
    wanted = f"a letter for each number, such as 1{rights[0]} 2{rights[-1]}"
    if isinstance(typed, dict):
        pairs = [(_line(left, wanted), _line(right, wanted)) for left, right in typed.items()]
    else:
        line = _line(typed, wanted)
        pairs = _PAIR.findall(line)
        if not pairs or _PAIR.sub("", line).strip(" ,;"):
            raise Rewrite(f"{_short(line)} cannot be read; write {wanted}")
    found: dict[str, str] = {}
    for left, right in pairs:
        if left in found:
            raise Rewrite(f"{_short(left)} is given twice; write {wanted}")
        if left not in set(lefts) or right.casefold() not in set(rights):
            raise Rewrite(f"{_short(f'{left}: {right}')} is none of the choices; write {wanted}")
        found[left] = right.casefold()
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
    return " ".join(_plain(typed).split())


def _plain(typed: str) -> str:
    """One form for what looks alike, without the marks that nobody sees and that come with copied text."""
    seen = typed if typed.isascii() else "".join(c for c in typed if unicodedata.category(c) != "Cf")
    return unicodedata.normalize("NFKC", seen).translate(_DASHES)


def _finite(value: float, shown_as: str) -> float:
    if not math.isfinite(value):
        raise Rewrite(f"{shown_as} is not a finite number; write one, such as 0.125 or 1/8")
    return value


def _short(typed: str) -> str:
    """An answer as a message quotes it: what it holds may come from anybody, and is shown to others."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in typed[:41])
    return f'"{text}"' if len(text) <= 40 else f'"{text[:37]}..."'
