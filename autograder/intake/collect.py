"""From what was handed in to one `Submission` per student; whatever is wrong with a hand-in becomes its status."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from autograder.intake.archive import MAX_ARCHIVE_BYTES, read_zip
from autograder.intake.choose import Contents, choose
from autograder.intake.files import FolderTree, Refused
from autograder.intake.handins import Finder, HandIn, of_latest_attempt, time_of
from autograder.intake.names import is_junk, shown, words
from autograder.intake.notebook import Part
from autograder.intake.roster import ALLOWED, MAX_ID, Roster, id_problem, rough
from autograder.intake.submission import Submission
from autograder.intake.times import HandInTimes

MAX_NOTES = 40
MAX_IGNORED = 50


def collect(
    paths: Sequence[Path],
    exercises: Sequence[str],
    assignment: str,
    roster: Roster | None = None,
    times: HandInTimes | None = None,
    parts: Mapping[str, Part] | None = None,
) -> list[Submission]:
    """One submission per student, sorted by id, from submission folders, zips, or folders and zips of them.

    With a roster every student in it gets exactly one row, and a hand-in under another id gets a row that needs
    attention. With `parts`, exercises are looked for in notebooks too. Raises `IntakeError` for a path that does not
    exist; nothing that is handed in raises.
    """
    by_student: dict[str, list[HandIn]] = {}
    for hand_in in Finder(exercises, assignment, roster).find(paths):
        known = roster.find(hand_in.student) if roster is not None else None
        by_student.setdefault(known or hand_in.student, []).append(hand_in)
    reader = _Reader(exercises, assignment, parts)
    namesakes = _namesakes(by_student)
    rows: list[Submission] = []
    taken = {*by_student, *(roster or ())}
    for student in sorted(taken):
        hand_ins = by_student.get(student, [])
        if id_problem(student) is None and (roster is None or student in roster):
            name = None if roster is None else roster.students[student]
            row = _noting(reader.submission(student, name, hand_ins), namesakes.get(rough(student), []))
            if times is not None and hand_ins:
                row = replace(row, **times.of(row))
        else:
            row = _stranger(student, hand_ins, roster, taken)
            taken.add(row.student)
        rows.append(row)
    return sorted(rows, key=lambda row: row.student)


def collect_one(
    folder: Path, student: str, exercises: Sequence[str], assignment: str, parts: Mapping[str, Part] | None = None
) -> Submission:
    """The submission in a folder that is known to be this student's for this assignment. Nothing in it raises."""
    return _Reader(exercises, assignment, parts).submission(
        student, None, [HandIn(student, folder.name, partial(FolderTree, folder))]
    )


