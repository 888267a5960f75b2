"""The sample class, graded by the command of `make demo`: every kind of submission ends as data/README.md says."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from command_line import ROOT, Ran, ask, autograder

from autograder.authoring.contents import contents
from autograder.course import CourseFiles, load_course
from autograder.sandbox.levels import FULL, PARTIAL, PROCESS_ONLY, name_of

CLASS = ROOT / "data" / "sample_class"
WEEK08 = load_course(ROOT).assignment("week08")
EXERCISES = [exercise.name for exercise in WEEK08.exercises]
NOT_ATTEMPTED = {"not attempted"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('receipts') / 'receipts.sqlite'}"


GRADES = ("grade", "week08", "data/sample_class")


@pytest.fixture(scope="module")
def first_run(store: str) -> Ran:
    """The class, graded."""
    return autograder(*GRADES, "--store", store, cwd=ROOT, width=160)


def test_this_is_what_the_demonstration_runs() -> None:
    recipe = (ROOT / "Makefile").read_text().partition("\ndemo:")[2].partition("\n\n")[0].splitlines()[1:]
    commands = [line.split("autograder ", 1)[1] for line in recipe if line.startswith("\t@.venv/bin/autograder ")]
    assert commands == ["release week08", f"{' '.join(GRADES)} || [ $$? -eq 1 ]"]


@pytest.fixture(scope="module")
def second_run(first_run: Ran, store: str) -> Ran:
    """The same command again, as JSON."""
    return ask("grade", "week08", CLASS, "--store", store, "--json", cwd=ROOT)


@pytest.fixture(scope="module")
def receipts(second_run: Ran) -> dict[str, dict[str, Any]]:
    return {receipt["student"]: receipt for receipt in json.loads(second_run.stdout)}


def outcomes(receipt: dict[str, Any], exercise: str | None = None) -> set[str]:
    return {check["outcome"] for check in receipt["checks"] if exercise in (None, check["exercise"])}


def points(receipt: dict[str, Any], *exercises: str) -> Fraction:
    chosen = exercises or EXERCISES
    return sum((Fraction(c["earned"]) for c in receipt["checks"] if c["exercise"] in chosen), Fraction(0))


def whole(*exercises: str) -> Fraction:
    return sum((WEEK08.exercise(name).points for name in exercises), Fraction(0))


def test_run_is_complete_and_asks_for_a_look(first_run):
    assert first_run.returncode == 1, first_run.stderr
    assert "Traceback" not in first_run.stdout + first_run.stderr
    assert "13 of 13 submissions graded; 3 of 13 need attention. Receipts:" in first_run.stderr


def test_table_has_one_line_for_each_student(first_run):
    table, _, remarks = first_run.stdout.partition("to look at:")
    students = sorted(folder.name for folder in CLASS.iterdir())
    rows = [cells for line in table.splitlines() if (cells := line.split()) and cells[0] in students]
    assert [cells[0] for cells in rows] == students
    totals = {cells[0]: cells[10] for cells in rows}
    assert totals["mira"] == totals["jonas"] == totals["kofi"] == "100"
    assert totals["sven"] == totals["omar"] == "0"
    assert all(f"  {student} " in remarks for student in ("felix", "nadia", "omar"))


def test_second_run_reuses_every_receipt(second_run):
    assert second_run.returncode == 1
    assert "13 of 13 submissions graded (13 unchanged, receipts reused)" in second_run.stderr


@pytest.mark.parametrize("student", ["mira", "jonas", "kofi"])
def test_right_answers_get_all_points_however_they_are_written(receipts, student):
    assert receipts[student]["earned"] == receipts[student]["possible"] == "100"
    assert outcomes(receipts[student]) == {"passed"}


def test_error_at_the_bottom_of_a_file_costs_nothing_and_is_told(receipts):
    assert any("ZeroDivisionError" in note and "training.py" in note for note in receipts["kofi"]["reading"])
    assert "lm_head is ready" in receipts["kofi"]["output"]["lm_head"]


def test_untouched_stubs_get_nothing_and_every_check_is_not_attempted(receipts):
    assert receipts["sven"]["earned"] == "0"
    assert outcomes(receipts["sven"]) == NOT_ATTEMPTED
    assert receipts["sven"]["status"] == "graded"


def test_stubs_in_the_sample_class_are_the_released_ones():
    released = contents(CourseFiles(ROOT), WEEK08)
    for name in EXERCISES:
        stub = (CLASS / "sven" / f"{name}.py").read_bytes()
        assert stub == released[f"{name}.py"], f"sven/{name}.py is not current; run `make release`"


def test_folder_without_an_exercise_needs_attention(receipts):
    assert receipts["omar"]["status"] == "needs attention"
    assert receipts["omar"]["earned"] == "0"
    assert outcomes(receipts["omar"]) == NOT_ATTEMPTED
    assert receipts["omar"]["ignored"] == ["notes.txt"]


def test_syntax_error_costs_the_functions_it_touches(receipts):
    checks = {c["id"]: c for c in receipts["priya"]["checks"] if c["exercise"] == "masked_softmax"}
    assert checks["masked_softmax::test_reproduces_the_causal_mask"]["outcome"] == "passed"
    assert checks["masked_softmax::test_shares_by_hand"]["outcome"] == "raised"
    assert "line 12 does not parse" in checks["masked_softmax::test_shares_by_hand"]["message"]
    assert 0 < points(receipts["priya"], "masked_softmax") < whole("masked_softmax")
    assert points(receipts["priya"], "embedding", "multi_head") == whole("embedding", "multi_head")


def test_endless_loop_times_out_and_costs_only_its_function(receipts):
    assert {"passed", "timed out"} <= outcomes(receipts["felix"], "sampling")
    assert all(
        c["outcome"] != "timed out" or "no answer within 2 s" in c["message"] for c in receipts["felix"]["checks"]
    )
    assert points(receipts["felix"], "feed_forward") == whole("feed_forward")
    assert outcomes(receipts["felix"], "training") == {"passed", "not attempted"}


def test_hard_exit_stops_its_own_exercise_only(receipts):
    assert outcomes(receipts["nadia"], "layer_norm") == {"stopped"}
    found = points(receipts["nadia"], "feed_forward", "transformer_block")
    assert found == whole("feed_forward", "transformer_block")


def test_wrong_shapes_are_named(receipts):
    messages = [c["message"] for c in receipts["ines"]["checks"] if c["outcome"] == "failed"]
    assert sum(message.startswith("expected shape [") for message in messages) >= 8
    assert points(receipts["ines"]) <= 2
    assert "passed" in outcomes(receipts["ines"])


def test_typed_in_numbers_of_the_course_earn_at_most_their_own_checks(receipts):
    earned = [c for c in receipts["viktor"]["checks"] if c["earned"] != "0"]
    assert earned
    assert all(c["public"] and "_reproduces_" in c["id"] for c in earned)


@pytest.mark.parametrize(
    ("student", "exercise", "check"),
    [
        ("yara", "layer_norm", "test_uses_population_variance"),
        ("yara", "layer_norm", "test_epsilon_stands_inside_the_root"),
        ("hugo", "masked_softmax", "test_hidden_entries_weigh_nothing"),
        ("hugo", "multi_head", "test_each_head_gets_its_columns"),
        ("hugo", "multi_head", "test_attention_of_random_weights"),
        ("lena", "feed_forward", "test_gelu_is_exact"),
        ("lena", "transformer_block", "test_silent_branches_leave_the_stream_alone"),
    ],
)
def test_classic_mistake_fails_the_check_that_is_there_for_it(receipts, student, exercise, check):
    found = {c["id"]: c["outcome"] for c in receipts[student]["checks"]}
    assert found[f"{exercise}::{check}"] == "failed"
    assert 0 < points(receipts[student], exercise) < whole(exercise)


def test_what_an_exercise_forbids_is_refused_with_its_line(receipts):
    refused = [c for c in receipts["hugo"]["checks"] if c["exercise"] == "layer_norm"]
    assert {c["outcome"] for c in refused} == {"refused"}
    assert {c["message"] for c in refused} == {
        "line 6 of layer_norm.py uses torch.nn.functional.layer_norm, which this exercise forbids"
    }


def test_mistake_in_one_exercise_costs_none_that_builds_on_it(receipts):
    assert points(receipts["yara"], "transformer_block") == whole("transformer_block")
    assert points(receipts["lena"], "layer_norm") == whole("layer_norm")


def test_receipts_say_how_they_came_about(receipts):
    for receipt in receipts.values():
        assert receipt["isolation"] == receipts["mira"]["isolation"]
        assert name_of(receipt["isolation"]) in (FULL, PARTIAL, PROCESS_ONLY)
        assert receipt["seed"] == receipts["mira"]["seed"]
        assert len(receipt["checks"]) == len(receipts["mira"]["checks"])
        assert sum(Fraction(c["earned"]) for c in receipt["checks"]) == Fraction(receipt["earned"])
        assert receipt["possible"] == "100"


def test_messages_of_hidden_checks_quote_neither_the_call_nor_the_answer(receipts):
    hidden = [c["message"] for receipt in receipts.values() for c in receipt["checks"] if not c["public"]]
    public = [c["message"] for receipt in receipts.values() for c in receipt["checks"] if c["public"]]
    assert not any("\n" in message for message in hidden)
    assert any("\ncall     masked_softmax(" in message and "\nexpected [" in message for message in public)


def test_one_receipt_is_shown_in_words(first_run, store):
    shown = ask("show", "hugo", "--store", store, cwd=CLASS)
    assert shown.stdout.startswith("hugo: ")
    assert "hidden: masked_softmax is right for random scores and masks" in shown.stdout
    assert "isolation: " not in shown.stdout
    assert "isolation: " in ask("show", "hugo", "--instructor", "--store", store, cwd=CLASS).stdout


def test_sample_class_holds_one_folder_for_each_line_of_its_readme():
    text = (ROOT / "data" / "README.md").read_text("utf-8")
    told = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]
    assert told == sorted(folder.name for folder in CLASS.iterdir())


def test_path_of_a_single_submission_works_too(first_run, store):
    done = ask("grade", "week08", CLASS / "mira", "--store", store, cwd=ROOT)
    assert done.returncode == 0
    assert "1 of 1 submission graded (1 unchanged, receipts reused); none needs attention" in done.stderr
