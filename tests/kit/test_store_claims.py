"""Graders that share a database never grade the same work, whoever is killed when."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from test_store import receipt

from autograder.grading.store import Store

SUITE, KIT = "b" * 64, "1.0"
CLASS = [f"s{number:02}" for number in range(40)]
fork = multiprocessing.get_context("fork")


def work(*students: str, submission: str = "a") -> list[tuple[str, str]]:
    return [(student, submission * 64) for student in students]


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store(url) as opened:
        yield opened


def claim(store: Store, owner: str, *students: str, seconds: float = 3600, **how: Any) -> set[str]:
    return store.claim("week08", SUITE, KIT, work(*students), owner, seconds, **how)


def test_what_one_grader_has_claimed_another_does_not_get(store: Store) -> None:
    assert claim(store, "one", "s01", "s02") == {"s01", "s02"}
    assert claim(store, "other", "s02", "s03") == {"s03"}
    assert claim(store, "other", "s02", force=True) == set()
    assert claim(store, "one", "s01", "s03") == {"s01"}
    assert claim(store, "other", "s04", "s04") == {"s04"}


@pytest.mark.parametrize("other", ["assignment", "submission", "suite", "kit"])
def test_other_work_of_a_student_can_be_claimed(store: Store, other: str) -> None:
    assert claim(store, "one", "s01") == {"s01"}
    changed = {"assignment": "week08", "suite": SUITE, "kit": KIT, "submission": "a"} | {other: "c"}
    mine = work("s01", submission=changed["submission"])
    assert store.claim(changed["assignment"], changed["suite"], changed["kit"], mine, "other", 60) == {"s01"}


def test_work_that_has_a_complete_receipt_is_claimed_only_with_force(store: Store) -> None:
    store.add_all(
        [receipt("s01", seed=3), receipt("s02", outcome="grader trouble"), receipt("s03", submission_hash="c" * 64)]
    )
    assert claim(store, "one", "s01", "s02", "s03", "s04") == {"s02", "s03", "s04"}
    assert claim(store, "one", "s01", seed=3) == set()
    assert claim(store, "one", "s01", seed=4) == {"s01"}
    store.release("one")
    assert claim(store, "other", "s01", "s02", force=True) == {"s01", "s02"}


def test_released_work_is_free_and_that_of_others_is_not(store: Store) -> None:
    claim(store, "one", "s01", "s02")
    claim(store, "other", "s03")
    store.release("one")
    assert claim(store, "third", "s01", "s02", "s03") == {"s01", "s02"}


def claimed_in_the_end(store: Store, owner: str, student: str) -> bool:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if claim(store, owner, student):
            return True
        time.sleep(0.05)
    return False


def test_claims_of_a_grader_that_was_killed_expire(store: Store, url: str) -> None:
    def grader() -> None:
        with Store(url) as mine:
            claim(mine, "killed", "s01", seconds=1)
            claim(mine, "alive", "s02")
            os.kill(os.getpid(), signal.SIGKILL)

    process = fork.Process(target=grader)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert claimed_in_the_end(store, "heir", "s01")
    assert claim(store, "heir", "s02") == set()


def test_a_grader_that_renews_keeps_its_claims_and_learns_of_those_it_lost(store: Store) -> None:
    claim(store, "slow", "s01", "s02", seconds=0)
    assert claim(store, "quick", "s01", seconds=0.01) == {"s01"}
    assert store.renew("slow", 3600) == set()
    claim(store, "slow", "s02", seconds=1)
    assert store.renew("slow", 3600) == {"s02"}
    assert claimed_in_the_end(store, "third", "s01")
    time.sleep(1)
    assert claim(store, "third", "s02") == set()


def share(url: str, name: str, begin: Callable[[], object], dies: bool) -> None:
    rng = random.Random(name)
    waiting = rng.sample(CLASS, len(CLASS))
    with Store(url) as mine:
        begin()
        while waiting:
            chunk, waiting = waiting[:3], waiting[3:]
            got = claim(mine, name, *chunk, seconds=1 if dies else 3600)
            if dies and got:
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(0.02)  # it grades, and the others have their turn
            mine.add_all(receipt(student) for student in sorted(got))
            mine.release(name)


def test_eight_graders_of_one_class_grade_everybody_once(store: Store, url: str) -> None:
    start = fork.Barrier(8)
    graders = [fork.Process(target=share, args=(url, f"grader {n}", start.wait, n == 0)) for n in range(8)]
    for process in graders:
        process.start()
    for process in graders:
        process.join()
    assert [process.exitcode for process in graders] in ([0] * 8, [-signal.SIGKILL] + [0] * 7)
    kept = [r for student in CLASS for r in store.history("week08", student)]
    assert Counter(r.student for r in kept).most_common(1)[0][1] == 1
    assert len(kept) >= len(CLASS) - 3, "only what the killed one had claimed may be left"
    for student in CLASS:
        assert len(store.history("week08", student)) == 1 or claimed_in_the_end(store, "heir", student)
