"""Code that does not end costs its own calls, and no more time than the limits (cases B15, B16)."""

from __future__ import annotations

import pytest
from grading import (
    edited,
    grade_class,
    lost,
    messages,
    outcomes,
    points,
    with_body,
)
from odd_code import EXERCISES, MASKED, NORM, Class, first_line, loses_only, softmax_checks


@pytest.fixture(scope="module")
def endless() -> Class:
    """What has to be stopped, with a fifth of a second for a check and 4 s for a submission."""
    nap = "import time\n    time.sleep(0.18)\n    D = q.shape[-1]"
    work = {
        "loop": first_line("while True:\n    pass"),
        "three_dimensions": first_line("while scores.ndim == 3:\n    pass"),
        "prints": first_line('while scores.shape == (1, 3):\n    print("x" * 1000)'),
        "nap": edited(MASKED, "D = q.shape[-1]", nap),
        "deaf": first_line(
            "import signal\nfor number in set(signal.Signals) - {9, 19}:\n"
            "    try:\n        signal.signal(number, signal.SIG_IGN)\n    except OSError:\n        pass\n"
            "while scores.shape == (1, 3):\n    pass"
        ),
    }
    students = {name: {"masked_softmax": source, "layer_norm": NORM} for name, source in work.items()}
    loop = with_body(with_body(NORM, "layer_norm", "while True:\n    pass"), "LayerNorm", "while True:\n    pass")
    students["everywhere"] = {"masked_softmax": work["loop"], "layer_norm": loop}
    return grade_class(students, exercises=EXERCISES, limits={"seconds_per_check": 0.2, "seconds_per_submission": 4})


@pytest.mark.parametrize("variant", ["loop", "prints", "deaf"])
def test_no_answer_is_no_pass(endless: Class, variant: str) -> None:
    assert loses_only(endless[variant], *(softmax_checks() if variant == "loop" else {"test_shares_by_hand"}))
    assert set(lost(endless[variant]).values()) == {"timed out"}
    assert "no answer within 0.2 s" in messages(endless[variant])[0]
    assert "timed out" in endless[variant].attention()


def test_only_the_calls_that_do_not_end_are_lost(endless: Class) -> None:
    kept = {
        name for name, outcome in outcomes(endless["three_dimensions"], "masked_softmax").items() if outcome == "passed"
    }
    assert {"test_shares_by_hand", "test_large_scores", "test_hidden_entries_weigh_nothing"} <= kept
    assert outcomes(endless["three_dimensions"], "masked_softmax")["test_other_axes"] == "timed out"


def test_waiting_close_to_the_limit_passes(endless: Class) -> None:
    assert points(endless["nap"], "masked_softmax") == 14


def test_the_time_of_a_submission_is_bounded_too(endless: Class) -> None:
    """The checks that were not started are `not run`: 25 checks of a fifth of a second do not fit into 4 s."""
    found = list(outcomes(endless["everywhere"]).values())
    assert 10 <= found.count("timed out") <= 20
    assert found.count("not run") == len(found) - found.count("timed out") - found.count("passed") >= 5
    assert {"timed out", "not run"} <= set(endless["everywhere"].attention())
