"""Answer cells: what a student wrote behind the name of a question, read from the text of the cell and never run.

So nothing that the kernel did or that an output shows can stand in its place: `s04_scores = [2, 3]` is the answer, and
an answer that has to be calculated first is asked back.
"""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from nbformat import NotebookNode

from autograder.authoring.answer_cells import ANSWER, DRAWN_FOR, POINTS
from autograder.grading.receipt import CheckResult, shown
from autograder.quiz.bank import Bank
from autograder.quiz.marking import NOT_ANSWERED, REWRITE, Mark, mark
from autograder.quiz.model import AnyItem

LONGEST = 4_000
"""Characters of an answer cell; Python's parser is asked about no more."""


def question_of(name: str) -> str | None:
    """The id of the question that the autograded cell of this name has the points of; None where it is an exercise."""
    return name.removeprefix(POINTS) if name.startswith(POINTS) else None


def answers_in(notebook: NotebookNode) -> dict[str, str]:
    """Question -> the text of its answer cell."""
    marked = {str(c.metadata.get("nbgrader", {}).get("grade_id", "")): c.source for c in notebook.cells}
    return {name.removeprefix(ANSWER): source for name, source in marked.items() if name.startswith(ANSWER)}


def marked(bank: Bank, item: AnyItem, answers: Mapping[str, str]) -> Mark:
    """The mark of a question by the answer cells of a notebook."""
    typed, problem = typed_in(answers.get(item.id, ""), item.id)
    if problem:
        return Mark(item.id, REWRITE, Fraction(0), answers[item.id], (problem,))
    return mark(bank, item, typed, DRAWN_FOR)


def typed_in(source: str, name: str) -> tuple[object, str]:
    """What a cell gives a name last: a number, text, or list as it is, other expressions as text. Or a sentence that
    says why nothing can be read."""
    how = f"write it as in `{name} = 0.125`, in a line of its own"
    if len(source) > LONGEST:
        return None, f"the answer cell has {len(source)} characters; {how}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
        values = [node.value for node in tree.body if isinstance(node, ast.Assign) and name in _names(node)]
        if not values:
            return None, f"{name} is given no value; {how}"
        return _plain(values[-1]), ""
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None, f"the answer cell is no Python; {how}"


def _names(node: ast.Assign) -> list[str]:
    return [target.id for target in node.targets if isinstance(target, ast.Name)]


def _plain(value: ast.expr) -> object:
    try:
        found = ast.literal_eval(value)
    except (ValueError, TypeError):
        return ast.unparse(value)
    found = list(found) if isinstance(found, tuple) else found
    entries = found if isinstance(found, list) else [found]
    return found if all(map(_is_plain, entries)) else ast.unparse(value)


def _is_plain(value: object) -> bool:
    """Is it what an answers file can hold as it is? Python writes no number of more than 4,300 digits as text."""
    if type(value) is int:
        return value.bit_length() <= 4096
    return value is None or type(value) in (str, bool) or (type(value) is float and math.isfinite(value))


def answer_lines(check: CheckResult, feedback: Sequence[str], withheld: str) -> Iterator[str]:
    """What the student reads about it, in the form of `messages.exercise_lines`.

    `withheld` says when feedback is told, where it is not told now; how to write an answer is told in any case.
    """
    yield f"  {shown(check.earned)}/{shown(check.points)}  {check.outcome}: {check.title}"
    if check.outcome == REWRITE or not withheld:
        yield from (f"      {line}" for line in feedback)
    elif feedback:
        yield f"  {withheld}"
    if check.outcome == NOT_ANSWERED:
        yield "      nothing was written behind the ="
