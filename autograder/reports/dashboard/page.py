"""From what stands for a class to its dashboard: one file, no scripts, nothing fetched. It is for instructors."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from itertools import pairwise

from markupsafe import Markup

from autograder.course import Assignment, Course
from autograder.grading.receipt import Diagnosis, Receipt, shown
from autograder.quiz.receipts import item_analysis
from autograder.reports.dashboard.health import conditions, findings, handed_in
from autograder.reports.dashboard.items import Item, by_check, by_exercise
from autograder.reports.pages import DASHBOARD, mark_of
from autograder.reports.pictures import bars
from autograder.reports.quiz import Question, hardest_first
from autograder.reports.records import Record
from autograder.reports.statistics import NO_STUDENT, Statistic, Undefined, deviation, histogram, mean, median
from autograder.reports.student.page import title
from autograder.reports.templates import source, templates

BINS = 10


@dataclass(frozen=True)
class Distribution:
    """How many students have how many points: the ends of each part, its count, and all of it as a picture."""

    parts: Sequence[tuple[str, int]]
    picture: Markup


@dataclass(frozen=True)
class Mistake:
    """A named mistake, and the students whose submissions behave like it."""

    exercise: str
    diagnosis: Diagnosis
    receipts: Sequence[Receipt]


def dashboard(
    course: Course,
    assignment: Assignment,
    records: Sequence[Record],
    quiz: Sequence[Receipt],
    now: datetime,
    link: Callable[[str], str],
) -> str:
    """The page's HTML. `quiz` are the receipts of the assignment's quiz, `link` is the address of a student's page, or
    "" where there is none.
    """
    jinja = templates(__package__)
    jinja.filters.update(statistic=_statistic, percent=_percent, note=_note)
    style = [source(jinja, name) for name in ("shared.css", "pictures.css", "page.css")]
    counted = [record for record in records if handed_in(record.receipt)]
    receipts = [record.receipt for record in counted]
    points = [record.final.points for record in counted]
    checks = by_check(receipts)
    possible = max(record.final.possible for record in records)
    return jinja.get_template("page.html.j2").render(
        css=Markup("\n".join(style)),
        generator=mark_of(DASHBOARD),
        course=course.title,
        title=title(assignment, records[0].receipt.assignment),
        made_at=f"{now.astimezone(course.zone):%Y-%m-%d %H:%M %Z}",
        records=sorted(records, key=lambda record: record.student.casefold()),
        counted=len(counted),
        possible=possible,
        numbers=_numbers(points),
        distribution=_distribution(points, possible),
        exercises=by_exercise(receipts),
        checks=checks,
        checks_of=_together(checks.items),
        mistakes=_mistakes(receipts),
        findings=list(findings(records)),
        conditions=list(conditions(receipts)),
        seconds=_seconds(receipts),
        quiz=_questions(quiz),
        quiz_students=len(quiz),
        link=link,
    )


def _numbers(points: Sequence[Fraction]) -> list[tuple[str, Statistic]]:
    ends: list[Statistic] = [float(min(points)), float(max(points))] if points else [NO_STUDENT] * 2
    names = ("mean", "median", "standard deviation", "lowest", "highest")
    return list(zip(names, (mean(points), median(points), deviation(points), *ends), strict=True))


def _distribution(points: Sequence[Fraction], possible: Fraction) -> Distribution:
    counts = histogram(points, possible, BINS)
    ends = [shown(possible * i / BINS) for i in range(BINS + 1)]
    names = [f"{low}–{high}" for low, high in pairwise(ends)]
    picture = bars([[float(count) for count in counts]], [""], names, width=46)
    return Distribution(list(zip(names, counts, strict=True)), picture)


def _together(items: Iterable[Item]) -> dict[str, list[Item]]:
    """Checks by exercise."""
    found: dict[str, list[Item]] = {}
    for item in items:
        found.setdefault(item.exercise, []).append(item)
    return found


def _mistakes(receipts: Iterable[Receipt]) -> list[Mistake]:
    """The most frequent first."""
    found: dict[tuple[str, str], tuple[Diagnosis, list[Receipt]]] = {}
    for receipt in receipts:
        for exercise, diagnoses in receipt.diagnoses.items():
            for one in diagnoses:
                found.setdefault((exercise, one.mistake), (one, []))[1].append(receipt)
    mistakes = [Mistake(exercise, one, whose) for (exercise, _), (one, whose) in found.items()]
    return sorted(mistakes, key=lambda mistake: -len(mistake.receipts))


def _seconds(receipts: Sequence[Receipt]) -> Mapping[str, float]:
    times = [receipt.seconds for receipt in receipts] or [0.0]
    return {"sum": sum(times), "median": statistics.median(times), "most": max(times)}


def _questions(receipts: Sequence[Receipt]) -> list[Question]:
    return hardest_first(item_analysis(list(receipts)))


def _statistic(value: Statistic) -> str | Markup:
    """Two decimals, or why there is no value."""
    if isinstance(value, Undefined):
        return Markup('<span class="small">undefined: {}</span>').format(value.reason)
    return f"{value:.2f}".replace("-", "−")


def _percent(value: Statistic | None) -> str | Markup:
    if value is None or isinstance(value, Undefined):
        return "-" if value is None else _statistic(value)
    return f"{100 * value:.0f} %"


def _note(item: Item) -> str:
    """What an instructor should see in the numbers of an item."""
    if not item.known:
        return "no results"
    if item.full == len(item.known):
        return "everybody has it"
    if item.nothing == len(item.known):
        return "nobody has it"
    turned = isinstance(item.discrimination, float) and item.discrimination < 0
    return "lost by those who do well elsewhere" if turned else ""
