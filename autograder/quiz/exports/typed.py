"""Answers that are typed, for programs that compare them letter by letter: spellings, and numbers with their bounds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from autograder.quiz import reading

LINES = " | "
"""What stands between lines of an output where only one line can be typed."""


def text_spellings(text: str, case: bool) -> tuple[str, ...]:
    """A short text with blanks, hyphens, and without either."""
    words = [word for word in re.split(r"[\s_-]+", text.strip()) if word]
    return once([text.strip(), *(sign.join(words) for sign in (" ", "-", "", "_"))], case)


def shape_spellings(sizes: Iterable[int]) -> tuple[str, ...]:
    """A shape in brackets, bare, with signs of multiplication, and as PyTorch prints it; as asked for first."""
    parts = [str(size) for size in sizes]
    spaced, close = ", ".join(parts), ",".join(parts)
    found = [
        f"[{spaced}]",
        f"[{close}]",
        f"({spaced})",
        f"({close})",
        f"[{' '.join(parts)}]",
        f"torch.Size([{spaced}])",
    ]
    if len(parts) == 1:
        found += [f"({close},)"]
    if parts:
        found += [spaced, close, " ".join(parts), "x".join(parts), " x ".join(parts), "*".join(parts)]
    return once(found, case=False)


def output_spellings(output: str) -> tuple[str, ...]:
    """What a program prints as it is, and with and without a blank after commas."""
    close = reading.output(output)
    found = [output.strip("\n"), output.strip("\n").replace(", ", ","), re.sub(r",(?=\S)", ", ", close), close]
    return once([LINES.join(each.splitlines()) for each in found], case=True)


def letters_spellings(letters: str) -> tuple[str, ...]:
    """Letters in a row, and with what people put between them."""
    return once([sign.join(letters) for sign in ("", " ", ", ", ",")], case=False)


def once(spellings: Iterable[str], case: bool) -> tuple[str, ...]:
    """Each spelling once; without `case`, capital and small letters are the same."""
    found: dict[str, str] = {}
    for each in spellings:
        found.setdefault(each if case else each.casefold(), each)
    return tuple(found.values())


@dataclass(frozen=True)
class Bounds:
    """A number, and the smallest and largest that count for it, in plain decimal notation without an exponent."""

    value: str
    low: str
    high: str
    tolerance: str


def bounds(value: float, tolerance: float) -> Bounds:
    """The marker's bounds: its tolerance, and where it has none its allowance for the last bits of a long decimal."""
    short, exact = Decimal(f"{value:.12g}"), Decimal(repr(value))
    allowed = Decimal(f"{tolerance:.12g}")
    if not tolerance and short != exact:
        allowed = Decimal(f"{1e-9 * max(1.0, abs(value)):.2g}")
    return Bounds(*(decimal(each) for each in (short, short - allowed, short + allowed, allowed)))


def decimal(value: Decimal | float) -> str:
    """A number as it is typed: no exponent, no zeros at the end."""
    text = f"{Decimal(value) if isinstance(value, int) else Decimal(str(value)):f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text
