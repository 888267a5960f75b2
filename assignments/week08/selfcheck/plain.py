"""Questions as plain text for a terminal: Markdown and formulas made readable, wrapped to a width, in ASCII if need be.

Only what quizzes use is known: paragraphs, lists, fenced code, `code`, **bold** and $formulas$.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

LONGEST_UNBROKEN = 24
"""Columns of code that is not broken within a line."""

KEEP = "\x1f"
"""Stands for a blank that no line is broken at."""

_FENCE = re.compile(r"^```.*\n((?:.*\n)*?)```[ ]*$", re.MULTILINE)
_SPAN = re.compile(r"(`[^`]*`)|\$\$?([^$]+)\$\$?|\*\*([^*]+)\*\*")
_ENTRY = re.compile(r"(?:[-*]|\d+\.) ")
_LETTERS = "alpha beta gamma delta epsilon eta theta kappa lambda mu nu pi rho sigma tau phi chi psi omega".split()
_GREEK = {
    name.capitalize() if size == "CAPITAL" else name: unicodedata.lookup(
        f"GREEK {size} LETTER {name.replace('lambda', 'lamda')}"
    )
    for size in ("CAPITAL", "SMALL")
    for name in _LETTERS
}
_SIGNS = {
    **_GREEK, "cdot": " · ", "times": " × ", "sum": "∑", "prod": "∏", "le": " ≤ ", "leq": " ≤ ", "ge": " ≥ ",
    "geq": " ≥ ", "ne": " ≠ ", "neq": " ≠ ", "approx": " ≈ ", "to": " → ", "rightarrow": " → ", "in": " ∈ ",
    "infty": "∞", "pm": " ± ", "odot": " ⊙ ", "partial": "∂", "nabla": "∇", "ldots": "...", "cdots": "...",
    "dots": "...", "top": "T", "quad": "  ", "left": "", "right": "", "displaystyle": "", "mid": " | ",
}  # fmt: skip
_SHIFTED = {
    "_": dict(zip("0123456789+-()aeijtnkmx", "₀₁₂₃₄₅₆₇₈₉₊₋₍₎ₐₑᵢⱼₜₙₖₘₓ", strict=True)),
    "^": dict(zip("0123456789+-()Tni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ᵀⁿⁱ", strict=True)),
}
_ASCII = {
    **{sign: name for name, sign in _GREEK.items()},
    "·": "*", "×": "x", "∑": "sum", "∏": "prod", "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "→": "->", "∈": "in",
    "∞": "inf", "±": "+-", "⊙": "*", "∂": "d", "∇": "grad", "√": "sqrt", "−": "-", "–": "-", "—": "-", "…": "...",
    "§": "sec. ", "“": '"', "”": '"', "\u2018": "'", "\u2019": "'", "•": "-",
}  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """What there is room for: so many columns, and with `is_ascii` nothing but ASCII."""

    width: int
    is_ascii: bool = False

    def plain(self, source: str) -> list[str]:
        """Markdown as lines that fit, unless a single word does not."""
        lines: list[str] = []
        parts = _FENCE.split(source.strip("\n") + "\n")
        for i, part in enumerate(parts):
            if i % 2:
                lines += ["", *self.code(part)]
            for block in re.split(r"\n\s*\n", part) if i % 2 == 0 else []:
                lines += ["", *self._block(block)] if block.strip() else []
        return lines[1:]

    def code(self, source: str) -> list[str]:
        """Code, indented; a line that is too long goes on in the next one, further in."""
        found = []
        for line in self.spelled(source).strip("\n").split("\n"):
            rest = "    " + line.rstrip()
            while len(rest) > self.width:
                found.append(rest[: self.width])
                rest = " " * 12 + rest[self.width :]
            found.append(rest.rstrip())
        return found

    def wrapped(self, text: str, hanging: str = "") -> list[str]:
        """A paragraph in lines; all but the first begin with `hanging`. A wide character takes two columns."""
        lines, line = [], ""
        for word in self.spelled(text).split(" "):
            if line.strip() and columns(f"{line} {word}") > self.width:
                lines.append(line)
                line = hanging + word
            else:
                line = f"{line} {word}" if line else word
        return [line.replace(KEEP, " ") for line in [*lines, line]]

    def entry(self, mark: str, text: str) -> list[str]:
        """One line of Markdown behind a mark, such as a choice behind its letter."""
        return self.wrapped(f"{mark:>4} ".replace(" ", KEEP) + inline(text), " " * 5)

    def spelled(self, text: str) -> str:
        """The text with the characters that there are."""
        return in_ascii(text) if self.is_ascii else text

    def _block(self, block: str) -> list[str]:
        """A paragraph or a list."""
        entries: list[list[str]] = []
        for line in block.strip("\n").split("\n"):
            if not entries or _ENTRY.match(line.lstrip()):
                entries.append([])
            entries[-1].append(line.strip())
        lines = []
        for text in map(" ".join, entries):
            mark = _ENTRY.match(text)
            lines += self.wrapped(inline(text), " " * len(mark[0]) if mark else "")
        return lines


def inline(text: str) -> str:
    """One line of Markdown as text, with KEEP inside short code."""

    def span(found: re.Match[str]) -> str:
        if found[1]:
            return found[1].replace(" ", KEEP) if len(found[1]) <= LONGEST_UNBROKEN else found[1]
        return formula(found[2]) if found[2] else found[3]

    return _SPAN.sub(span, " ".join(text.split()))


def formula(tex: str) -> str:
    r"""A formula as one line of text: \frac{QK^T}{\sqrt{D}} is QKᵀ/√D."""
    text, _ = _row(tex, 0)
    return re.sub(r"(?<=[(\[]) | (?=[)\],])", "", " ".join(text.split()))


def in_ascii(text: str) -> str:
    """The text in ASCII: Greek letters and signs by their names, other letters without accents, the rest as `?`."""
    for shift, small in _SHIFTED.items():
        large = {sign: plain for plain, sign in small.items()}
        runs = re.split(f"([{''.join(large)}]+)", text)
        runs[1::2] = [_shifted(shift, "".join(large[sign] for sign in run), {}) for run in runs[1::2]]
        text = "".join(runs)
    text = re.sub(r"√(\w+)", r"sqrt(\1)", text)
    spelled = unicodedata.normalize("NFKD", "".join(_ASCII.get(sign, sign) for sign in text))
    return "".join(sign for sign in spelled if not unicodedata.combining(sign)).encode("ascii", "replace").decode()


def columns(text: str) -> int:
    """How wide a text is on a terminal."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else not unicodedata.combining(sign) for sign in text)


