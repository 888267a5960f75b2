"""The page that students read first."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from autograder.course import Assignment

_PAGE = """\
# {title}

{total} points in {count} exercises. Each exercise is one file that you complete; work through them from top to bottom.

## Start

Python 3.10 or newer. In this folder:

```
python -m pip install torch numpy pytest
python -m pytest
```

`python -m pytest` runs all public checks and ends with a table of your exercises. `python -m pytest test_{first}.py`
runs those of one exercise, and `-x` stops at the first check that does not pass. When a check never ends, press Ctrl-C:
the table then shows what was done until there.

Open `{first}.py`, read what each function promises, and replace

```
raise NotImplementedError("...")
```

by your code. Keep the file names, and the names and arguments of functions and classes.

## The exercises

| exercise | points | public | read | builds on |
|---|---|---|---|---|
{rows}
{data}{forbidden}{examples}{workbook}
## When you are stuck

`python -m selfcheck hint {first}` asks you a question about `{first}.py`. With `--more` it goes on: to the shape of the
solution with blanks, then to where it is explained. `progress.json` counts the steps; it is yours alone.

## What the self-check tells you

- *passed*: the check found what it expects.
- *not attempted*: the check arrived at a part that is not written yet, and names the file to open. At the start that is
  all of them.
- *failed*: the answer is wrong. You see the call, what came back and what was expected.
- *raised*: your code ended with an error. You see your own line.
- *stopped*: your code tried to end the program.
- *refused*: your code has a library do what the exercise asks you to write.

Inputs are random and new each time. When something failed, the last line names the option that brings them back.

The public checks are worth {public} of the {total} points. Hidden checks for the other {hidden} run when your
instructor grades: other sizes, other inputs, gradients, wrong arguments. Solve the task, not the check.

Here an exercise runs on your own earlier parts. Under grading it runs on correct ones, so a mistake in `{first}` costs
nothing in the files that build on it, apart from the checks of your own parts together.

To try the call of a message by hand, wrap each list of numbers in `torch.tensor(...)`; `tensor [2, 3, 6]` is a random
tensor of that shape. `python test_{first}.py` checks nothing: it takes `python -m pytest`.

You hand in the exercises' files: zip them, or this whole folder; other files are ignored. The checks are run from fresh
copies, so changing `test_*.py`, `conftest.py` or `selfcheck/` does not change a grade. While your code is graded,
files, network, processes and threads are out of its reach.
"""


_EXAMPLES = """
## To look at

Run these in this folder; with `--help` they say what else they can do.

{programs}
"""

_WORKBOOK = """
## The workbook

`{id}.ipynb` walks through the same material and runs your own files as it goes: it asks, computes and draws. It needs
two packages more:

```
python -m pip install jupyterlab matplotlib
jupyter lab {id}.ipynb
```

Whether you hand it in, and what its questions count, your instructor says.
"""


def readme(
    assignment: Assignment, public: dict[str, Fraction], programs: Mapping[str, str], with_workbook: bool = False
) -> str:
    """The README of an assignment.

    Args:
        public: the points of each exercise's public checks.
        programs: path and title of each example that can be run.
    """
    rows = [
        f"| `{e.name}.py` | {points(e.points)} | {points(public[e.name])} | {', '.join(e.course)} | "
        f"{', '.join(f'`{need}`' for need in e.needs) or '-'} |"
        for e in assignment.exercises
    ]
    forbidden = "".join(
        f"\nWrite `{e.name}.py` out yourself: {', '.join(f'`{name}`' for name in e.forbidden)} are refused there.\n"
        for e in assignment.exercises
        if e.forbidden
    )
    data = f"\nWith them come {', '.join(f'`data/{name}`' for name in assignment.data)}.\n" if assignment.data else ""
    lines = "\n".join(f"- `python {path}`" + (f": {title}" if title else "") for path, title in programs.items())
    shown = sum(public.values(), Fraction(0))
    return _PAGE.format(
        title=assignment.title,
        total=points(assignment.points),
        count=len(rows),
        first=assignment.exercises[0].name,
        rows="\n".join(rows),
        data=data,
        forbidden=forbidden,
        examples=_EXAMPLES.format(programs=lines) if programs else "",
        workbook=_WORKBOOK.format(id=assignment.id) if with_workbook else "",
        public=points(shown),
        hidden=points(assignment.points - shown),
    )


def points(value: Fraction) -> str:
    """Points with at most two decimals: 4, 1.5, 3.33."""
    return f"{float(value):.2f}".rstrip("0").rstrip(".")
