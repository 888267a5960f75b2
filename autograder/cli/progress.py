"""`autograder progress`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from autograder.authoring import AuthoringError
from autograder.authoring.bundle.progress import course_total, mark_read, report
from autograder.authoring.bundle.questions import QuizTrouble
from autograder.authoring.bundle.terminal import Terminal
from autograder.cli.setting import Setting


def run(course: Path | None, assignment: str | None, read: Sequence[str], unread: Sequence[str]) -> None:
    """Print how far the student is with one assignment, or with all that are in the course's folder."""
    setting, terminal = Setting.find(course), Terminal()
    every = list(setting.course.assignments) if assignment is None else [setting.course.assignment(assignment).id]
    folders = [folder for name in every if (folder := setting.files.stubs(name)).is_dir()]
    if not folders:
        raise AuthoringError(f"there is no folder of exercises for {' or '.join(every)} yet; release it first")
    if (read or unread) and assignment is None and len(folders) > 1:
        raise AuthoringError(f"name the assignment that the section belongs to: {', '.join(every)}")
    try:
        for wanted, is_read in ((read, True), (unread, False)):
            if wanted and (remark := mark_read(folders[0], wanted, is_read)):
                terminal.say(remark)
        for folder in folders:
            terminal.say(*report(folder, terminal.layout), "")
        terminal.say(*course_total(folders))
    except QuizTrouble as error:
        raise AuthoringError(str(error)) from None
