"""The kill matrix as a page: which check sees which mistake, and how each is named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder.course import Assignment, CourseFiles
from autograder.course.mistakes import Mistakes
from autograder.grading.hashes import suite_hash
from autograder.grading.kills import Kill
from autograder.grading.receipt import CheckResult, shown
from autograder.proof.experiment import Experiment
from autograder.proof.facts import Facts
from autograder.proof.margins import Margin, margins
from autograder.proof.rules import Figures, figures
from autograder.proof.samples import ALSO, MISTAKE

ALWAYS, SOMETIMES, NEVER = "●", "◐", "·"
_DIGEST = re.compile(r"^<!-- proof of (\w+) -->$", re.MULTILINE)


def page_path(files: CourseFiles, assignment: Assignment) -> Path:
    """Where the page is kept."""
    return files.root / "docs" / f"kill-matrix-{assignment.id}.md"


def is_current(files: CourseFiles, assignment: Assignment) -> bool:
    """Was the page written from the suites, references and mistakes as they are now?"""
    path = page_path(files, assignment)
    found = _DIGEST.search(path.read_text("utf-8")) if path.is_file() else None
    return found is not None and found[1] == _digest(files, assignment)


def page(experiment: Experiment, known: Mapping[str, Mistakes], suites: Mapping[str, Facts]) -> str:
    """The page as Markdown."""
    files, assignment = experiment.files, experiment.assignment
    lines = [
        f"# Which check sees which mistake: {assignment.title}",
        "",
        f"<!-- proof of {_digest(files, assignment)} -->",
        "",
        f"`autograder verify {assignment.id} --write` writes this page. It grades every named mistake of "
        "`reference/mistakes/` in confined workers, as submissions are graded, with two seeds at least, and where they "
        f"leave a doubt with {len(experiment.seeds) + 1}.",
        "",
        f"{ALWAYS} fails with every seed, {SOMETIMES} with some, {NEVER} passes. *Named* says whether a submission "
        "with this mistake is told so: yes, no, or what it is called instead; after the plus, how many of the other "
        "ways to write it are.",
        "",
        *_summary(figures(experiment), experiment, known),
    ]
    distances = margins(experiment)
    for exercise, entries in known.items():
        checks = [check for check in experiment.alone.checks if check.exercise == exercise]
        lines += [f"## {exercise}", "", *_checks(checks, distances, suites[exercise]), ""]
        lines += [*_matrix(experiment, exercise, entries, checks), ""]
        survivors = [f"- {m.name}: {m.survives}" for m in entries.mistakes if m.survives]
        lines += ["Not seen by any check, and why:", "", *survivors, ""] if survivors else []
        left_out = [f"- {one.what}: {one.why}" for one in entries.left_out]
        lines += ["Cannot be made here, and why:", "", *left_out, ""] if left_out else []
    return "\n".join(lines).rstrip("\n") + "\n"


def _summary(found: Figures, experiment: Experiment, known: Mapping[str, Mistakes]) -> Iterator[str]:
    yield f"- {found.caught} of {found.mistakes} mistakes are caught{_percent(found.caught, found.mistakes)}."
    yield (
        f"- Of those, {found.named} are called by their own name{_percent(found.named, found.caught)}, "
        f"{found.misnamed} by another one{_percent(found.misnamed, found.caught)}."
    )
    yield (
        f"- Written otherwise, {found.otherwise_named} of {found.written_otherwise} are named"
        f"{_percent(found.otherwise_named, found.written_otherwise)}, {found.otherwise_misnamed} wrongly."
    )
    yield f"- {found.accepted} of {found.equivalents} other right answers get full marks, and no diagnosis."
    yield f"- Of {found.pairs} random pairs of mistakes, {found.pairs_misnamed} are called what is not in them."
    yield ""
    yield "| exercise | checks | mistakes | caught | named | other right answers |"
    yield "|---|---|---|---|---|---|"
    named = [one for one in experiment.diagnosed(MISTAKE) if one.is_caught and one.is_named]
    for exercise in known:
        kills = experiment.kills[exercise]
        checks = sum(check.exercise == exercise for check in experiment.alone.checks)
        caught = sum(bool(kill.always) for kill in kills.values())
        mine = sum(one.sample.exercise == exercise for one in named)
        equivalents = len(known[exercise].equivalents)
        yield f"| {exercise} | {checks} | {len(kills)} | {caught} | {mine} | {equivalents} |"
    yield ""


def _percent(part: int, whole: int) -> str:
    return f" ({part / whole:.1%})" if whole else ""


def _checks(checks: list[CheckResult], distances: Mapping[str, Margin], suite: Facts) -> Iterator[str]:
    """What each column stands for; how near right answers come to the tolerance, and mistakes."""
    yield "| | check | points | right answers at most | mistakes at least |"
    yield "|---|---|---|---|---|"
    for number, check in enumerate(checks, start=1):
        margin = distances[check.id]
        where = "" if check.public else "hidden: "
        why = f" ({suite.narrow[check.id]})" if check.id in suite.narrow else ""
        own = " (own parts)" if check.id in suite.own else ""
        yield (
            f"| {number} | {where}{check.title}{own} | {shown(check.points)} "
            f"| {_share(margin.honest)}{why} | {_share(margin.mistaken)} |"
        )


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.2g} tolerances"


def _matrix(experiment: Experiment, exercise: str, entries: Mistakes, checks: list[CheckResult]) -> Iterator[str]:
    kills = experiment.kills[exercise]
    mine = [one for one in experiment.diagnosed(MISTAKE, ALSO) if one.sample.exercise == exercise]
    yield "| mistake | " + " | ".join(map(str, range(1, len(checks) + 1))) + " | named |"
    yield "|---" * (len(checks) + 2) + "|"
    for mistake in entries.mistakes:
        marks = " | ".join(_mark(kills[mistake.id], check.id) for check in checks)
        itself, *others = [one for one in mine if one.sample.mistakes == {mistake.id}]
        more = f" + {sum(one.is_named for one in others)} of {len(others)}" if others else ""
        wrong = ", ".join(sorted(itself.names - itself.sample.mistakes)) or "no"
        yield f"| {mistake.name} | {marks} | {'yes' if itself.is_named else wrong}{more} |"


def _mark(kill: Kill, check: str) -> str:
    return ALWAYS if check in kill.always else SOMETIMES if check in kill.sometimes else NEVER


def _digest(files: CourseFiles, assignment: Assignment) -> str:
    return suite_hash(files, assignment)[:16]
