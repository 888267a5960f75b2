"""A page as a browser without eyes has it: elements, attributes, text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

_EMPTY = {"meta", "link", "br", "hr", "img", "input"}


@dataclass
class Page(HTMLParser):
    """Elements in order, each with its attributes; texts by element; what was opened and not closed in order."""

    html: str
    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    crossed: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.html)
        self.close()
        self.crossed += self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()
        else:
            self.crossed.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append((self._open[-1] if self._open else "", data))

    @property
    def text(self) -> str:
        """All that is read, without styles, with single blanks."""
        return " ".join(" ".join(data for tag, data in self.texts if tag != "style").split())

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)

    @property
    def headings(self) -> list[int]:
        """Their levels, in order."""
        return [int(tag[1]) for tag, _ in self.elements if re.fullmatch("h[1-6]", tag)]

    @property
    def ids(self) -> list[str]:
        return [attributes["id"] or "" for _, attributes in self.elements if "id" in attributes]

    @property
    def addresses(self) -> list[str]:
        """Where links and what is loaded point to."""
        found = [a.get(name) for _, a in self.elements for name in ("href", "src", "srcset", "data", "action")]
        return [address for address in found if address]
