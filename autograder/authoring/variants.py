"""Write a module as a variant of its solution: with a named mistake in it, or right in another way."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import lru_cache

from autograder.authoring.cut import function_around
from autograder.authoring.errors import AuthoringError
from autograder.authoring.regions import SOLUTION, Region, find_regions, first_line, parse
from autograder.course.mistakes import Edit, Writing


def written(solution: str, writings: Sequence[Writing], file: str) -> str:
    """The solution's text, changed as all the writings say, one after the other.

    Raises:
        AuthoringError: a change does not apply, changes nothing, or the text does not compile with it.
    """
    names, regions, top_ends = _laid_out(solution, file.partition(":")[0])
    lines = solution.split("\n")
    bodies = [textwrap.dedent("\n".join(lines[r.begin : r.end - 1])) for r in regions]
    before = list(bodies)
    for writing in writings:
        for name, body in writing.body.items():
            if name not in names:
                raise AuthoringError(f"{file}: no solution region is that of {name}; there are {', '.join(names)}")
            bodies[names.index(name)] = textwrap.dedent(body).strip("\n")
        for edit in writing.edit:
            _apply(edit, names, bodies, file)
    if bodies == before:
        raise AuthoringError(f"{file}: nothing is changed")
    for region, body in reversed(list(zip(regions, bodies, strict=True))):
        lines[region.begin : region.end - 1] = textwrap.indent(body, region.indent).split("\n")
    top = "\n\n".join(w.top.strip("\n") for w in writings if w.top)
    if top:
        lines[top_ends:top_ends] = [*top.split("\n"), "", ""]
    text = "\n".join(lines)
    parse(text, file)
    return text


@lru_cache(maxsize=64)
def _laid_out(solution: str, file: str) -> tuple[list[str], list[Region], int]:
    """The functions of a solution that have a region, their regions, and how many lines stand before the first of all
    functions and classes."""
    tree, regions = parse(solution, file), find_regions(solution, SOLUTION, file)
    first = next(first_line(node) for node in tree.body if hasattr(node, "body"))
    return [function_around(tree, region, file) for region in regions], regions, first - 1


def _apply(edit: Edit, names: Sequence[str], bodies: list[str], file: str) -> None:
    if edit.within is not None and edit.within not in names:
        raise AuthoringError(f"{file}: no solution region is that of {edit.within}; there are {', '.join(names)}")
    find, replace = edit.find.strip("\n"), edit.replace.strip("\n")
    places = [i for i, name in enumerate(names) if edit.within in (None, name)]
    count = sum(bodies[i].count(find) for i in places)
    if count != 1:
        raise AuthoringError(f"{file}: the text to replace is there {count} times, it must be once: {find.strip()}")
    at = next(i for i in places if find in bodies[i])
    bodies[at] = bodies[at].replace(find, replace)