def _row(tex: str, at: int) -> tuple[str, int]:
    """The text of a formula from a place on, to its end or to the brace that ends a group; and where that is."""
    out = ""
    while at < len(tex) and tex[at] != "}":
        sign = tex[at]
        if sign in "_^":
            inner, at = _argument(tex, at + 1)
            out = out.rstrip() + _shifted(sign, inner, _SHIFTED[sign])
        elif sign in "+=<>" or (sign == "-" and out.strip() and out.rstrip()[-1:] not in "(=+,"):
            out, at = f"{out} {sign} ", at + 1
        elif sign in "\\{":
            text, at = _argument(tex, at)
            out += text
        else:
            out, at = out + sign, at + 1
    return out, at


def _argument(tex: str, at: int) -> tuple[str, int]:
    """What a command or a shift takes: a group, a command with its own arguments, or one sign."""
    while tex[at : at + 1] == " ":
        at += 1
    if tex[at : at + 1] == "{":
        text, end = _row(tex, at + 1)
        return text, end + 1
    if tex[at : at + 1] != "\\":
        return tex[at : at + 1], at + 1
    found = re.compile(r"[a-zA-Z]+|.?", re.DOTALL).match(tex, at + 1)
    assert found is not None
    name, at = found[0], found.end()
    if name in ("frac", "dfrac", "tfrac"):
        above, at = _argument(tex, at)
        below, at = _argument(tex, at)
        return f"{_grouped(above)}/{_grouped(below)}", at
    if name == "sqrt":
        text, at = _argument(tex, at)
        return f"√{_grouped(text)}", at
    if name in ("text", "mathrm", "mathbf", "mathbb", "mathcal", "operatorname"):
        return _argument(tex, at)
    if name in ("hat", "bar", "tilde"):
        text, at = _argument(tex, at)
        return f"{text}-{name}", at
    if not name.isalpha():
        return {",": " ", ";": " ", ":": " ", "!": "", "\\": "; "}.get(name, name), at
    return _SIGNS.get(name.removeprefix("var"), f"{name} "), at


def _grouped(text: str) -> str:
    """In parentheses, unless it is one word."""
    text = text.strip()
    return text if re.fullmatch(r"\w+|√\w+|√\(.*\)", text) else f"({text})"


def _shifted(sign: str, text: str, small: dict[str, str]) -> str:
    """A subscript or superscript in small signs where there are such, `_(t + 1)` where not."""
    text = text.strip()
    tight = text.replace(" ", "")
    if tight and all(each in small for each in tight):
        return "".join(small[each] for each in tight)
    return sign + (text if re.fullmatch(r"\w+", text) else f"({text})")
