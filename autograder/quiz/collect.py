"""Finding answers: whatever staff point at becomes one row per student, in the places where `grade` finds exercises.

A hand-in is an answers file named after its student, or a folder or zip that holds one; a class is a folder or zip of
those, named by hand, by nbgrader or by a learning platform (see `intake.attempts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

from autograder.intake.archive import MAX_ARCHIVE_BYTES, read_zip
from autograder.intake.collect import printable_id
from autograder.intake.files import MAX_DEPTH, Entry, Refused, Tree
from autograder.intake.handins import HandIn, of_latest_attempt
from autograder.intake.names import is_archive, is_zip, shown
from autograder.intake.roster import ALLOWED, MAX_ID, Roster, id_problem
from autograder.intake.submission import IntakeError
from autograder.quiz.answers import LARGEST, HandedInAnswers, read_answers
from autograder.quiz.answers_file import NAME
from autograder.quiz.errors import QuizError
from autograder.quiz.finder import AnswersFinder, answers_among, answers_below, entry_named

MOST_ZIPS = 5
"""So many zips in one hand-in are looked into."""


class _Nothing(Exception):
    """There is no answers file; the text says where it was looked for."""


def find_answers(
    paths: Sequence[Path], assignment: str, roster: Roster | None = None, exercises: Sequence[str] = ()
) -> list[HandedInAnswers]:
    """One row per student, sorted; a roster says who is meant by a platform's names. `exercises` may lie beside them.

    Raises QuizError for a path that does not exist; nothing that is handed in raises.
    """
    try:
        found = AnswersFinder(exercises, assignment, roster).find(paths)
    except IntakeError as error:
        raise QuizError(str(error).rstrip(".")) from None
    by_student: dict[str, list[HandIn]] = {}
    for hand_in in found:
        known = roster.find(hand_in.student) if roster is not None else None
        by_student.setdefault(known or hand_in.student, []).append(hand_in)
    rows, taken = [], set(by_student)
    for student, hand_ins in by_student.items():
        if problem := id_problem(student):
            sentence = f"the name '{shown(student[:MAX_ID])}' {problem}, so it is no student id; {ALLOWED}"
            row = HandedInAnswers(printable_id(student, taken), problem=sentence)
            taken.add(row.student)
        else:
            row = _row(student, hand_ins, assignment)
        rows.append(row)
    return sorted(rows, key=attrgetter("student"))


def by_roster(found: Sequence[HandedInAnswers], roster: Roster) -> tuple[list[HandedInAnswers], list[HandedInAnswers]]:
    """Exactly one row for everybody in the roster, and what was handed in under other names. `found` goes by it."""
    rows = {student: HandedInAnswers(student, problem="nothing was handed in", is_missing=True) for student in roster}
    strangers = []
    for one in found:
        if one.student in roster:
            typed = (one.answers and one.answers.student) or ""
            is_own = roster.find(typed) == one.student or roster.called(typed) == [one.student]
            rows[one.student] = replace(one, is_own_name=one.is_own_name or is_own)
            continue
        similar = roster.similar(one.student)
        guess = f"if it is {similar}'s, rename it" if similar else "correct the name or the roster"
        also = f"; and {one.problem}" if one.problem else ""
        strangers.append(replace(one, answers=None, problem=f"{one.student} is not in the roster; {guess}{also}"))
    return [replace(rows[student], name=roster.students[student]) for student in sorted(rows)], strangers


def _answers_in(tree: Tree, assignment: str, name: str, may_unpack: bool = True) -> list[Entry]:
    """The answers files of one hand-in: at the top, in the folder of the assignment, in the only other folder that has
    any, or the same below a single folder, or in zips. Raises `_Nothing`, `Refused`."""
    entries = tree.children("")
    for _ in range(MAX_DEPTH):
        if mine := answers_among(entries):
            return mine
        folder = entry_named(entries, assignment)
        if folder is not None and folder.kind == "special":
            raise Refused(f"{name}/{folder.shown} is no folder; hand in the folder itself.")
        if mine := answers_below(tree, folder):
            return mine
        others = [entry for entry in entries if answers_below(tree, entry)]
        if len(others) == 1 and folder is None:
            return answers_below(tree, others[0])
        if not others and may_unpack and (archives := [entry for entry in entries if is_archive(entry.name)]):
            return _unpacked(archives, assignment, name)
        folders = [entry for entry in entries if entry.kind == "folder"]
        if others or len(folders) != 1:
            where = name if folder is None else f"{name}/{assignment}"
            if others:
                elsewhere = " and ".join(f"{name}/{shown(entry.name)}" for entry in others[:3])
                raise Refused(f"nothing was answered: there is no {NAME} in {where} (but in {elsewhere})")
            raise _Nothing(f"there is no {NAME} in {where}")
        entries, name = tree.children(folders[0].path), f"{name}/{shown(folders[0].name)}"
    raise _Nothing(f"there is no {NAME} in {name}")


def _unpacked(archives: Sequence[Entry], assignment: str, name: str) -> list[Entry]:
    """The answers files in archives that were handed in together. Raises `_Nothing`, `Refused`."""
    if len(archives) > MOST_ZIPS:
        raise Refused(f"{len(archives)} archives lie in {name}; hand in only the one that holds {NAME}.")
    found: list[Entry] = []
    for entry in archives:
        if not is_zip(entry.name):
            raise Refused(f"{name}/{entry.shown} is an archive of another kind; hand in a zip file.")
        inner = read_zip(entry.shown, entry.load(MAX_ARCHIVE_BYTES))
        with suppress(_Nothing):
            found += _answers_in(inner, assignment, f"{name}/{entry.shown}", may_unpack=False)
    if not found:
        places = " and ".join(f"{name}/{entry.shown}" for entry in archives)
        raise _Nothing(f"there is no {NAME} in {places}")
    return found


# -- what is in it?


def _row(student: str, hand_ins: Sequence[HandIn], assignment: str) -> HandedInAnswers:
    """The answers of a student, or why there are none."""
    usable = [hand_in for hand_in in hand_ins if hand_in.problem is None or hand_in.problem_status == "unreadable"]
    if not usable:
        return HandedInAnswers(student, problem=(hand_ins[0].problem or "").rstrip("."))
    found: list[str] = []
    entries: list[Entry] = []
    missing: list[str] = []
    for hand_in in of_latest_attempt(usable):
        try:
            mine = _opened(hand_in, assignment)
        except _Nothing as nothing:
            missing.append(f"nothing was answered: {nothing}")
        except Refused as refusal:
            return HandedInAnswers(student, problem=str(refusal).rstrip("."))
        else:
            entries += mine
            found += [_place_of(hand_in, entry) for entry in mine]
    if len(entries) > 1:
        sentence = f"{len(entries)} answers files were found ({' and '.join(found)}); keep the one meant"
        return HandedInAnswers(student, problem=sentence)
    if entries:
        return _read(student, entries[0], assignment)
    if earlier := [hand_in for hand_in in usable if hand_in.attempt and _has_answers(hand_in, assignment)]:
        sentence = f"{missing[0]}, but the attempt of {earlier[-1].attempt} has answers; hand in all files together"
        return HandedInAnswers(student, problem=sentence)
    return HandedInAnswers(student, problem=missing[0], is_missing=True)


def _opened(hand_in: HandIn, assignment: str) -> list[Entry]:
    if hand_in.problem is not None:
        raise Refused(hand_in.problem)
    return _answers_in(hand_in.open(), assignment, hand_in.where.rpartition("/")[2])


def _has_answers(hand_in: HandIn, assignment: str) -> bool:
    try:
        return bool(_opened(hand_in, assignment))
    except (_Nothing, Refused):
        return False


def _place_of(hand_in: HandIn, entry: Entry) -> str:
    """Where an answers file lies; of files that a platform put side by side the name is whole."""
    is_whole = hand_in.where.endswith(("...", f"/{entry.shown}"))
    return f"{hand_in.where.rpartition('/')[0] if is_whole else hand_in.where}/{entry.shown}"


def _read(student: str, entry: Entry, assignment: str) -> HandedInAnswers:
    data = b""
    try:
        data = entry.load(LARGEST)
        answers = read_answers(data, entry.shown.rpartition("/")[2], assignment)
        is_own_name = _is_in_label(answers.student or "", student)
        return HandedInAnswers(student, answers, data=data, is_own_name=is_own_name)
    except Refused as refusal:
        return HandedInAnswers(student, problem=str(refusal).rstrip("."))
    except QuizError as error:
        return HandedInAnswers(student, problem=str(error), data=data)


def _is_in_label(name: str, student: str) -> bool:
    """Is a name the one in a platform's label for a student: `doejane_12345` and `Jane Doe_1234567` of Jane Doe?"""
    label, _, number = student.casefold().rpartition("_")
    words = name.casefold().split()
    return number.isdecimal() and label in (" ".join(words), "".join(words), "".join([*words[-1:], *words[:-1]]))
