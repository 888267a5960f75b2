"""nbgrader's gradebook and our receipts, side by side: what differs, and carrying scores over in either direction.

Each cell with points is one entry: those of exercises are in the receipt of the modules, the others in that of the
notebook. Our store stays the record. A score that a person typed in formgrader is never written over; `pull` brings it
here as an adjustment, beside the automatic result.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from pathlib import Path

from nbgrader.api import Grade, Gradebook, MissingEntry, SubmittedAssignment

from autograder.authoring.answer_cells import ANSWER
from autograder.course import Assignment, Course
from autograder.grading.cells import harmless
from autograder.grading.errors import GradingError
from autograder.grading.parts import MODULES, NOTEBOOK
from autograder.grading.receipt import shown as shown_points
from autograder.grading.score import ExerciseScore, scores
from autograder.grading.store import Adjustment, Store, now
from autograder.intake.names import shown
from autograder.notebooks.answers import question_of
from autograder.notebooks.config import database, expect_its_warnings, find_programs

FORMGRADER = "formgrader"
TYPED = "score typed in formgrader"
LONGEST_COMMENT = 200
"""Characters of a comment that go into the reason of an adjustment; formgrader keeps the rest."""


@dataclass(frozen=True)
class Entry:
    """The score of one cell of one student, as it stands here and in the gradebook (None: it has none there)."""

    record: str
    """What the receipt is kept under."""
    student: str
    ours: ExerciseScore
    theirs: float | None
    manual: float | None
    comment: str = ""
    """What the person who typed a score wrote beside it."""
    most: float | None = None
    """What the cell is worth in the gradebook; None where it has no such cell."""
    withdrawn: Fraction | None = None
    """Points given by hand that were withdrawn here, and none given since."""

    @property
    def exercise(self) -> str:
        """The exercise or the cell, which have the same name."""
        return self.ours.exercise

    @property
    def differs(self) -> bool:
        """Would the two say different points?"""
        if self.was_taken_back:
            return True
        if self.ours.is_open:
            return self.manual is not None
        stands = self.theirs if self.manual is None else self.manual
        return stands is None or not _same(stands, self.ours.points)

    @property
    def reason(self) -> str:
        """The reason of an adjustment that keeps the typed score: one line that any table can show."""
        words = " ".join(shown(" ".join(self.comment.split())).split())
        short = words if len(words) <= LONGEST_COMMENT else f"{words[: LONGEST_COMMENT - 1].rstrip()}…"
        return f"{TYPED}: {short}" if short else TYPED

    @property
    def was_taken_back(self) -> bool:
        """Is the score that the gradebook has by hand one that was withdrawn here?"""
        return self.manual is not None and self.withdrawn is not None and _same(self.manual, self.withdrawn)

    @property
    def is_new(self) -> bool:
        """Does formgrader have a score, or words about it, that are not here?"""
        standing = self.ours.manual
        if self.manual is None or self.was_taken_back:
            return False
        if standing is None or not _same(self.manual, standing.points):
            return True
        return standing.author == FORMGRADER and standing.reason != self.reason


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
    """One entry for each cell with points of each student who has receipts, sorted by student.

    A cell that was taken out of the workbook has none: its points are in old receipts of the notebook only.
    """
    cells, found = _cells(gradebook, assignment), []
    for part in (MODULES, NOTEBOOK):
        record = part.of(assignment.id)
        by_hand = store.all_adjustments(record)
        for student, receipt in store.standing_receipts(record).items():
            known = _Submitted.of(gradebook, assignment, student)
            for score in scores(receipt, by_hand.get(student, [])):
                if part is MODULES or not cells.is_complete or score.exercise in cells.points:
                    withdrawn = _withdrawn(by_hand.get(student, []), score.exercise)
                    found.append(known.entry(record, student, score, cells.points.get(score.exercise), withdrawn))
    return sorted(found, key=lambda entry: entry.student)


def _withdrawn(adjustments: Sequence[Adjustment], exercise: str) -> Fraction | None:
    """The points that stood by hand until they were withdrawn; None where some stand, or never did."""
    mine = [adjustment for adjustment in adjustments if adjustment.exercise == exercise]
    given = [adjustment.points for adjustment in mine if not adjustment.withdrawn]
    return given[-1] if given and mine[-1].withdrawn else None


def push(gradebook: Gradebook, assignment: Assignment, entries: Sequence[Entry]) -> int:
    """Write our scores into the gradebook; scores typed in formgrader stay, unless they were pulled and withdrawn here.
    Returns how many grades changed.

    Raises:
        GradingError: a score is no number between 0 and the points of its cell; nothing was written.
    """
    for entry in entries:
        _refuse_impossible(entry, assignment)
    _have_cells(gradebook, assignment, entries)
    changed = 0
    for student, mine in groupby(entries, lambda entry: entry.student):
        gradebook.update_or_create_student(student)
        submission = gradebook.update_or_create_submission(assignment.id, student)
        grades = _Submitted.of(gradebook, assignment, student).grades
        for entry in mine:
            grade = grades.get(entry.exercise) or _missing_grade(gradebook, submission, assignment, entry.exercise)
            changed += _written(grade, entry)
    gradebook.db.commit()
    return changed


def _refuse_impossible(entry: Entry, assignment: Assignment) -> None:
    ours, most = entry.ours, entry.most
    if not 0 <= ours.points <= ours.possible:
        raise GradingError(f"{entry.student}: {entry.exercise} has {ours.points} of {ours.possible} points")
    if entry.record != assignment.id and most is not None and not _same(most, ours.possible):
        raise GradingError(
            f"{entry.student}: {entry.exercise} is worth {shown_points(ours.possible)} points here and {most:g} in the "
            f"gradebook; run `nbgrader generate_assignment {assignment.id}` and grade the notebooks again"
        )


def _written(grade: Grade, entry: Entry) -> bool:
    """Put our score into a grade; says whether that changed it.

    What the gradebook lets a person look at stays so, unless this is its first score or a person gave one here. A score
    that was withdrawn here goes; where only a person can give one, the gradebook then lets a person look at it again.
    """
    before = grade.auto_score, grade.manual_score
    if entry.was_taken_back:
        grade.manual_score = None
        grade.needs_manual_grade |= not entry.ours.was_graded
    if entry.ours.was_graded:
        grade.auto_score = float(entry.ours.automatic)
    if entry.ours.manual is not None and grade.manual_score is None:
        grade.manual_score = float(entry.ours.manual.points)
    is_first = before == (None, None) and (grade.auto_score, grade.manual_score) != before
    if is_first or (before[1] is None and grade.manual_score is not None):
        grade.needs_manual_grade = False
    return bool(before != (grade.auto_score, grade.manual_score))


def pull(store: Store, entries: Sequence[Entry]) -> list[Entry]:
    """Keep each score typed in formgrader as an adjustment here. Returns the entries that were new.

    Raises:
        GradingError: one is not between 0 and the points of its cell; those before it are kept.
    """
    new = []
    for entry in entries:
        if entry.manual is None or not entry.is_new:
            continue
        if not 0 <= entry.manual <= entry.ours.possible:
            raise GradingError(
                f"formgrader has {entry.manual:g} points for {entry.exercise} of {entry.student}, which is worth"
                f" {float(entry.ours.possible):g}; correct it there"
            )
        points = Fraction(entry.manual).limit_denominator(1_000_000)
        adjustment = Adjustment(entry.exercise, points, entry.reason, FORMGRADER, now())
        store.adjust(entry.record, entry.student, adjustment)
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
        writer.writerow(["student", *map(harmless, columns), "total", "possible", "needs_manual_grade"])
        for submission in submissions:
            cells_of = {g.name: g for n in submission.notebooks for g in n.grades}
            cells = [_cell(cells_of.get(column)) for column in columns]
            open_ones = "yes" if submission.needs_manual_grade else "no"
            writer.writerow([harmless(submission.student.id), *cells, f"{submission.score:g}",
                             f"{submission.max_score:g}", open_ones])  # fmt: skip
    return len(submissions)


def _cell(grade: Grade | None) -> str:
    """A score as text; "" where there is none yet, for which nbgrader has 0."""
    waits = grade is not None and grade.needs_manual_grade and grade.auto_score is None and grade.manual_score is None
    return "" if grade is None or waits else f"{grade.score:g}"


@dataclass(frozen=True)
class _Cells:
    """The cells with points that the gradebook knows, with their points. `is_complete`: are these all of the workbook?
    They are when nbgrader has generated the assignment; before that only what was pushed is there."""

    points: Mapping[str, float]
    is_complete: bool


def _cells(gradebook: Gradebook, assignment: Assignment) -> _Cells:
    try:
        found = gradebook.find_notebook(assignment.id, assignment.id)
    except MissingEntry:
        return _Cells({}, is_complete=False)
    points = {cell.name: float(cell.max_score) for cell in (*found.grade_cells, *found.task_cells)}
    return _Cells(points, is_complete=bool(found.source_cells))


@dataclass(frozen=True)
class _Submitted:
    """What the gradebook has of one student, by the names of cells: nothing where there is no submission."""

    grades: Mapping[str, Grade]
    comments: Mapping[str, str]

    @classmethod
    def of(cls, gradebook: Gradebook, assignment: Assignment, student: str) -> _Submitted:
        try:
            notebooks = gradebook.find_submission(assignment.id, student).notebooks
        except MissingEntry:
            return cls({}, {})
        comments = {c.name: c.manual_comment or "" for notebook in notebooks for c in notebook.comments}
        return cls({grade.name: grade for notebook in notebooks for grade in notebook.grades}, comments)

    def entry(
        self, record: str, student: str, score: ExerciseScore, most: float | None, withdrawn: Fraction | None
    ) -> Entry:
        grade, question = self.grades.get(score.exercise), question_of(score.exercise)
        auto, manual = (None, None) if grade is None else (grade.auto_score, grade.manual_score)
        beside = score.exercise if question is None else ANSWER + question
        return Entry(record, student, score, auto, manual, self.comments.get(beside, ""), most, withdrawn)


def _have_cells(gradebook: Gradebook, assignment: Assignment, entries: Sequence[Entry]) -> None:
    """Make the assignment, its notebook and its cells with points, as far as they are not there."""
    gradebook.update_or_create_assignment(assignment.id)
    gradebook.update_or_create_notebook(assignment.id, assignment.id)
    points = {exercise.name: exercise.points for exercise in assignment.exercises}
    points |= {e.exercise: e.ours.possible for e in entries if e.record != assignment.id and e.most is None}
    for name, most in points.items():
        gradebook.update_or_create_grade_cell(
            name, assignment.id, assignment.id, max_score=float(most), cell_type="code"
        )


def _missing_grade(
    gradebook: Gradebook, submission: SubmittedAssignment, assignment: Assignment, exercise: str
) -> Grade:
    """A grade for a cell that was added after the submission was."""
    cell = gradebook.find_graded_cell(exercise, assignment.id, assignment.id)
    notebook = next(n for n in submission.notebooks if n.name == assignment.id)
    grade = Grade(cell_id=cell.id, notebook=notebook)
    gradebook.db.add(grade)
    return grade
