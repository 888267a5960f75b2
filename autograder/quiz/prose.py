"""What authors write in a quiz as HTML: paragraphs, lists, code, bold and formulas. Nothing runs, nothing is fetched.

Formulas become MathML, which browsers draw and screen readers read by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markupsafe import Markup
from mdit_py_plugins.dollarmath import dollarmath_plugin

from autograder.quiz.errors import QuizError

_MATHML = "http://www.w3.org/1998/Math/MathML"
_ATTRIBUTES = {
    "display",
    "stretchy",
    "accent",
    "mathvariant",
    "width",
    "fence",
    "form",
    "linethickness",
    "movablelimits",
}


def html(source: str) -> Markup:
    """Blocks of HTML. Raises QuizError for a formula that cannot be read."""
    return Markup(_PARSER.render(source.strip()).strip())


def line(source: str) -> Markup:
    """One line of HTML, without a paragraph around it. Raises QuizError for a formula that cannot be read."""
    return Markup(_PARSER.renderInline(" ".join(source.split())))


def formula(tex: str, display: str = "inline") -> str:
    """A formula as MathML. Raises QuizError where it cannot be read, or does more than show something."""
    try:
        root = ElementTree.fromstring(convert(tex, display=display))
    except Exception:  # the library's own errors have no common base
        raise QuizError(f"the formula ${tex}$ cannot be read") from None
    for part in root.iter():
        part.tag = part.tag.removeprefix(f"{{{_MATHML}}}")
        if unknown := sorted(set(part.attrib) - _ATTRIBUTES):
            raise QuizError(f"the formula ${tex}$ sets {unknown[0]}; write only what is shown")
        if (part.text or "").startswith("\\"):
            raise QuizError(f"the formula ${tex}$ has {part.text}, which is not known")
    return ElementTree.tostring(root, encoding="unicode")


def _formula(content: str, options: dict[str, Any]) -> str:
    return formula(content, "block" if options["display_mode"] else "inline")


def parser(formulas: Callable[[str, dict[str, Any]], str]) -> MarkdownIt:
    """What reads the Markdown of a quiz, with its own way to show formulas."""
    found = MarkdownIt("commonmark", {"html": False}).disable(
        ["image", "link", "autolink", "html_block", "html_inline"]
    )
    return found.use(dollarmath_plugin, renderer=formulas, allow_digits=False)


_PARSER = parser(_formula)
