"""What a file that students get gives away of a bank: keys, explanations, feedback, names of misconceptions.

The search knows nothing of how the file was made. It looks at its text, at what is left without HTML, at what stands in
base64, and at all of that from back to front. What students read anyway is no secret: a text that stands in a prompt or
an option, and numbers of fewer than four digits, which may stand anywhere.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from autograder.quiz import reading
from autograder.quiz.bank import Bank
from autograder.quiz.formula import flat
from autograder.quiz.model import (
    AnyItem,
    Drawn,
    Match,
    Multiple,
    Number,
    Open,
    Order,
    Output,
    ShortText,
    Single,
    named_answers,
)
from autograder.quiz.public import (
    LETTERS,
    displayed_lefts,
    displayed_options,
    displayed_rights,
    displayed_steps,
    public_quiz,
)

DISTINCTIVE = 12
"""A text of fewer characters may stand anywhere."""

DIGITS = 4
"""As a number of fewer significant digits."""

DEPTH = 3
"""Base64 in base64 in base64."""

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"(?<![\w.])\d+\.?\d*(?!\w|\.\d)")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_HASH = re.compile(r"(?<![0-9a-f])[0-9a-f]{8,}(?![0-9a-f])")
_FIELD = re.compile(r"[\"'](key|why|misconception|feedback|accept|tolerance)[\"']\s*:")


@dataclass(frozen=True)
class Secret:
    """A text that must not leave, and what it is."""

    text: str
    kind: str

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words, without which a text cannot hold it."""
        return frozenset(_WORD.findall(self.text))


@dataclass(frozen=True)
class Pattern:
    """What shows the answer of an item: a text, and what follows it."""

    item: str
    text: str
    following: re.Pattern[str]

    def is_in(self, plain: str) -> bool:
        at = plain.find(self.text)
        while at >= 0:
            if self.following.match(plain, at + len(self.text)) and not _is_word(plain[at - 1 : at]):
                return True
            at = plain.find(self.text, at + 1)
        return False


class Search:
    """The search for one bank's secret part, in one text after the other."""

    def __init__(self, bank: Bank) -> None:
        public = _plain(_written(public_quiz(bank)))
        secrets = dict.fromkeys(_secrets(bank))
        known = set(held(public, secrets))
        self._secrets = [secret for secret in secrets if secret not in known]
        self._patterns = list(_patterns(bank))
        self._numbers = _numbers_of_keys(bank, public)
        self._hashes = _hashes(bank)

    def leaks(self, data: bytes | str) -> list[str]:
        """One sentence for each piece of the secret part that the data hold; none when they are clean."""
        text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
        found: dict[str, None] = {}
        for view, how in _views(text):
            plain = _plain(view)
            for secret in held(plain, self._secrets):
                found[f"{secret.kind}{how}: {secret.text[:80]}"] = None
            answered = (pattern.item for pattern in self._patterns if pattern.is_in(plain))
            found.update({f"the answer of {item}{how}": None for item in answered})
            written = set(_NUMBER.findall(plain)) & self._numbers.keys()
            found.update({f"the key of {self._numbers[number]}{how}: {number}": None for number in written})
            if field := _FIELD.search(view):
                found[f"a field of the complete form{how}: {field[1]}"] = None
        for word in set(_HASH.findall(text)):
            if word[:8] in self._hashes and self._hashes[word[:8]].startswith(word[:64]):
                found[f"a hash that can be guessed: {word[:16]}"] = None
        return list(found)


def _views(text: str, depth: int = DEPTH, how: str = "") -> Iterator[tuple[str, str]]:
    """The text in every form in which somebody could read it, and how."""
    unescaped = _unescaped(text)
    for form in dict.fromkeys([text, unescaped, re.sub(r"<[^<>]*>", "", unescaped)]):
        yield form, how
        yield form[::-1], how + ", reversed"
    if depth:
        for way, source in (("", text), (", reversed", text[::-1])):
            for word in dict.fromkeys(_BASE64.findall(source)):
                if inside := _decoded(word):
                    yield from _views(inside, depth - 1, f"{how}{way}, in base64")


def _decoded(word: str) -> str:
    """The text in a base64 word; empty where there is none."""
    plain = word.rstrip("=").replace("-", "+").replace("_", "/")
    plain = plain[: len(plain) - (len(plain) % 4 == 1)]
    try:
        text = base64.b64decode(plain + "=" * (-len(plain) % 4)).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return text if text.isprintable() or len(text) > 40 else ""


def _unescaped(text: str) -> str:
    """Without the escapes of JSON and HTML."""

    def sign(found: re.Match[str]) -> str:
        return chr(int(found[1], 16))

    return html.unescape(re.sub(r"\\u([0-9a-fA-F]{4})", sign, text)).replace('\\"', '"').replace("\\n", "\n")


def _plain(text: str) -> str:
    """Without blanks that do not matter and without the marks of Markdown."""
    return " ".join(re.sub(r"[`*]", "", text).split()).casefold()


def _written(value: object) -> str:
    """All texts of plain data, one on each line."""
    if isinstance(value, dict):
        return "\n".join(_written(part) for part in value.values())
    if isinstance(value, list):
        return "\n".join(_written(part) for part in value)
    return str(value)


def held(plain: str, secrets: Iterable[Secret]) -> list[Secret]:
    """Those of the secrets that the text contains. Nearly all have a word that it lacks, which is found out at once."""
    words = set(_WORD.findall(plain))
    return [secret for secret in secrets if secret.words <= words and contains(plain, secret.text)]


