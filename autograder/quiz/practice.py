"""What an answer means, said at once: for practice, where the complete questions are at hand."""

from __future__ import annotations

from autograder.course.points import shown
from autograder.quiz.bank import Bank
from autograder.quiz.marking import SELF_ASSESSED, mark
from autograder.quiz.model import Open


def explained(bank: Bank, item_id: str, typed: object, student: str) -> list[str]:
    """The outcome of an answer, the feedback on it and the idea behind the question, as Markdown."""
    item = bank.by_id[item_id]
    if isinstance(item, Open):
        return [f"{SELF_ASSESSED}; compare it with this answer:", item.model.strip()]
    found = mark(bank, item, typed, student)
    worth = "1 point" if item.points == 1 else f"{shown(item.points)} points"
    return [f"**{found.outcome}**: {shown(item.points * found.share)} of {worth}", *found.feedback, item.why.strip()]
