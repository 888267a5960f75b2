"""The lint of question banks: each rule, on a bank that breaks only that one."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest
from quiz_course import OFFSET, QUIZ, SLOPE, quiz_bank

from autograder.quiz import lint as rules
from autograder.quiz.lint import lint
from autograder.quiz.public import shuffled
from autograder.quiz.snippets import printed

LONG = "word " * 31 + "ends."
FILLER = "  - {{id: f{0}, type: text, aspect: concept, prompt: {0}?, why: So., key: {{accept: [w{0}]}}, wrong: [{{text: v, misconception: adds_instead, feedback: Why?}}]}}\n"


@pytest.fixture(autouse=True)
def _each_program_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it prints does not change from test to test, and each run is a process of its own."""
    monkeypatch.setattr(rules, "printed", lambda codes: printed_once(tuple(codes)))


printed_once = cache(printed)


def said(tmp_path: Path, file: str, old: str, new: str) -> list[str]:
    assert QUIZ[file].count(old) == 1, old
    return lint(quiz_bank(tmp_path, **{file: QUIZ[file].replace(old, new)}))


def test_a_bank_that_keeps_the_rules_is_clean(tmp_path: Path) -> None:
    assert lint(quiz_bank(tmp_path)) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        (SLOPE, "prompt: What does a slope do to x?", "prompt: " + "Look here. " * 41, "the prompt has 82 words"),
        (SLOPE, "prompt: What does a slope do to x?", f"prompt: {LONG}", "longer than 30 words"),
        (SLOPE, "why: A slope multiplies.", f"why: {LONG}", "longer than 30 words"),
        (SLOPE, "Is there a largest value?", "This is wrong.", 'gives a verdict ("wrong.")'),
        (SLOPE, "What must be known before the ruler lies?", "Yes! But when?", 'gives a verdict ("Yes!")'),
        (SLOPE, "Does a sharp pen move the line?", "Not correct.", 'gives a verdict ("correct.")'),
        (OFFSET, "What stays in place at zero?", "True at zero only.", 'gives a verdict ("True")'),
        (SLOPE, "It cuts x at an amount", "It always cuts x", 'gives itself away by "always"'),
        (SLOPE, "text: adding one", "text: none of these", 'gives itself away by "none of these"'),
        (SLOPE, "It stretches x by a factor", "It stretches x by a factor that is the same wherever x lies on the line", "much longer"),
        (SLOPE, "a: [2, 3, 5], b: [7, 11, 13]", "a: [2, 3], b: [7, 11, 13]", "only 6 variants can be drawn"),
        (SLOPE, "trace('slope.doubled.twice')[0]", "3", "the key is typed (3)"),
        (SLOPE, "slope {a} make of {b}", "slope {a} make of it", "the parameter b is not in the prompt"),
        (SLOPE, "slope {a} make of {b}", "slope {a} make of {b} and {c}", "names {c}, which is not a parameter"),
        (SLOPE, "value: a * b, t", "value: a * b * 0, t", "every variant has the same answer, 0"),
        (SLOPE, "value: a + b,", "value: a * 7,", "stands for two answers for {'a':"),
        (SLOPE, "value: 2 + 1.5,", "value: 3 + 0.09,", "stands for two answers"),
        (SLOPE, "\n      - {value: 2 + 1.5, misconception: adds_instead, feedback: Is 2 an amount here?}", " []", "no wrong answer is named"),
        (SLOPE, "value: 2 + 1.5,", "value: '[1]',", "a value must be one number"),
        (OFFSET, '"[2, 1]"', '"[2.5]"', "a shape must be a list of whole numbers"),
        (OFFSET, '"[2, 1]"', '"[2]"', "[2] stands for two answers"),
        (OFFSET, "text: slope,", "text: off set,", "offset is accepted as well"),
        (OFFSET, "accept: [offset, intercept at zero]", "accept: [offset, '--']", "nothing is left of the text --"),
        (OFFSET, "confusions:\n      - {left: factor, right: lifts the line, misconception: adds_instead, feedback: What stays in place at zero?}", "confusions: []", "no confusion is named"),
        (OFFSET, "[names both numbers of a line, says that they follow]", "[names both]", "at least two points"),
        (OFFSET, 'key: {output: "[7]"}', 'key: {output: "[8]"}', "the code prints '[7]', the key says '[8]'"),
        (OFFSET, "code: print([3 * 2 + 1])", "code: print([3 * 2 + one])", "the code fails: NameError"),
        (OFFSET, 'output: "[9]"', 'output: "[ 7 ]"', "the named wrong output '[7]' is the key"),
        (OFFSET, "aspect: misconception", "aspect: concept", "no item has the aspect misconception"),
        (OFFSET, "prompt: Which part does what?", "prompt: The offset lifts. Which part does what?", "s2_match gives away the answer of s2_name: offset"),
        (OFFSET, "id: s2_name", "id: s2_offset", "the id of s2_offset gives away its answer: offset"),
        (SLOPE, "prompt: In which order is this done?", "prompt: The height is 3.02 here. In which order?", "s1_order gives away the answer of s1_twice: 3.02"),
    ],
)  # fmt: skip
def test_each_rule(tmp_path: Path, file: str, old: str, new: str, sentence: str) -> None:
    found = said(tmp_path, file, old, new)
    assert len(found) == 1, found
    assert sentence in found[0]
    assert found[0].startswith(Path(file).name)


