"""Finding answers: whatever staff point at becomes one row per student, in the places where `grade` finds exercises.

A hand-in is an answers file named after its student, or a folder or zip that holds one; a class is a folder or zip of
those, named by hand, by nbgrader or by a learning platform (see `intake.attempts`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

from autograder.intake.archive import MAX_ARCHIVE_BYTES, read_zip
from autograder.intake.files import MAX_DEPTH, Entry, Refused, Tree
from autograder.intake.handins import HandIn, of_latest_attempt, time_of
from autograder.intake.names import is_zip, shown
from autograder.intake.places import Place
from autograder.intake.roster import Roster
from autograder.quiz.answers import LARGEST, HandedInAnswers, read_answers
from autograder.quiz.answers_file import NAME
from autograder.quiz.errors import QuizError
from autograder.quiz.finder import Finder, answers_among, answers_below, entry_named


class _Nothing(Exception):
    """There is no answers file; the text says where it was looked for."""


def find_answers(paths: Sequence[Path], assignment: str, roster: Roster | None = None) -> list[HandedInAnswers]:
    """One row per student, sorted. Raises QuizError for a path that does not exist; nothing that is handed in raises.

    A roster helps to read the names under which platforms file what was handed in.
    """
    finder = Finder(assignment, roster)
    places: dict[Path, Place] = {}
    hand_ins: list[HandIn] = []
    for given in paths:
        path = Path(os.path.abspath(given))
        if not os.path.lexists(path):
            raise QuizError(f"{given} does not exist; give answers files, or folders or zips that hold them")
        here, refused = finder.places(path)
        places |= {place.key: place for place in here}
        hand_ins += refused
    by_student: dict[str, list[HandIn]] = {}
    for hand_in in [*hand_ins, *finder.hand_ins(places.values())]:
        by_student.setdefault(shown(hand_in.student), []).append(hand_in)
    return [_row(student, handed_in, assignment) for student, handed_in in sorted(by_student.items())]


def by_roster(found: Sequence[HandedInAnswers], roster: Roster) -> tuple[list[HandedInAnswers], list[HandedInAnswers]]:
    """Exactly one row for everybody in the roster, and what was handed in under other names."""
    rows: dict[str, HandedInAnswers] = {}
    strangers = []
    for one in found:
        student = roster.find(one.student)
        if student is None:
            similar = roster.similar(one.student)
            guess = f"if it is {similar}'s, rename it" if similar else "correct the name or the roster"
            strangers.append(replace(one, answers=None, problem=f"{one.student} is not in the roster; {guess}"))
        elif student in rows:
            rows[student] = HandedInAnswers(student, problem=f"two answers files are named after {student}; keep one")
        else:
            rows[student] = one
    for student in roster:
        rows.setdefault(student, HandedInAnswers(student, problem="nothing was handed in", is_missing=True))
    return [replace(rows[s], student=s, name=roster.students[s]) for s in sorted(rows)], strangers


def _answers_in(tree: Tree, assignment: str, name: str, may_unpack: bool = True) -> list[Entry]:
    """The answers files of one hand-in: at the top, in the folder of the assignment, in the only other folder that has
    any, or the same below a single folder, or in a single zip. Raises `_Nothing`, `Refused`."""
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
        zips = [entry for entry in entries if is_zip(entry.name)]
        if not others and len(zips) == 1 and may_unpack:
            inner = read_zip(zips[0].shown, zips[0].load(MAX_ARCHIVE_BYTES))
            return _answers_in(inner, assignment, f"{name}/{zips[0].shown}", may_unpack=False)
        folders = [entry for entry in entries if entry.kind == "folder"]
        if others or len(folders) != 1:
            where = name if folder is None else f"{name}/{assignment}"
            elsewhere = " and ".join(f"{name}/{shown(entry.name)}" for entry in others[:3])
            raise _Nothing(f"there is no {NAME} in {where}" + (f" (but in {elsewhere})" if others else ""))
        entries, name = tree.children(folders[0].path), f"{name}/{shown(folders[0].name)}"
    raise _Nothing(f"there is no {NAME} in {name}")


# -- what is in it?


def _row(student: str, hand_ins: Sequence[HandIn], assignment: str) -> HandedInAnswers:
    """The answers of a student, or why there are none."""
    found: dict[int, list[Entry]] = {}
    without: list[tuple[HandIn, str, bool]] = []
    for hand_in in hand_ins:
        try:
            if hand_in.problem is not None:
                raise Refused(hand_in.problem)
            found[id(hand_in)] = _answers_in(hand_in.open(), assignment, hand_in.where.rpartition("/")[2])
        except _Nothing as nothing:
            without.append((hand_in, f"nothing was answered: {nothing}", True))
        except Refused as refusal:
            without.append((hand_in, str(refusal).rstrip("."), False))
    meant = of_latest_attempt([hand_in for hand_in in hand_ins if id(hand_in) in found])
    entries = [(hand_in, entry) for hand_in in meant for entry in found[id(hand_in)]]
    if not entries:
        _, problem, is_missing = min(without, key=itemgetter(2))
        return HandedInAnswers(student, problem=problem, is_missing=is_missing)
    if len(entries) > 1:
        names = " and ".join(f"{hand_in.where}/{entry.shown}" for hand_in, entry in entries)
        sentence = f"{len(entries)} answers files were found ({names}); keep the one meant"
        return HandedInAnswers(student, problem=sentence)
    ((hand_in, entry),) = entries
    for other, why, is_missing in without:
        is_later = time_of(other) > time_of(hand_in) if hand_in.attempt else not is_missing
        if is_later and (other.problem is None or other.problem_status == "unreadable"):
            sentence = f"there are answers in {hand_in.where}, but beside it or later {why}; keep the one meant"
            return HandedInAnswers(student, problem=sentence)
    return _read(student, entry, assignment)


def _read(student: str, entry: Entry, assignment: str) -> HandedInAnswers:
    data = b""
    try:
        data = entry.load(LARGEST)
        return HandedInAnswers(student, read_answers(data, entry.shown.rpartition("/")[2], assignment), data=data)
    except Refused as refusal:
        return HandedInAnswers(student, problem=str(refusal).rstrip("."))
    except QuizError as error:
        return HandedInAnswers(student, problem=str(error), data=data)
