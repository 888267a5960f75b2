"""Sentences from the student's process: those that reading a file gives rise to pass, those that carry something do not."""

from __future__ import annotations

import random

import pytest
from grading import EXERCISES, edited, solution

from autograder.sandbox.loading import load_module
from autograder.sandbox.vouching import UNKNOWN, is_line_of, vouched

NORM = solution("layer_norm")
SECRET = "ZEBRA42"


def notes_of(source: bytes) -> list[str]:
    return load_module("layer_norm", source, "layer_norm.py").notes


@pytest.mark.parametrize(
    "line",
    [
        "import no_such_module",
        "from google.colab import drive",
        "raise RuntimeError('secret')",
        "input()",
        "1 / 0",
        "exit()",
        "def broken(:",
        "x = (1, 2",
        "x = 'open",
        "%matplotlib inline",
        "print 'hello'",
        "  x = 1",
        "def f():",
        "x = 012",
        "f() = 3",
        "x == 3 = 4",
        "if x",
        "caf\u00e9 = \u201cquoted\u201d",
        "return 3",
    ],
)
def test_what_reading_a_file_says_passes_as_it_is(line: str) -> None:
    at_top, at_end = f"{line}\n{NORM}".encode(), f"{NORM}\n{line}\n".encode()
    assert notes_of(at_top)
    for source in (at_top, at_end):
        notes = notes_of(source)
        assert [vouched(note, source) for note in notes] == notes


def test_bytes_that_are_not_utf_8_are_told() -> None:
    source = NORM.encode().replace(b"import torch", b"# caf\xe9\nimport torch", 1)
    (note,) = notes_of(source)
    assert "Latin-1" in note
    assert vouched(note, source) == note


@pytest.mark.parametrize("seed", range(3))
def test_of_damaged_files_every_sentence_passes_or_says_less(seed: int) -> None:
    """Seed as in the name; damage is a few characters taken out, doubled or exchanged."""
    draw = random.Random(seed)
    passed = 0
    for _ in range(60):
        text = list(solution(draw.choice(EXERCISES)))
        for _ in range(draw.randrange(1, 4)):
            at = draw.randrange(len(text))
            text[at] = draw.choice(["", text[at] * 2, draw.choice("()[]{}:='\"\\ \n\t0a")])
        source = "".join(text).encode()
        for note in notes_of(source):
            found = vouched(note, source)
            assert found in (note, UNKNOWN) or "invalid syntax" in found, note
            passed += found == note
    assert passed > 20


@pytest.mark.parametrize(
    "said",
    [
        SECRET,
        f"line 3 needs {SECRET}, which is not installed here",
        f"line 3 raised {SECRET} (`import torch`)",
        f"line 3 raised ValueError (`{SECRET}`)",
        f"line 3 does not parse: {SECRET}",
        f"line 3 does not parse: invalid syntax (`{SECRET}`)",
        f"line 3 stopped the program ({SECRET}); nothing after it was read",
        "line 424242 asks for input, and nobody is there to answer",
        f"layer_norm.py has no `{SECRET}`",
        f"{SECRET}.py has no `layer_norm`",
        f"layer_norm.py has no `layer_norm`, but it has `{SECRET}`: rename it",
        f"layer_norm.py has no `layer_norm` ({SECRET})",
        f"line 3, column {10**9}: byte 0xE9 is not UTF-8; the file was read as Latin-1, save it as UTF-8",
        f"line 3 asks for input, and nobody is there to answer; the rest of the file was still read {SECRET}",
    ],
)
def test_a_sentence_with_something_of_its_own_in_it_does_not_pass(said: str) -> None:
    found = vouched(said, NORM.encode(), {"layer_norm"})
    assert SECRET not in found
    assert "424242" not in found
    assert str(10**9) not in found


def test_a_name_that_is_nearly_right_is_told() -> None:
    source = edited(NORM, "def layer_norm(", "def layernorm(").encode()
    said = "layer_norm.py has no `layer_norm`, but it has `layernorm`: rename it"
    assert vouched(said, source, {"layer_norm"}) == said
    assert vouched(said, source, {"other"}) != said


@pytest.mark.parametrize(
    ("line", "is_one"), [(1, True), (3, True), (4, False), (0, False), (-5, False), ("1", False), (True, False)]
)
def test_a_line_is_one_that_the_file_has(line: object, is_one: bool) -> None:
    assert is_line_of(line, b"a\nb\r\nc") == is_one
