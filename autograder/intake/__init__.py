"""Intake: folders, zips and loose files become `Submission` objects. Nothing handed in is run, parsed or followed."""

from __future__ import annotations

from autograder.intake.collect import collect, collect_one
from autograder.intake.notebook import Part, parts_of
from autograder.intake.roster import Roster, id_problem, read_roster
from autograder.intake.submission import HandedIn, IntakeError, Status, Submission
from autograder.intake.times import HandInTimes, read_times

__all__ = [
    "HandInTimes",
    "HandedIn",
    "IntakeError",
    "Part",
    "Roster",
    "Status",
    "Submission",
    "collect",
    "collect_one",
    "id_problem",
    "parts_of",
    "read_roster",
    "read_times",
]
