"""Which mistake is named: replies compared, suspects weighed, and nothing said where nothing is sure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from grading import ROOT, copied_course, grade_class, lost, solution, with_body
from small_course import small_course

from autograder.authoring.variants import written
from autograder.course import CourseFiles, load_course
from autograder.course.mistakes import Edit, Mistake, load_mistakes
from autograder.grading.diagnosis import Behaviour, named, suspects
from autograder.grading.evidence import Evidence, distance, evidence_of
from autograder.grading.kills import Kill, kills_text, load_kills, unproved
from autograder.sandbox import wire
from autograder.sandbox.values import Foreign, Ref

CALL = wire.request(("call", {"ref": Ref("slope", "slope")}))
STATE = wire.request(("call", {"ref": Ref(1, "state_dict")}))


def said(*values: object, frame: bytes = CALL) -> Evidence:
    return evidence_of([frame] * len(values), [{"value": value} for value in values])


# -- evidence


@pytest.mark.parametrize(
    "other",
    [
        torch.tensor([1.0, 2.5]),
        torch.tensor([1.0, 2.0], dtype=torch.float64),
        torch.tensor([[1.0, 2.0]]),
        torch.tensor([1.0, torch.nan]),
        [1.0, 2.0],
        None,
        "1.0 2.0",
        Foreign("numpy.ndarray"),
    ],
)
def test_other_answers_are_told_apart(other: object) -> None:
    assert distance(said(torch.tensor([1.0, 2.0])), said(other)) > 1


def test_rounding_makes_no_difference() -> None:
    values = torch.tensor([1.0, -2000.0, 1e-9])
    assert distance(said(values), said(values * (1 + 1e-6))) < 1
    assert distance(said(values), said(values + 1e-4)) < 1  # next to 2000 that is nothing
    assert distance(said(torch.tensor([torch.nan, 1.0])), said(torch.tensor([torch.nan, 1.0]))) == 0
    assert distance(said(torch.full((2,), torch.inf)), said(torch.full((2,), -torch.inf))) > 1


def test_packed_replies_say_the_same() -> None:
    replies = [{"value": torch.ones(2)}, {"value": 3, "at": 1}]
    packed = wire.body(wire.encode(replies))
    assert distance(evidence_of([CALL, CALL], packed), evidence_of([CALL, CALL], replies)) == 0


def test_a_check_that_stopped_early_is_compared_as_far_as_it_came() -> None:
    assert distance(said(1.0), said(1.0, 2.0)) == 0
    assert distance((), said(1.0)) > 1


def test_of_a_state_dict_only_names_and_shapes_count() -> None:
    """Its numbers are those that chance began with, and depend on the order in which parts were made."""
    one, other = {"weight": torch.zeros(2, 3)}, {"weight": torch.ones(2, 3)}
    assert distance(said(one, frame=STATE), said(other, frame=STATE)) == 0
    assert distance(said(one, frame=STATE), said({"weights": torch.zeros(2, 3)}, frame=STATE)) > 1
    assert distance(said(one, frame=STATE), said({"weight": torch.zeros(3, 2)}, frame=STATE)) > 1


def test_errors_are_compared_by_kind_and_by_words_that_are_not_the_students() -> None:
    def fault(name: str, text: str) -> Evidence:
        return evidence_of([CALL], [{"fault": {"kind": "raised", "names": [name], "text": text}}])

    assert distance(fault("ValueError", "3 beyond 2"), fault("ValueError", "too long: 3, 2")) == 0
    assert distance(fault("RuntimeError", "size 3 must match 2"), fault("RuntimeError", "size 4 must match 2")) > 1
    assert distance(fault("IndexError", "x"), fault("RuntimeError", "x")) > 1


@pytest.mark.parametrize("packed", [b"", b"\xff\xff", b"\x01", wire.body(wire.encode({"a": 1}))])
def test_replies_of_a_wrong_form_are_no_evidence(packed: bytes) -> None:
    assert evidence_of([CALL], packed) == ()


@pytest.mark.parametrize(
    "reply",
    [
        {"fault": None},
        {"fault": {"names": 3, "text": ["x"], "kind": {}}},
        {"value": {b"a": 1, "b": 2}},
        {"value": torch.zeros(2000, 2000, dtype=torch.uint8)},
        {"value": [torch.zeros(1000, 900)] * 3},
        {"value": float("nan")},
        {},
        [],
        None,
    ],
)
def test_whatever_a_worker_sends_can_be_compared(reply: object) -> None:
    found = evidence_of([CALL], [reply])
    assert distance(found, found) == (0 if isinstance(reply, dict) else float("inf"))


# -- suspects


def behaviour(answers: Mapping[int, float], telling: bool = True) -> Behaviour:
    """Eight checks; 0 is the right answer to each. Answers that are not telling are one number, others are several."""
    numbers = [answers.get(place, 0.0) for place in range(8)]
    failed = frozenset(place for place, number in enumerate(numbers) if number)
    return Behaviour(failed, frozenset(range(8)) - failed, lambda place: answer(numbers[place], telling))


def answer(number: float, telling: bool = True) -> Any:
    return said(torch.tensor([number, 2 * number + 1, 7.0]) if telling else number)


def names(submission: Behaviour, **mistakes: Behaviour) -> set[str]:
    known = [
        (Mistake(id=name, name=name, hint="?", course="Week 1 §1", edit=(Edit(find="a", replace="b"),)), one)
        for name, one in mistakes.items()
    ]
    right = answer(0.0, telling=len(submission.evidence(0)[0].numbers) > 1)
    return {suspect.mistake.id for suspect in named(suspects(submission, known, lambda place: right))}


def test_the_one_mistake_that_answers_alike_is_named() -> None:
    assert names(behaviour({0: 1, 1: 2}), one=behaviour({0: 1, 1: 2}), other=behaviour({0: 5, 1: 2, 2: 1})) == {"one"}


def test_an_answer_that_no_mistake_gives_is_not_named() -> None:
    assert names(behaviour({0: 1}), one=behaviour({0: 2})) == set()


def test_a_mistake_under_which_a_passed_check_fails_is_not_named() -> None:
    assert names(behaviour({0: 1}), one=behaviour({0: 1, 3: 1})) == set()


def test_the_more_specific_mistake_is_named() -> None:
    """Both explain what failed first; only one explains the rest as well."""
    assert names(behaviour({0: 1, 1: 2}), one=behaviour({0: 1}), both=behaviour({0: 1, 1: 2})) == {"both"}


def test_between_two_that_explain_the_same_nobody_is_named() -> None:
    assert names(behaviour({0: 1}), one=behaviour({0: 1}), other=behaviour({0: 1})) == set()


def test_two_mistakes_in_different_parts_are_both_named() -> None:
    one, other = {0: 1, 1: 1, 2: 4}, {3: 7, 4: 2, 5: 1}
    assert names(behaviour(one | other), one=behaviour(one), other=behaviour(other)) == {"one", "other"}


def test_where_two_mistakes_meet_each_is_named_by_what_it_explains_alone() -> None:
    one, other = {0: 1, 1: 1, 2: 4, 3: 5}, {3: 6, 4: 2, 5: 1, 6: 3}
    found = names(behaviour(one | other | {3: 8}), one=behaviour(one), other=behaviour(other))
    assert found == {"one", "other"}


def test_a_mistake_that_agrees_in_one_check_of_many_is_not_named() -> None:
    """Where a check asks little, many wrong answers are alike."""
    assert names(behaviour({0: 1, 1: 8, 2: 8}), one=behaviour({0: 1, 1: 2, 2: 2})) == set()
    assert names(behaviour({0: 1, 1: 8}), one=behaviour({0: 1, 1: 2})) == set()


def test_a_mistake_that_leaves_more_to_others_than_it_explains_is_not_named() -> None:
    assert names(behaviour({0: 1, 1: 8, 2: 8}), one=behaviour({0: 1})) == set()
    assert names(behaviour({0: 1, 1: 1, 2: 1, 3: 9, 4: 9, 5: 9, 6: 9}), one=behaviour({0: 1, 1: 1, 2: 1})) == set()


def test_answers_that_tell_little_name_a_mistake_only_where_it_is_the_whole_story() -> None:
    """Zeros, one number or an error are what many mistakes come to."""
    little = {0: 1.0, 1: 1.0, 2: 1.0}
    assert names(behaviour(little, telling=False), one=behaviour(little, telling=False)) == {"one"}
    more = behaviour(little | {3: 8.0}, telling=False)
    assert names(more, one=behaviour(little, telling=False)) == set()
    assert names(behaviour(little | {3: 8.0}), one=behaviour(little)) == {"one"}


@pytest.mark.parametrize("value", [torch.zeros(20), torch.eye(4), torch.tensor(3.5), True, "text", None])
def test_constants_tell_little(value: object) -> None:
    assert not said(value)[0].tells_much


def test_a_right_answer_has_no_suspect() -> None:
    assert names(behaviour({}), one=behaviour({0: 1})) == set()


# -- kills


def test_kills_say_who_can_be_behind_what_failed() -> None:
    kill = Kill(frozenset("ab"), frozenset("c"))
    assert kill.may_be_behind(frozenset("ab"), frozenset("cd"))
    assert kill.may_be_behind(frozenset("abd"), frozenset("c"))
    assert not kill.may_be_behind(frozenset("a"), frozenset("bcd"))
    assert not kill.may_be_behind(frozenset("d"), frozenset())
    assert kill.distance(frozenset("ab")) == kill.distance(frozenset("abc")) == 0
    assert kill.distance(frozenset("abde")) == 2


def test_kills_are_read_as_they_were_noted_until_a_source_changes(tmp_path: Path) -> None:
    files, lines = small_course(tmp_path)
    kills = {"adds": Kill(frozenset({"slope::a", "slope::c"}), frozenset({"slope::b"}))}
    files.kills("slope").parent.mkdir(parents=True)
    files.kills("slope").write_text(kills_text(files, lines, "slope", ["slope::a", "slope::b", "slope::c"], kills))
    assert load_kills(files, lines, "slope") == kills
    suite = files.suite_file("lines", "slope")
    suite.write_text(suite.read_text() + "\n")
    assert load_kills(files, lines, "slope") is None


@pytest.mark.parametrize("damage", ["", "{", "[]", "null", '{"sources": 1}'])
def test_damaged_kills_are_as_good_as_none(tmp_path: Path, damage: str) -> None:
    files, lines = small_course(tmp_path)
    files.kills("slope").parent.mkdir(parents=True)
    files.kills("slope").write_text(damage)
    assert load_kills(files, lines, "slope") is None


# -- in a graded class

WRONG_MEAN = with_body(
    solution("layer_norm"),
    "layer_norm",
    """
    centre = x.mean(-1, keepdim=True)
    spread = ((x - centre) ** 2).sum(-1, keepdim=True) / (x.shape[-1] - 1)
    return (x - centre) * (spread + eps).rsqrt() * gamma + beta
    """,
)
NONSENSE = with_body(solution("layer_norm"), "layer_norm", "return torch.tanh(x * 3 + 1) * gamma - beta")


def test_a_submission_is_told_which_mistake_it_has_and_a_right_one_nothing() -> None:
    receipts = grade_class(
        {"wrong": {"layer_norm": WRONG_MEAN}, "nonsense": {"layer_norm": NONSENSE}}, exercises=["layer_norm"]
    )
    (found,) = receipts["wrong"].diagnoses["layer_norm"]
    assert "C - 1" in found.name or "C-1" in found.name
    assert "?" in found.hint and found.course.startswith(("Week 8", "Day 3"))
    failed = {check.id for check in receipts["wrong"].checks if check.outcome == "failed"}
    assert set(found.checks) <= failed and found.checks
    assert not receipts["nonsense"].diagnoses
    assert all(not receipt.diagnoses for name, receipt in receipts.items() if name.startswith("honest"))


def test_an_exercise_that_changed_since_it_was_proved_is_graded_without_diagnoses(tmp_path: Path) -> None:
    root = copied_course(tmp_path)
    assert unproved(CourseFiles(root), load_course(root).assignment("week08")) == []
    path = root / "reference/mistakes/layer_norm.yml"
    path.write_text(path.read_text("utf-8").replace("find: ", "find: there is no such text ", 1), "utf-8")
    receipts = grade_class({"wrong": {"layer_norm": WRONG_MEAN}}, exercises=["layer_norm"], root=root)
    assert receipts["wrong"].diagnoses == {}
    assert {check.outcome for check in receipts["wrong"].checks} == {"passed", "failed"}
    assert unproved(CourseFiles(root), load_course(root).assignment("week08")) == ["layer_norm"]


def test_every_exercise_of_the_course_has_mistakes() -> None:
    files, assignments = CourseFiles(ROOT), load_course(ROOT).assignments.values()
    exercises = [exercise.name for assignment in assignments for exercise in assignment.exercises]
    assert [name for name in exercises if not files.mistakes(name).is_file()] == []


BLIND_SPOTS = {
    "masked_softmax": (
        "peak_of_the_whole_tensor",
        "always_the_last_axis",
        "mask_added_to_the_scores",
        "additive_mask_read_as_zeros_and_ones",
    ),
    "training": ("small_gradients_blown_up", "generator_read_twice", "gradients_never_cleared"),
    "layer_norm": ("epsilon_outside_the_root",),
    "feed_forward": ("tanh_for_erf",),
}
"""Mistakes that well-known public suites on this subject let pass."""


def test_what_public_suites_let_pass_is_caught_and_named_also_when_it_is_written_otherwise() -> None:
    files = CourseFiles(ROOT)
    known = {
        mistake.id: (exercise, mistake)
        for exercise, ids in BLIND_SPOTS.items()
        for mistake in load_mistakes(files.mistakes(exercise)).mistakes
        if mistake.id in ids
    }
    assert len(known) == sum(map(len, BLIND_SPOTS.values()))
    work = {
        f"{name} {number}": {exercise: written(solution(exercise), [writing], name)}
        for name, (exercise, mistake) in known.items()
        for number, writing in enumerate((mistake, *mistake.also))
    }
    assert len(work) > 1.8 * len(known)
    receipts = grade_class(work, exercises=list(BLIND_SPOTS))
    for student in work:
        name = student.partition(" ")[0]
        exercise = known[name][0]
        assert lost(receipts[student], exercise), student
        assert [one.mistake for one in receipts[student].diagnoses[exercise]] == [name], student
