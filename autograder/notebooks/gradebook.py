"""nbgrader's gradebook and our receipts, side by side: what differs, and carrying scores over in either direction.

Our store stays the record. A score that a person typed in formgrader is never written over; `pull` brings it here as an
adjustment, beside the automatic result.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from nbgrader.api import Grade, Gradebook, MissingEntry, SubmittedAssignment

from autograder.course import Assignment, Course
from autograder.grading.errors import GradingError
from autograder.grading.score import ExerciseScore, scores
from autograder.grading.store import Adjustment, Store, now
from autograder.notebooks.config import database, expect_its_warnings, find_programs

FORMGRADER = "formgrader"
_DANGEROUS = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""


@dataclass(frozen=True)
class Entry:
    """The score of one exercise of one student, as it stands here and in the gradebook (None: it has none there)."""

    student: str
    exercise: str
    ours: ExerciseScore
    theirs: float | None
    manual: float | None

    @property
    def differs(self) -> bool:
        """Would the two say different points?"""
        stands = self.theirs if self.manual is None else self.manual
        return stands is None or not _same(stands, self.ours.points)


def _same(theirs: float, ours: Fraction) -> bool:
    """Are these the same points, as far as somebody would type them?"""
    return math.isclose(theirs, float(ours), abs_tol=1e-6)


@contextmanager
def opened(root: Path, course: Course) -> Iterator[Gradebook]:
    """The gradebook of a course, made when there is none. Raises GradingError when it cannot be used."""
    find_programs()
    expect_its_warnings()
    try:
        with Gradebook(database(root), course.id) as gradebook:
            yield gradebook
    except (GradingError, MissingEntry):
        raise
    except Exception as error:
        raise GradingError(f"nbgrader's gradebook cannot be used: {str(error).splitlines()[0]}") from None


def entries(gradebook: Gradebook, store: Store, assignment: Assignment) -> list[Entry]:
    """One entry for each exercise of each student who has a receipt, sorted by student."""
    found, by_hand = [], store.all_adjustments(assignment.id)
    for student, receipt in store.standing_receipts(assignment.id).items():
        known = _grades(gradebook, assignment, student)
        for score in scores(receipt, by_hand.get(student, [])):
            grade = known.get(score.exercise)
            auto, manual = (None, None) if grade is None else (grade.auto_score, grade.manual_score)
            found.append(Entry(student, score.exercise, score, auto, manual))
    return found


def push(gradebook: Gradebook, assignment: Assignment, entries: Sequence[Entry]) -> int:
    """Write our scores into the gradebook; scores typed in formgrader stay. Returns how many grades changed.

    Raises:
        GradingError: a score is no number between 0 and the points of its exercise; nothing was written.
    """
    for entry in entries:
        if not 0 <= entry.ours.points <= entry.ours.possible:
            raise GradingError(
                f"{entry.student}: {entry.exercise} has {entry.ours.points} of {entry.ours.possible} points"
            )
    _have_cells(gradebook, assignment)
    changed = 0
    for student in dict.fromkeys(entry.student for entry in entries):
        gradebook.update_or_create_student(student)
        submission = gradebook.update_or_create_submission(assignment.id, student)
        grades = _grades(gradebook, assignment, student)
        for entry in (e for e in entries if e.student == student):
            grade = grades.get(entry.exercise) or _missing_grade(gradebook, submission, assignment, entry.exercise)
            before = grade.auto_score, grade.manual_score
            grade.auto_score = float(entry.ours.automatic)
            if entry.ours.manual is not None and grade.manual_score is None:
                grade.manual_score = float(entry.ours.manual.points)
            grade.needs_manual_grade = False
            changed += before != (grade.auto_score, grade.manual_score)
    gradebook.db.commit()
    return changed


def pull(store: Store, assignment: Assignment, entries: Sequence[Entry]) -> list[Entry]:
    """Keep each score typed in formgrader as an adjustment here. Returns the entries that were new.

    Raises:
        GradingError: one is not between 0 and the points of its exercise; those before it are kept.
    """
    new = []
    for entry in entries:
        standing = entry.ours.manual
        if entry.manual is None or (standing is not None and _same(entry.manual, standing.points)):
            continue
        if not 0 <= entry.manual <= entry.ours.possible:
            raise GradingError(
                f"formgrader has {entry.manual:g} points for {entry.exercise} of {entry.student}, which is worth"
                f" {float(entry.ours.possible):g}; correct it there"
            )
        points = Fraction(entry.manual).limit_denominator(1_000_000)
        reason = "score typed in formgrader"
        store.adjust(assignment.id, entry.student, Adjustment(entry.exercise, points, reason, FORMGRADER, now()))
        new.append(entry)
    return new


def write_csv(gradebook: Gradebook, assignment: Assignment, path: Path) -> int:
    """Write what the gradebook has for an assignment, a line for each student, quoted, nothing in it a formula for a
    spreadsheet. Returns the number of students.

    Raises:
        GradingError: the gradebook does not know the assignment.
    """
    try:
        found = gradebook.find_assignment(assignment.id)
    except MissingEntry:
        raise GradingError(
            f"nbgrader's gradebook has no {assignment.id}; grade it with nbgrader, or push scores into it first"
        ) from None
    submissions = sorted(found.submissions, key=lambda s: s.student.id)
    columns = list(dict.fromkeys(g.name for s in submissions for n in s.notebooks for g in n.grades))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["student", *map(_harmless, columns), "total", "possible", "needs_manual_grade"])
        for submission in submissions:
            points = {g.name: g.score for n in submission.notebooks for g in n.grades}
            cells = [f"{points[c]:g}" if c in points else "" for c in columns]
            open_ones = "yes" if submission.needs_manual_grade else "no"
            writer.writerow([_harmless(submission.student.id), *cells, f"{submission.score:g}",
                             f"{submission.max_score:g}", open_ones])  # fmt: skip
    return len(submissions)


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(_DANGEROUS) else text


def _grades(gradebook: Gradebook, assignment: Assignment, student: str) -> Mapping[str, Grade]:
    """The grades of a student by the names of their cells; none where there is no submission."""
    try:
        submission = gradebook.find_submission(assignment.id, student)
    except MissingEntry:
        return {}
    return {grade.name: grade for notebook in submission.notebooks for grade in notebook.grades}


def _have_cells(gradebook: Gradebook, assignment: Assignment) -> None:
    """Make the assignment, its notebook and a cell for each exercise, as far as they are not there."""
    gradebook.update_or_create_assignment(assignment.id)
    gradebook.update_or_create_notebook(assignment.id, assignment.id)
    for exercise in assignment.exercises:
        gradebook.update_or_create_grade_cell(
            exercise.name, assignment.id, assignment.id, max_score=float(exercise.points), cell_type="code"
        )


def _missing_grade(
    gradebook: Gradebook, submission: SubmittedAssignment, assignment: Assignment, exercise: str
) -> Grade:
    """A grade for a cell that was added after the submission was."""
    cell = gradebook.find_grade_cell(exercise, assignment.id, assignment.id)
    notebook = next(n for n in submission.notebooks if n.name == assignment.id)
    grade = Grade(cell_id=cell.id, notebook=notebook)
    gradebook.db.add(grade)
    return grade
