"""From what stands for a student to the student's page: one file, no scripts, nothing fetched, nothing hidden in it.

All of it comes from `student_view`, which names what a student may have, and from the points that count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from markupsafe import Markup

from autograder.course import Assignment, Course
from autograder.grading.parts import part_of
from autograder.grading.receipt import GRADED, GRADER_TROUBLE, PASSED, WAITS, shown
from autograder.grading.score import ExerciseScore
from autograder.notebooks.messages import Told, ToldCheck
from autograder.reports.marks import Mark
from autograder.reports.pages import REPORT, mark_of
from autograder.reports.records import Record
from autograder.reports.student.weights import Compared, compared
from autograder.reports.templates import points, source, templates
from autograder.reports.view import disclosed, student_view


@dataclass(frozen=True)
class Exercise:
    """One part of the page: points, checks in words, and weights that a public check compared, with its title."""

    mark: Mark
    told: Told
    weights: Sequence[tuple[str, Compared]]


class StudentPages:
    """Makes the pages of a class, whose template and style are read once."""

    def __init__(self, course: Course, assignment: Assignment, now: datetime) -> None:
        self._course, self._assignment, self._now = course, assignment, now
        jinja = templates(__package__)
        self._template = jinja.get_template("page.html.j2")
        style = [source(jinja, name) for name in ("shared.css", "pictures.css", "page.css")]
        self._fixed = {"css": Markup("\n".join(style)), "generator": mark_of(REPORT), "course": course.title}

    def page(self, record: Record) -> str:
        """The page of one student, as HTML."""
        receipt, withheld = disclosed(record.receipt, self._assignment, record.attempts, self._now)
        view = student_view(receipt, with_hints=not withheld)
        spoiled = [Fraction(c["points"]) for c in view["checks"] if c["outcome"] == GRADER_TROUBLE]
        unread = {c["exercise"] for c in view["checks"] if c["outcome"] == WAITS}.intersection(record.final.waiting)
        why = {name: withheld for name in receipt.diagnoses}
        return self._template.render(
            title=title(self._assignment, view["assignment"]),
            parts=part_of(view["assignment"]).pieces,
            student=view["student"],
            name=view["name"] or "",
            status="" if view["status"] == GRADED else view["status"],
            notes=view["notes"],
            graded_at=_day(view["graded_at"], self._course),
            final=record.final,
            open_points=sum(spoiled, Fraction(0)),
            unread_points=sum((s.possible for s in record.final.exercises if s.exercise in unread), Fraction(0)),
            has_hidden=any(not check["public"] for check in view["checks"]),
            exercises=list(_exercises(record.final.exercises, view, why, unread)),
            **self._fixed,
        )


def title(assignment: Assignment, name: str) -> str:
    """What is reported on: an assignment, or another part of it."""
    part = part_of(name).title
    return f"{assignment.title}: {part}" if part else assignment.title


def _exercises(
    scores: Sequence[ExerciseScore], view: Mapping[str, Any], withheld: Mapping[str, str], unread: Collection[str]
) -> Iterator[Exercise]:
    for place, score in enumerate(scores, start=1):
        checks = [check for check in view["checks"] if check["exercise"] == score.exercise]
        diagnoses = view.get("diagnoses", {}).get(score.exercise, ())
        remarks = [*_by_hand(score), *_mistakes(diagnoses), *_withheld(withheld.get(score.exercise, ""))]
        is_open, by_hand = score.exercise in unread, score.manual is not None
        mark = Mark(f"part-{place}", score.exercise, score.points, score.possible, is_open, by_hand)
        weights = [(c["title"], drawn) for c in checks if c["public"] and (drawn := _weights(c))]
        yield Exercise(mark, Told([_told(check) for check in checks], remarks), weights)


def _told(check: Mapping[str, Any]) -> ToldCheck:
    message = check["message"] if check["outcome"] != PASSED else ""
    earned, possible = points(check["earned"]), points(check["points"])
    return ToldCheck(earned, possible, check["outcome"], not check["public"], check["title"], message)


def _weights(check: Mapping[str, Any]) -> Compared | None:
    return compared(check["message"]) if check["outcome"] == "failed" else None


def _by_hand(score: ExerciseScore) -> Iterator[tuple[str, str]]:
    if score.manual is not None:
        instead = f", instead of {shown(score.automatic)}" if score.was_graded else ""
        given = f"{shown(score.points)} of {shown(score.possible)} points by hand{instead}"
        yield given, f"{score.manual.reason} ({score.manual.author})"


def _mistakes(diagnoses: Sequence[Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    for one in diagnoses:
        yield f"looks like: {one['name']} ({one['course']})", one["hint"]


def _withheld(sentence: str) -> Iterator[tuple[str, str]]:
    if sentence:
        yield sentence, ""


def _day(graded_at: str, course: Course) -> str:
    """The day of a receipt's moment in the course's time zone; as it is where it cannot be read."""
    try:
        return f"{datetime.fromisoformat(graded_at).astimezone(course.zone):%Y-%m-%d}"
    except ValueError:
        return graded_at
