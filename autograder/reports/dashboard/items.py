"""How a class did in each exercise and check: difficulty, discrimination, outcomes, time."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from autograder.grading.receipt import GRADER_TROUBLE, PASSED, CheckResult, Receipt, total
from autograder.reports.statistics import Row, Statistic, cronbach_alpha, item_rest, mean

Groups = Mapping[Hashable, Sequence[CheckResult]]
"""The checks of one student by what they are analysed as: by exercise, or each by itself."""


@dataclass
class Item:
    """An exercise or a check in a class."""

    exercise: str
    title: str
    points: Fraction
    public: bool
    attested: bool
    earned: list[Fraction | None] = field(default_factory=list)
    """By student; None where it has no result, or the grader spoiled it."""
    outcomes: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    discrimination: Statistic = 0.0

    @property
    def known(self) -> list[Fraction]:
        return [value for value in self.earned if value is not None]

    @property
    def difficulty(self) -> Statistic:
        """The mean share of its points that was earned: the larger, the easier."""
        return mean([value / self.points for value in self.known])

    @property
    def full(self) -> int:
        """How many earned all of it."""
        return self.known.count(self.points)

    @property
    def nothing(self) -> int:
        """How many earned nothing."""
        return self.known.count(Fraction(0))

    @property
    def lost(self) -> list[tuple[str, int]]:
        """Outcomes other than passed, the most frequent first."""
        return [(word, count) for word, count in self.outcomes.most_common() if word != PASSED]

    @property
    def median_seconds(self) -> float:
        return statistics.median(self.seconds) if self.seconds else 0.0

    @property
    def most_seconds(self) -> float:
        return max(self.seconds, default=0.0)


@dataclass(frozen=True)
class Analysis:
    """Items, and how well they hang together."""

    items: Sequence[Item]
    alpha: Statistic


def by_exercise(receipts: Sequence[Receipt]) -> Analysis:
    """The analysis of a class whose items are the exercises."""
    return _analysed([dict(receipt.exercises()) for receipt in receipts])


def by_check(receipts: Sequence[Receipt]) -> Analysis:
    """The analysis of a class whose items are the checks."""
    return _analysed([{(c.exercise, c.id): [c] for c in receipt.checks} for receipt in receipts])


def _analysed(students: Sequence[Groups]) -> Analysis:
    items: dict[Hashable, Item] = {}
    for place, groups in enumerate(students):
        for key, checks in groups.items():
            if key not in items:
                items[key] = _item(checks, students_before=place)
            _add(items[key], checks)
        for item in items.values():
            item.earned += [None] * (place + 1 - len(item.earned))
    found = list(items.values())
    rows = _whole_numbers([list(row) for row in zip(*(item.earned for item in found), strict=True)])
    for item, value in zip(found, item_rest(rows), strict=False):
        item.discrimination = value
    return Analysis(found, cronbach_alpha(rows))


def _item(checks: Sequence[CheckResult], students_before: int) -> Item:
    first, (_, points) = checks[0], total(checks)
    alone = len(checks) == 1
    return Item(
        exercise=first.exercise,
        title=first.title if alone else first.exercise,
        points=points,
        public=all(check.public for check in checks),
        attested=any(check.attested for check in checks),
        earned=[None] * students_before,
    )


def _add(item: Item, checks: Sequence[CheckResult]) -> None:
    item.outcomes.update(check.outcome for check in checks)
    item.seconds.append(sum(check.seconds for check in checks))
    spoiled = any(check.outcome == GRADER_TROUBLE for check in checks)
    item.earned.append(None if spoiled else total(checks)[0])


def _whole_numbers(rows: Sequence[Sequence[Fraction | None]]) -> list[Row]:
    """The same points in a unit in which all are whole: neither statistic depends on it, and whole numbers are fast."""
    unit = math.lcm(*{value.denominator for row in rows for value in row if value is not None})
    return [[None if value is None else int(value * unit) for value in row] for row in rows]