def test_two_named_wrong_answers_must_differ(tmp_path: Path) -> None:
    twice = "      - {text: sLope, misconception: looks_at_one, feedback: Which is it?}\n"
    old = "      - {text: slope, misconception: adds_instead, feedback: Which of the two is the factor?}\n"
    assert ["two named wrong texts are the same: slope" in s for s in said(tmp_path, OFFSET, old, old + twice)] == [
        True
    ]
    twice = '      - {output: "[ 9 ]", misconception: looks_at_one, feedback: Which is it?}\n'
    old = '      - {output: "[9]", misconception: adds_instead, feedback: Which sign binds more closely?}\n'
    assert ["two named wrong outputs are the same" in s for s in said(tmp_path, OFFSET, old, old + twice)] == [True]


def test_sides_that_line_up_and_steps_in_their_order_give_themselves_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the order that is shown falls upon the right one."""
    bank = quiz_bank(tmp_path)
    monkeypatch.setattr(rules, "displayed_lefts", lambda item: [pair.left for pair in item.pairs])
    monkeypatch.setattr(rules, "displayed_rights", lambda item: [*item.rights])
    monkeypatch.setattr(rules, "displayed_steps", lambda item: ["sharpen the pen", *item.steps])
    assert [sentence.split(": ", 2)[1:] for sentence in lint(bank)] == [
        ["s1_order", "the steps are shown in the right order; reword one of them"],
        ["s2_match", "the right sides are shown in the order of the left ones; reword one of them"],
    ]


def test_a_picture_has_as_many_labels_as_values(tmp_path: Path) -> None:
    picture = 'pictures:\n  - {draw: %s, values: "%s", rows: %s, columns: %s, caption: A row.}\nitems:'
    for drawn, values, rows, columns, sentence in [
        ("bars", "trace('slope.doubled.twice')", "[]", "[a]", "1 labels for another number of columns"),
        ("heatmap", "[trace('slope.doubled.twice')]", "[a, b]", "[a, b]", "2 labels for 1 rows"),
        ("bars", "3 * 4", "[]", "[a]", "must show a list of numbers"),
    ]:
        found = said(tmp_path, SLOPE, "items:", picture % (drawn, values, rows, columns))
        assert len(found) == 1
        assert sentence in found[0]


def test_keys_must_not_sit_in_one_place_nor_be_the_longest_nor_choices_prevail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    option = "{{text: %s {0}, misconception: adds_instead, feedback: Why so?}}"
    single = (
        "  - {{id: q{0}, type: single, aspect: concept, prompt: What {0}?, why: So., options: "
        "[{{text: {1} {0}, key: true, feedback: Hm.}}, " + option % "x" + ", " + option % "y" + "]}}\n"
    )

    def bank(key: str, text_items: int = 12) -> list[str]:
        items = "".join(single.format(i, key) for i in range(12)) + "".join(FILLER.format(i) for i in range(text_items))
        return lint(quiz_bank(tmp_path, **{SLOPE: QUIZ[SLOPE] + items}))

    assert bank("k") == ["lines: the key is the longest option in 13 of 13 single choices; shorten some"]
    monkeypatch.setattr(rules, "displayed_options", lambda item: [option.text for option in item.options])
    assert "lines: the key is option a in 13 of 13 single choices; reword some options" in bank("k")
    assert any("of 22 items are choices; at least 40 %" in sentence for sentence in bank("k", text_items=0))


def test_the_order_that_is_shown_says_nothing_about_the_key(tmp_path: Path) -> None:
    """It is made from the texts alone: whatever is the key, the letters stay."""
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    options = ["one", "two", "three", "four"]
    random.Random(seed).shuffle(options)
    assert shuffled("x", options) == shuffled("x", sorted(options))
