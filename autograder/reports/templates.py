"""The Jinja templates of a package: everything in them is escaped, and a name that is missing is an error."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, lru_cache

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from autograder.grading.receipt import shown


@cache  # compiling a template takes longer than a page of it
def templates(package: str) -> Environment:
    """The templates that lie beside the modules of a package, and those that all share."""
    found = Environment(
        loader=ChoiceLoader([PackageLoader(package, "."), PackageLoader("autograder.reports", ".")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["points"] = lambda value: points(str(value))
    found.filters["prose"] = prose
    return found


@lru_cache(maxsize=10_000)  # a class has few different ones, and each is shown often
def points(text: str) -> str:
    """Points such as "20/3" or "0.5" as people read them."""
    return shown(Fraction(text))


def prose(text: str) -> Markup:
    """A sentence as people read it: what stands between two backticks is code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one of them has no partner
        return escape(text)
    return Markup("").join(Markup("<code>{}</code>").format(p) if i % 2 else escape(p) for i, p in enumerate(parts))


def source(jinja: Environment, name: str) -> str:
    """A file beside them as it is, such as a style."""
    return jinja.loader.get_source(jinja, name)[0] if jinja.loader else ""