@dataclass(frozen=True)
class _Reader:
    exercises: Sequence[str]
    assignment: str
    parts: Mapping[str, Part] | None = None

    def submission(self, student: str, name: str | None, hand_ins: list[HandIn]) -> Submission:
        if not hand_ins:
            return Submission(student, name, notes=("Nothing was handed in; hand in your exercise files.",))
        usable = [hand_in for hand_in in hand_ins if hand_in.problem is None or hand_in.problem_status == "unreadable"]
        aside = [hand_in.problem for hand_in in hand_ins if hand_in.problem is not None and hand_in not in usable]
        if not usable:
            return Submission(student, name, status="needs attention", notes=tuple(aside))
        meant = of_latest_attempt(usable)
        if len(meant) > 1:
            places = " and ".join(hand_in.where for hand_in in meant)
            sentence = f"{len(meant)} hand-ins were found for {student} ({places}); tell the staff which one is meant."
            return Submission(student, name, status="needs attention", notes=(sentence, *aside))
        whose = {*words(student), *words(name or ""), *words(self.assignment)}
        latest = meant[0]
        contents = self._read(latest, whose)
        earlier = [hand_in for hand_in in usable if hand_in is not latest]
        notes = [*self._about_attempts(latest, earlier, contents, whose), *contents.notes, *latest.remarks, *aside]
        return Submission(
            student,
            name,
            files={exercise: contents.files[exercise] for exercise in self.exercises if exercise in contents.files},
            status=contents.status,
            notes=_short(notes, MAX_NOTES),
            ignored=_short(contents.ignored, MAX_IGNORED),
            attempt=latest.attempt,
        )

    def _read(self, hand_in: HandIn, whose: set[str]) -> Contents:
        if hand_in.problem is not None:
            return Contents(notes=[hand_in.problem], is_empty=False, has_unreadable=True)
        try:
            contents = choose(hand_in.open(), self.exercises, whose, self.parts)
            if not contents.is_recognised and contents.archives:
                contents = self._read_inner(contents, whose)
        except Refused as refusal:
            return Contents(notes=[str(refusal)], is_empty=False, has_unreadable=True)
        if contents.is_empty:
            contents.notes = [f"{hand_in.where} is empty; hand in your exercise files."]
        return contents

    def _read_inner(self, outer: Contents, whose: set[str]) -> Contents:
        """The zip in a folder that holds no exercise file, as learning platforms store an uploaded zip."""
        if len(outer.archives) > 1:
            names = ", ".join(entry.shown for entry in outer.archives)
            outer.notes = [f"{len(outer.archives)} zips were handed in ({names}); hand in only one of them."]
            return outer
        archive = outer.archives[0]
        tree = read_zip(archive.shown, archive.load(MAX_ARCHIVE_BYTES))
        inner = choose(tree, self.exercises, whose, self.parts)
        inner.ignored += [name for name in outer.ignored if name != archive.shown]
        return inner

    def _about_attempts(self, latest: HandIn, earlier: list[HandIn], contents: Contents, whose: set[str]) -> list[str]:
        """Notes that only the latest attempt counts, and what an earlier one had more."""
        if not earlier:
            return []
        notes = [f"Only the latest attempt counts ({latest.attempt}); earlier ones were not used: {len(earlier)}."]
        lacking = [exercise for exercise in self.exercises if exercise not in contents.files]
        for hand_in in sorted(earlier, key=time_of, reverse=True):
            had = self._read(hand_in, whose).files if lacking else {}
            for exercise in [exercise for exercise in lacking if exercise in had]:
                contents.is_unclear = True
                lacking.remove(exercise)
                notes.append(
                    f"{exercise}.py cannot be taken from the latest attempt, but the one of {hand_in.attempt} has it; "
                    "hand in all files together."
                )
        return notes


def _short(lines: list[str], limit: int) -> tuple[str, ...]:
    """At most `limit` lines, and how many more there are."""
    return (*lines[:limit], *([f"and {len(lines) - limit} more"] if len(lines) > limit else []))


def _stranger(student: str, hand_ins: list[HandIn], roster: Roster | None, taken: set[str]) -> Submission:
    """The row of a name that is nobody's id: reported, never read."""
    problem = id_problem(student)
    notes = [hand_in.problem for hand_in in hand_ins if hand_in.problem is not None]
    if problem is not None:
        notes.append(f"The name '{shown(student[:MAX_ID])}' {problem}, so it is no student id; {ALLOWED}.")
    elif roster is not None and not notes:
        similar = roster.similar(student)
        guess = f"if it is {similar}'s, rename it" if similar else "correct the name or the roster"
        notes.append(f"{student} is not in the roster; {guess}. Nothing in it was graded.")
    return Submission(printable_id(student, taken), status="needs attention", notes=tuple(notes))


def printable_id(student: str, taken: set[str]) -> str:
    """A name for the row that is a usable id and nobody else's."""
    if id_problem(student) is None:
        return student
    text = shown(student).replace("/", "\ufffd").replace("\\", "\ufffd")[: MAX_ID - 10].strip() or "unnamed"
    text = f"\ufffd{text}" if is_junk(text) else text
    candidate, count = text, 1
    while candidate in taken:
        count += 1
        candidate = f"{text} ({count})"
    return candidate


def _namesakes(by_student: Iterable[str]) -> dict[str, list[str]]:
    """The ids something was handed in under, by how they read without letter case and copy marks."""
    found: dict[str, list[str]] = {}
    for student in sorted(by_student):
        found.setdefault(rough(student), []).append(student)
    return found


def _noting(row: Submission, namesakes: list[str]) -> Submission:
    """Ids that differ in letter case or a copy mark are different students, but somebody should look."""
    others = [shown(student) for student in namesakes if student != row.student]
    sentences = [f"There is also a hand-in under the id {other}; if it is yours, tell the staff." for other in others]
    return replace(row, notes=(*row.notes, *sentences))