def contains(plain: str, text: str) -> bool:
    """Is the text there, and not only as a part of a longer word?"""
    at = plain.find(text)
    while at >= 0:
        before, after = plain[at - 1 : at], plain[at + len(text) : at + len(text) + 1]
        if not (_is_word(before) and _is_word(text[0])) and not (_is_word(after) and _is_word(text[-1])):
            return True
        at = plain.find(text, at + 1)
    return False


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _secrets(bank: Bank) -> Iterator[Secret]:
    for item in bank.items:
        entries = named_answers(item)
        texts = [(entry.feedback, "feedback") for entry in entries]
        texts += [(idea, "a misconception") for entry in entries if (idea := entry.misconception)]
        texts += [(item.why, "the explanation")]
        if isinstance(item, Open):
            texts += [(item.model, "the model answer")]
        if isinstance(item, Order):
            texts += [(item.feedback, "feedback")]
        if isinstance(item, ShortText):
            texts += [(text, "an accepted text") for text in (*item.key.accept, *(w.text for w in item.wrong))]
        if isinstance(item, Output):
            texts += [(text, "an output") for text in (item.key.output, *(w.output for w in item.wrong))]
        for text, kind in texts:
            plain = _plain(text)
            ideas = kind == "a misconception" and ("/" in plain or "_" in plain)
            if len(plain) >= DISTINCTIVE or ideas:
                yield Secret(plain, f"{kind} of {item.id}")


def _patterns(bank: Bank) -> Iterator[Pattern]:
    """What shows an answer although each of its words is public: an id beside its letters, texts in the right order."""
    for item in bank.items:
        if letters := _letters(item):
            spelled = r"\W{0,6}".join(letters)
            yield Pattern(item.id, item.id.casefold(), re.compile(rf"[\"']?\s*[:=]\s*\W{{0,4}}{spelled}(?!\w)"))
        if isinstance(item, Order):
            yield _in_a_row(item, item.steps)
        if isinstance(item, Match):
            yield _in_a_row(item, [side for pair in item.pairs for side in (pair.left, pair.right)])
        for option in getattr(item, "options", ()):
            if option.key:
                yield Pattern(item.id, _plain(option.text), re.compile(r"[\"']?\W{0,6}(key|true|correct)\b"))


def _in_a_row(item: AnyItem, texts: Sequence[str]) -> Pattern:
    between = r"\W{0,12}(?:(?:left|right|text|step)\W{1,6})?"
    first, *rest = (_plain(text) for text in texts)
    return Pattern(item.id, first, re.compile("".join(between + re.escape(text) for text in rest)))


def _letters(item: AnyItem) -> list[str]:
    """The answer as the letters, or numbers and letters, that an answers file has."""
    if isinstance(item, (Single, Multiple)):
        keys = {option.text for option in item.options if option.key}
        return [LETTERS[i] for i, text in enumerate(displayed_options(item)) if text in keys]
    if isinstance(item, Order):
        return [LETTERS[displayed_steps(item).index(step)] for step in item.steps]
    if isinstance(item, Match):
        rights = {pair.left: pair.right for pair in item.pairs}
        order = displayed_rights(item)
        sides = enumerate(displayed_lefts(item), 1)
        return [sign for i, left in sides for sign in (str(i), LETTERS[order.index(rights[left])])]
    return []


def _numbers_of_keys(bank: Bank, public: str) -> dict[str, str]:
    """Distinctive numbers of keys and of named wrong answers, as they could be written -> the item."""
    known = set(_NUMBER.findall(public))
    found = {}
    for item in bank.items:
        if isinstance(item, Number):
            for draw in bank.draws(item):
                for value in (draw.value, *(value for value, _ in draw.wrong)):
                    for number in _forms(flat(value)):
                        if number not in known and len(number.replace(".", "").strip("0")) >= DIGITS:
                            found[number] = item.id
    return found


def _forms(values: Iterable[float]) -> Iterator[str]:
    for value in values:
        yield from (repr(abs(value)), f"{abs(value):.3f}", f"{abs(value):.4f}", f"{abs(value):.6g}")


def _hashes(bank: Bank) -> dict[str, str]:
    """The first eight signs of every hash of an answer, without a salt or with the item's id as one -> all of it."""
    found = {}
    for item in bank.items:
        for answer in _answers(bank, item):
            for salted in (
                answer,
                f"{item.id}{answer}",
                f"{item.id}:{answer}",
                f"{item.id}/{answer}",
                f"{answer}{item.id}",
            ):
                for kind in ("md5", "sha1", "sha256"):
                    digest = hashlib.new(kind, salted.encode(), usedforsecurity=False).hexdigest()
                    found[digest[:8]] = digest
    return found


def _answers(bank: Bank, item: AnyItem) -> Sequence[str]:
    """The answer in the ways in which it could be written."""
    if isinstance(item, Drawn):
        values = [draw.value for draw in bank.draws(item)[:8]]
        return [form for value in values for form in (str(value), json.dumps(value, separators=(",", ":")))]
    if isinstance(item, ShortText):
        return [*item.key.accept, *(reading.text(text, item.key.case) for text in item.key.accept)]
    if isinstance(item, Output):
        return [item.key.output, reading.output(item.key.output)]
    letters = _letters(item)
    keys = [option.text for option in getattr(item, "options", ()) if option.key]
    return ["".join(letters), ",".join(letters), json.dumps(letters), *keys] if letters else []
