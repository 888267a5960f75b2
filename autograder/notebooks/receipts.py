"""From what a workbook asks itself to a receipt, the same record that modules have, in the same store.

Everything in it comes from the text of cells and from the release; nothing that a kernel did or an output shows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from autograder.authoring.answer_cells import DRAWN_FOR, section_of
from autograder.grading.parts import NOTEBOOK
from autograder.grading.receipt import (
    GRADED,
    NEEDS_ATTENTION,
    NOT_SUBMITTED,
    WAITS,
    CheckResult,
    Diagnosis,
    Receipt,
)
from autograder.grading.store import now
from autograder.notebooks.restore import NO_NOTEBOOK
from autograder.quiz.bank import Bank
from autograder.quiz.marking import NOT_ANSWERED, NOTHING, REWRITE, Mark
from autograder.quiz.model import AnyItem
from autograder.quiz.receipts import NO_CODE_RUN, check_of, ideas_in, title, typed_text


@dataclass(frozen=True)
class Answer:
    """What one cell with points adds to a receipt, where it is the `exercise`: its check, what the student wrote (None:
    nothing), and the false ideas that this shows."""

    check: CheckResult
    written: object = None
    ideas: tuple[Diagnosis, ...] = ()


def marked_answer(cell: str, bank: Bank, item: AnyItem, one: Mark) -> Answer:
    """The answer to a question of the quiz, in the cell of that name."""
    check = check_of(item, one, cell, title(bank, item, DRAWN_FOR))
    written = None if one.outcome == NOT_ANSWERED else one.typed
    return Answer(check, written, ideas_in(bank, [one], section_of(bank, item)))


def unread_answer(cell: str, points: Fraction, asked: str, written: str | None) -> Answer:
    """An answer that a person reads, or (None) one that was not given: that one needs nobody."""
    outcome = NOT_ANSWERED if written is None else WAITS
    return Answer(CheckResult(cell, cell, asked, True, points, outcome, NOTHING), written)


def receipt_of(answers: Sequence[Answer], mended: Sequence[str], judge: str, modules: Receipt) -> Receipt:
    """The receipt of a notebook's own points.

    `mended`: what had to be mended in it; `judge`: changes with the questions; `modules`: the receipt of what was
    handed in beside it, at the same time.
    """
    checks = tuple(answer.check for answer in answers)
    look = mended or any(check.outcome == REWRITE for check in checks)
    deciding = [judge, [(check.exercise, str(check.points)) for check in checks]]
    return Receipt(
        course=modules.course,
        assignment=NOTEBOOK.of(modules.assignment),
        student=modules.student,
        name=modules.name,
        status=NOT_SUBMITTED if NO_NOTEBOOK in mended else NEEDS_ATTENTION if look else GRADED,
        submission_hash=_hash([[[a.check.id, a.written] for a in answers], list(mended)]),
        suite_hash=_hash(deciding),
        graded_at=now(),
        checks=checks,
        notes=tuple(mended),
        output={a.check.exercise: typed_text(a.written) for a in answers if a.written is not None},
        diagnoses={a.check.exercise: a.ideas for a in answers if a.ideas},
        handed_in=modules.handed_in,
        handed_in_remark=modules.handed_in_remark,
        **NO_CODE_RUN,
    )


def _hash(data: object) -> str:
    return hashlib.sha256(json.dumps(data, default=str).encode()).hexdigest()
