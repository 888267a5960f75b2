"""What a student or a grader wrote, as HTML in which nothing runs and nothing is fetched."""

from __future__ import annotations

import base64
import binascii
import re
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from autograder.notebooks.runner import INSTALLED

_PNG = b"\x89PNG\r\n\x1a\n"
_TERMINAL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


def _markdown() -> MarkdownIt:
    """CommonMark and tables. HTML stays visible as text, images are named and not loaded, formulas stay as written."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    dollarmath_plugin(parser, renderer=_formula)
    return parser


def _formula(content: str, options: dict[str, Any]) -> str:
    mark = "$$" if options["display_mode"] else "$"
    return str(escape(f"{mark}{content}{mark}"))


_MARKDOWN = _markdown()
_FORMATTER = HtmlFormatter(nowrap=True)


def markdown(source: str) -> Markup:
    """A text cell or a comment. Only links to the web are links."""
    tokens = _MARKDOWN.parse(source)
    for token in tokens:
        for inner in token.children or ():
            if inner.type == "link_open":
                target = str(inner.attrGet("href") or "")
                inner.attrs = {"rel": "noopener noreferrer nofollow"}
                if target.startswith(("https://", "http://")):
                    inner.attrSet("href", target)
    return Markup(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))


def code(source: str) -> Markup:
    """Python, with its words in classes."""
    return Markup(highlight(source, PythonLexer(stripnl=False), _FORMATTER).rstrip("\n"))


def code_colours(style: str) -> str:
    """The rules for those classes."""
    return str(HtmlFormatter(style=style).get_style_defs("pre.code"))


def picture(data: str) -> str | None:
    """The address of a PNG that lies in the page itself; None when it is none."""
    try:
        found = base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    return f"data:image/png;base64,{base64.b64encode(found).decode()}" if found.startswith(_PNG) else None


def plain(text: str, root: Path) -> str:
    """What code printed, without a terminal's colours and without where things lie on this machine."""
    text = _TERMINAL.sub("", text)
    for folder in (*INSTALLED, str(root)):
        text = text.replace(folder, "…")
    return text
