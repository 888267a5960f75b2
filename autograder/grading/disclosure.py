"""When a student is told which mistake a submission looks like: a policy of the assignment."""

from __future__ import annotations

from datetime import datetime

from autograder.course import Assignment
from autograder.grading.late import deadline_of


def hint_withheld(assignment: Assignment, attempts: int, now: datetime, student: str = "") -> str:
    """Why diagnoses are not told now, as a sentence for the student; "" where they are.

    `attempts` counts the different submissions of the student that were graded; `now` has a time zone. Who has a
    deadline of their own waits for that.
    """
    deadline = deadline_of(assignment, student) or assignment.deadline
    match assignment.hint:
        case "after_first_attempt" if attempts < 2:
            return "there is a hint: it is shown with your next attempt"
        case "after_deadline" if now <= deadline:
            return f"there is a hint: it is shown after the deadline, {deadline:%Y-%m-%d %H:%M %Z}"
        case "never":
            return "hints are given in class"
    return ""
