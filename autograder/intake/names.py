"""Names: which are junk, how they are shown, and which exercise a file name stands for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

MAX_NAME = 255

# Categories and characters that nobody sees or that change how the rest of a line is displayed.
_UNPRINTABLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_JOINERS = frozenset("\u200c\u200d")  # belong to how some languages are written
_STAND_IN = "\N{REPLACEMENT CHARACTER}"

_JUNK = {"__macosx", "__pycache__", "desktop.ini", "thumbs.db", "icon\r"}
_PYTHON_FILE = re.compile(r"(.+?)\.py(?:\.txt|\.py)?", re.IGNORECASE | re.DOTALL)
_WORD_BORDER = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d])(?=\d)|(?<=\d)(?=[^\W\d])|[\W_]+")

# What people and browsers add to the name of a file that is meant to be handed in ...
_COPY_MARKS = (
    "v version rev copy kopie copie copia final new neu latest done finished complete completed fixed updated "
    "solved solution solutions answer answers submission submit exercise"
)
_COPY_WORDS = frozenset(_COPY_MARKS.split())
# ... and to a file that is not.
_NOT_AN_ANSWER = frozenset({"test", "tests", "conftest", "check", "checks"})

Closeness = Literal["exact", "close", "loose"]


@dataclass(frozen=True)
class Match:
    """The exercises a file name may stand for; more than one means that nobody can tell."""

    exercises: tuple[str, ...]
    closeness: Closeness


def shown(text: str) -> str:
    """`text` with line breaks, control characters, half characters and invisible marks replaced."""
    return "".join(_STAND_IN if is_unprintable(character) else character for character in text)


def is_unprintable(character: str) -> bool:
    """Would it not be seen, or change how text around it is shown?"""
    return unicodedata.category(character) in _UNPRINTABLE and character not in _JOINERS


def is_junk(name: str) -> bool:
    """True for hidden files and for what operating systems, editors and Python leave behind."""
    return name.startswith((".", "~$")) or name.casefold() in _JUNK or name.casefold().endswith((".pyc", ".pyo"))


def words(text: str) -> list[str]:
    """The words of a name: `s02_LayerNorm-2` -> s, 02, layer, norm, 2."""
    return [word.casefold() for word in _WORD_BORDER.split(text) if word]


def match(filename: str, exercises: Sequence[str], whose: Collection[str] = ()) -> Match | None:
    """Which exercise `filename` stands for, or None.

    `whose` are words that may be added freely: those of the student's id and name and of the assignment.
    "close" names are the exercise's plus such words or a copy mark (`LayerNorm (1).py`, `s02_layer_norm_FINAL.py`);
    "loose" names contain it among other words (`plot_layer_norm.py`).
    """
    if filename.endswith(".py") and filename[:-3] in exercises:
        return Match((filename[:-3],), "exact")
    python = _PYTHON_FILE.fullmatch(filename)
    if python is None or len(filename) > MAX_NAME:
        return None
    parts = words(python[1])
    spans = _widest(_spans(parts, exercises))
    found = tuple(sorted({exercise for _, _, exercise in spans}))
    others = [word for at, word in enumerate(parts) if not any(start <= at < end for start, end, _ in spans)]
    if not found or _NOT_AN_ANSWER.intersection(others):
        return None
    free = all(word.isdecimal() or word in _COPY_WORDS or word in whose for word in others)
    return Match(found, "close" if free and len(found) == 1 else "loose")


def _spans(parts: list[str], exercises: Sequence[str]) -> list[tuple[int, int, str]]:
    """Where the words of an exercise stand in `parts`, however they are joined."""
    joined = {"".join(words(exercise)): exercise for exercise in exercises}
    longest = max(map(len, joined), default=0)
    spans = []
    for start in range(len(parts)):
        text = ""
        for end in range(start, len(parts)):
            text += parts[end]
            if len(text) > longest:
                break
            if text in joined:
                spans.append((start, end + 1, joined[text]))
    return spans


def _widest(spans: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Without the spans that lie inside a wider one: `multi_head_attention` is not also `attention`."""

    def inside(span: tuple[int, int, str], other: tuple[int, int, str]) -> bool:
        return other[0] <= span[0] and span[1] <= other[1] and other[1] - other[0] > span[1] - span[0]

    return [span for span in spans if not any(inside(span, other) for other in spans)]


_OTHER_ARCHIVES = (".rar", ".7z", ".tar", ".tgz", ".gz", ".bz2", ".xz")


def is_zip(name: str) -> bool:
    """Is it a zip, by its name?"""
    return name.casefold().endswith(".zip")


def is_archive(name: str) -> bool:
    """Is it a zip, or an archive of another kind?"""
    return name.casefold().endswith((".zip", *_OTHER_ARCHIVES))


def is_code(name: str) -> bool:
    """May it hold exercises?"""
    return name.casefold().endswith((".py", ".ipynb"))


def without_ending(name: str) -> str:
    """`s02.zip` and `s02.tar.gz` without what makes them archives."""
    while is_archive(name):
        name = name[: name.rindex(".")]
    return name
