"""The Jinja templates of a package: everything in them is escaped, and a name that is missing is an error."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined


def templates(package: str) -> Environment:
    """The templates that lie beside the modules of a package."""
    return Environment(
        loader=PackageLoader(package, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def source(jinja: Environment, name: str) -> str:
    """A file beside them as it is, such as a style."""
    return jinja.loader.get_source(jinja, name)[0] if jinja.loader else ""
