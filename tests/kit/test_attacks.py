"""Hostile submissions, graded between honest ones: none gains a point, learns a secret, stays, or stops anything.

The corpus is in `attacks/`. It is graded as root, as an ordinary user and under the rules of other hosts, each in a
process of its own, and once without confinement: an attack that never succeeds anywhere would prove nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any

import pytest
from attacks.corpus import Attack
from attacks.run import SCRATCH, attacks
from grading import ROOT, offers_everything
from nursery import PLANTED, nursery

from autograder.grading.schedule import LANES
from autograder.sandbox.levels import MECHANISMS, PARTIAL, satisfies

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="confinement is Linux's")
ATTACKS = {attack.name: attack for attack in attacks()}
HOSTS = {
    "docker": "partial (no private root:",
    "apparmor": "partial (no private root:",
    "no_landlock": "full",
    "docker+no_landlock": "partial (no private root and no Landlock",
    "docker+own_users": "partial (no private root:",
    "user": "full",
}


CONTROL = "no confinement"
OPTIONS = {
    "": ["--apart", str(LANES - 1)],  # so of those that are under way together one is honest
    "user": ["--apart", "5"],
    SCRATCH: ["--scratch", "--apart", "5"],
    CONTROL: ["--harmless", "--about-the-host", "--apart", "5", "--without", *MECHANISMS],
}


def _run(host: str) -> subprocess.CompletedProcess[str]:
    options = OPTIONS.get(host, ["--about-the-host", "--apart", "5"])
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests/kit'}", "PLANTED": PLANTED}
    return nursery().run("-m", "attacks.run", *options, env=environment, host=host if host in HOSTS else "")


@cache
def _runs() -> dict[str, Future[subprocess.CompletedProcess[str]]]:
    """All runs, two at a time: each waits for its zygote for a while."""
    nursery()  # once, and not by two threads at the same time
    pool = ThreadPoolExecutor(2)
    return {host: pool.submit(_run, host) for host in ("", *HOSTS, SCRATCH, CONTROL)}


@cache
def graded(host: str = "") -> dict[str, Any]:
    """What came of the attacks on this host."""
    done = _runs()[host].result()
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def problems(attack: Attack, said: dict[str, Any], wrong: float, isolation: str) -> list[str]:
    """What an attack achieved; nothing, if all is well."""
    names_can_be_probed = isolation.startswith("partial (no private root:")
    found = []
    if said["got"] and not (attack.only_names and names_can_be_probed):
        found.append(f"had its way: {said['said']}")
    if said["leaked"]:
        found.append("obtained a planted marker")
    if attack.keeps and said["earned"] < said["possible"] and not isolation.startswith("partial (no private root and"):
        found.append(f"lost points that its honest part should keep: {said}")
    if not attack.keeps and said["earned"] > wrong:
        found.append(f"earned {said['earned']}, the same wrong answer without a trick {wrong}")
    return found


def test_the_corpus_is_large_and_every_attack_says_what_it_is_after() -> None:
    assert len(ATTACKS) >= 110
    assert all(len(attack.sentence.split()) >= 3 for attack in ATTACKS.values())
    assert sum(attack.keeps for attack in ATTACKS.values()) > 50
    assert sum(not attack.keeps for attack in ATTACKS.values()) > 30


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_gains_nothing(name: str) -> None:
    here = graded()
    assert problems(ATTACKS[name], here["attacks"][name], here["wrong"], here["isolation"]) == []


def check_the_rest(found: dict[str, Any], count: int) -> None:
    """Every submission has a receipt, the neighbours have all points, nothing stayed and nothing changed."""
    assert found["graded"] == count + len(found["honest"]) + 1
    assert len(found["honest"]) >= count / 5
    assert found["wrong"] < 2
    assert [one for one in found["honest"] if one["earned"] < 10 or one["outcomes"] != ["passed"]] == []
    assert found["survivors"] == []
    assert found["changed"] == []


def test_neighbours_keep_every_point_and_nothing_stays() -> None:
    assert satisfies(graded()["isolation"], PARTIAL), "a host that can confine nothing is no place for this corpus"
    check_the_rest(graded(), len(ATTACKS))


@pytest.mark.skipif(not offers_everything(), reason="a weaker host cannot simulate these; see autograder doctor")
@pytest.mark.parametrize("host", HOSTS)
def test_nothing_gets_through_on(host: str) -> None:
    found = graded(host)
    assert len(found["attacks"]) >= 90
    assert found["isolation"].startswith(HOSTS[host])
    achieved = {
        name: p
        for name, said in found["attacks"].items()
        if (p := problems(ATTACKS[name], said, found["wrong"], found["isolation"]))
    }
    assert achieved == {}
    check_the_rest(found, len(found["attacks"]))


WHAT_SCRATCH_IS_FOR = {"shared_posix"}
"""Attacks that also make files in their current directory."""


@pytest.mark.skipif(not offers_everything(), reason="this host cannot give scratch; see autograder doctor")
def test_nothing_gets_through_where_workers_have_scratch() -> None:
    corpus = ATTACKS | {attack.name: attack for attack in attacks((SCRATCH,))}
    found = graded(SCRATCH)
    assert len(found["attacks"]) >= 90
    achieved = {
        name: p
        for name, said in found["attacks"].items()
        if (p := problems(corpus[name], said, found["wrong"], found["isolation"])) and name not in WHAT_SCRATCH_IS_FOR
    }
    assert achieved == {}
    check_the_rest(found, len(found["attacks"]))


def test_without_confinement_many_attacks_have_their_way_and_still_gain_no_point() -> None:
    """The control: the corpus bites. The grade is safe even so, for what decides it is in another process."""
    found = graded(CONTROL)
    assert found["isolation"] == "process only"
    assert sum(said["got"] for said in found["attacks"].values()) >= 50
    gained = {n: s for n, s in found["attacks"].items() if not ATTACKS[n].keeps and s["earned"] > found["wrong"]}
    assert gained == {}
