"""How a class did in each exercise and check: difficulty, discrimination, outcomes, time."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from autograder.grading.receipt import GRADER_TROUBLE, PASSED, WAITS, CheckResult, Receipt, total
from autograder.reports.statistics import NO_STUDENT, Row, Statistic, Undefined, cronbach_alpha, item_rest, mean

Key = tuple[str, str]
"""An exercise and the id of a check, or "" for all of the exercise."""

Groups = Mapping[Key, Sequence[CheckResult]]
"""The checks of one student by what they are analysed as."""


@dataclass
class Item:
    """An exercise or a check in a class."""

    exercise: str
    title: str
    points: Fraction
    public: bool
    attested: bool
    earned: list[Fraction | None] = field(default_factory=list)
    """By student; None where it has no result, the grader spoiled it, or only a person can read it."""
    outcomes: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    difficulty: Statistic = NO_STUDENT
    """The mean share of its points that was earned: the larger, the easier."""
    discrimination: Statistic = NO_STUDENT

    @property
    def known(self) -> list[Fraction]:
        """Points of those for whom it ended with a result."""
        return [value for value in self.earned if value is not None]

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
        """CPU seconds it took in the middle of the class; 0 where nothing was measured."""
        return statistics.median(self.seconds) if self.seconds else 0.0

    @property
    def most_seconds(self) -> float:
        """The most CPU seconds it took."""
        return max(self.seconds, default=0.0)


@dataclass(frozen=True)
class Analysis:
    """Items, and how well they hang together."""

    items: Sequence[Item]
    alpha: Statistic


def by_exercise(receipts: Sequence[Receipt]) -> Analysis:
    """The analysis of a class whose items are the exercises."""
    return _analysed([{(name, ""): checks for name, checks in r.exercises().items()} for r in receipts])


def by_check(receipts: Sequence[Receipt]) -> Analysis:
    """The analysis of a class whose items are the checks."""
    return _analysed([{(c.exercise, c.id): [c] for c in r.checks} for r in receipts])


def _analysed(students: Iterable[Groups]) -> Analysis:
    items: dict[Key, Item] = {}
    for place, groups in enumerate(students):
        for key, checks in groups.items():
            if key not in items:
                items[key] = _item(checks, whole=not key[1], students_before=place)
            _add(items[key], checks)
        for item in items.values():
            item.earned += [None] * (place + 1 - len(item.earned))
    found = list(items.values())
    unit = _unit(found)
    columns = [[None if v is None else v.numerator * (unit // v.denominator) for v in item.earned] for item in found]
    rows: list[Row] = list(zip(*columns, strict=True))
    for item, column, discrimination in zip(found, columns, item_rest(rows), strict=True):
        average = mean([value for value in column if value is not None])
        item.difficulty = average if isinstance(average, Undefined) else average / float(item.points * unit)
        item.discrimination = discrimination
    return Analysis(found, cronbach_alpha(rows))


def _item(checks: Sequence[CheckResult], whole: bool, students_before: int) -> Item:
    first, (_, points) = checks[0], total(checks)
    return Item(
        exercise=first.exercise,
        title=first.exercise if whole else first.title,
        points=points,
        public=all(check.public for check in checks),
        attested=any(check.attested for check in checks),
        earned=[None] * students_before,
    )


def _add(item: Item, checks: Sequence[CheckResult]) -> None:
    item.outcomes.update(check.outcome for check in checks)
    item.seconds.append(sum(check.seconds for check in checks))
    has_none = any(check.outcome in (GRADER_TROUBLE, WAITS) for check in checks)
    item.earned.append(None if has_none else sum((check.earned for check in checks[1:]), checks[0].earned))


def _unit(items: Iterable[Item]) -> int:
    """Parts of a point in which all points are whole: no statistic depends on it, and whole numbers are fast."""
    return math.lcm(*{value.denominator for item in items for value in item.known})
