"""Receipts as rows, and the queries that answer for a whole class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import sqlalchemy as sa

from autograder.grading.receipt import Receipt
from autograder.grading.store.schema import receipts

_AT_A_TIME = 500
_COLUMNS = [column.name for column in receipts.columns if column.name not in ("id", "document")]


def row_of(receipt: Receipt) -> dict[str, Any]:
    """What is kept of a receipt: its document, and beside it what is asked for."""
    return {**{name: getattr(receipt, name) for name in _COLUMNS}, "document": receipt.to_dict()}


def documents(connection: sa.Connection, numbers: sa.Select[tuple[int]] | Iterable[int]) -> Iterator[Receipt]:
    """The receipts with these numbers, a few at a time, for documents are long; those of one query newest first.

    Raises:
        ValueError: one cannot be read.
    """
    query = sa.select(receipts.c.document).order_by(receipts.c.id.desc())
    some = [numbers] if isinstance(numbers, sa.Select) else _portions(numbers)
    streaming = connection.execution_options(yield_per=_AT_A_TIME)
    try:
        for wanted in some:
            for document in streaming.scalars(query.where(receipts.c.id.in_(wanted))):
                yield Receipt.from_dict(document)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"malformed receipt: {error!r}") from None


def of_student(assignment: str, student: str) -> sa.Select[tuple[int]]:
    """The numbers of all receipts of a student."""
    return sa.select(receipts.c.id).where(receipts.c.assignment == assignment, receipts.c.student == student)


def standing(assignment: str) -> sa.Select[tuple[int]]:
    """The numbers of the receipts that count: of each student the newest complete one, or the newest at all."""
    newest_complete = sa.func.max(sa.case((receipts.c.complete, receipts.c.id)))
    newest = sa.func.coalesce(newest_complete, sa.func.max(receipts.c.id))
    return sa.select(newest).where(receipts.c.assignment == assignment).group_by(receipts.c.student)


def complete(
    connection: sa.Connection,
    assignment: str,
    work: Mapping[str, str],
    suite_hash: str,
    kit_version: str,
    seed: int | None,
) -> dict[str, int]:
    """By student, the number of the newest complete receipt of exactly this work (student -> submission hash)."""
    found: dict[str, int] = {}
    for those in students_in(work):
        query = sa.select(receipts.c.student, receipts.c.submission_hash, receipts.c.id).where(
            receipts.c.assignment == assignment,
            those,
            receipts.c.complete,
            receipts.c.suite_hash == suite_hash,
            receipts.c.kit_version == kit_version,
            *([] if seed is None else [receipts.c.seed == seed]),
        )
        for student, submission_hash, number in connection.execute(query.order_by(receipts.c.id)):
            if work[student] == submission_hash:
                found[student] = number
    return found


def standing_work(connection: sa.Connection, assignment: str) -> dict[str, tuple[str, ...]]:
    """What decided the newest complete receipt of each student, as `work_of` says it."""
    mine = sa.and_(receipts.c.assignment == assignment, receipts.c.complete)
    newest = sa.select(sa.func.max(receipts.c.id)).where(mine).group_by(receipts.c.student)
    columns = [receipts.c[name] for name in ("student", "submission_hash", "suite_hash", "kit_version", "status")]
    query = sa.select(*columns).where(receipts.c.id.in_(newest))
    return {student: tuple(work) for student, *work in connection.execute(query)}


def work_of(receipt: Receipt) -> tuple[str, ...]:
    """What decides a mark, and whether anybody has to look at it."""
    return receipt.submission_hash, receipt.suite_hash, receipt.kit_version, receipt.status


def students_in(students: Iterable[str]) -> Iterator[sa.ColumnElement[bool]]:
    """Conditions that together name all of them."""
    return (receipts.c.student.in_(some) for some in _portions(students))


def _portions(values: Iterable[Any]) -> Iterator[list[Any]]:
    """So many that no database finds the query too long."""
    rest = list(values)
    return (rest[begin : begin + _AT_A_TIME] for begin in range(0, len(rest), _AT_A_TIME))
