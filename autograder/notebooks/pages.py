"""Markdown on the pages that nbgrader makes (feedback, formgrader): formatted, but without anything that runs.

nbconvert can sanitize pages, but nbgrader's templates leave that out for Markdown cells; its filter is exchanged here.
"""

from __future__ import annotations

import bleach
from nbconvert.filters import markdown2html

_TAGS = (
    "a abbr b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img kbd li ol p pre s span "
    "strong sub summary sup table tbody td th thead tr ul"
).split()
_SAFE = {"*": ["class", "title"], "td": ["align"], "th": ["align"]}
_PICTURES = ("data:image/png;", "data:image/jpeg;", "data:image/gif;")


def harmless(text: str) -> str:
    """HTML of Markdown. Tags that can run something are shown as text; pictures must lie in the text itself, so that
    no page tells another host who reads it."""
    cleaned: str = bleach.clean(
        markdown2html(text), tags=_TAGS, attributes=_allowed, protocols=["http", "https", "mailto", "data"]
    )
    return cleaned


def _allowed(tag: str, name: str, value: str) -> bool:
    if tag == "img" and name == "src":
        return value.startswith(_PICTURES)
    if tag == "a" and name == "href":
        return value.startswith(("http://", "https://", "mailto:", "#"))
    return name in (*_SAFE["*"], *_SAFE.get(tag, ())) or (tag == "img" and name == "alt")
