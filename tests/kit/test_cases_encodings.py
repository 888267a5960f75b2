"""B04: files made on other machines. Marks, line ends and old code pages cost nothing; a wrong sign costs its function."""

from __future__ import annotations

import pytest
from grading import edited, grade_class, lost, outcomes, solution

from autograder.grading.receipt import Receipt

EXERCISE = "masked_softmax"
TEXT = solution(EXERCISE)
DOCSTRING = "Say which keys each query may see"
HARMLESS = {
    "mark and CRLF": b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode(),
    "CR only": TEXT.replace("\n", "\r").encode(),
    "a coding line": b"# -*- coding: latin-1 -*-\n" + TEXT.encode("latin-1", "replace") + b"\nNAME = 'd\xe9j\xe0'\n",
    "old bytes in a comment": TEXT.encode() + b"# d\xe9j\xe0\n",
    "old bytes in a docstring": edited(TEXT, DOCSTRING, "QQ").encode().replace(b"QQ", b"d\xe9j\xe0 vu"),
}
BROKEN = {
    "a no-break space": edited(TEXT, "return keys <= queries[:, None]", "return keys <=\u00a0queries[:, None]"),
    "curly quotes": edited(TEXT, "keys = torch.arange(key_length)", "keys = torch.arange(key_length, device=“cpu”)"),
}


@pytest.fixture(scope="module")
def graded() -> dict[str, Receipt]:
    work = {name.replace(" ", "_"): {EXERCISE: source} for name, source in (HARMLESS | BROKEN).items()}
    return grade_class(work, exercises=[EXERCISE])


@pytest.mark.parametrize("variant", HARMLESS)
def test_bytes_of_another_machine_cost_nothing(graded: dict[str, Receipt], variant: str) -> None:
    assert lost(graded[variant.replace(" ", "_")]) == {}


@pytest.mark.parametrize("variant", ["old bytes in a comment", "old bytes in a docstring"])
def test_old_bytes_are_named_with_their_place(graded: dict[str, Receipt], variant: str) -> None:
    (note,) = graded[variant.replace(" ", "_")].remarks
    assert "byte 0xE9 is not UTF-8" in note and "line " in note and "column " in note


@pytest.mark.parametrize(("variant", "sign"), [("a no-break space", "U+00A0"), ("curly quotes", "U+201C")])
def test_a_sign_that_is_no_python_is_named_and_costs_its_function_only(
    graded: dict[str, Receipt], variant: str, sign: str
) -> None:
    receipt = graded[variant.replace(" ", "_")]
    assert any(sign in note and "line " in note for note in receipt.remarks)
    assert set(lost(receipt).values()) == {"raised"}
    assert {name for name, outcome in outcomes(receipt).items() if outcome == "passed"}
