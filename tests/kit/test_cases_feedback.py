"""B34: what a student is told helps, and gives away no hidden check, no expected value, no neighbour and no machine."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from grading import ASSIGNMENT, batch, edited, handed_in, run, small_course, solution, with_body
from rich.console import Console

from autograder.cli.show import student_view
from autograder.grading.final import Final
from autograder.grading.late import Late
from autograder.grading.receipt import Receipt
from autograder.grading.score import scores
from autograder.reports.terminal import receipt_report

NORM = solution("layer_norm")
MARKER = "ZEBRA42"
STUDENTS = {
    "zoe_value": with_body(NORM, "layer_norm", "return x + 1"),
    "yan_shape": with_body(NORM, "layer_norm", "return x[:, :0]"),
    "xia_raise": with_body(NORM, "layer_norm", 'raise ValueError("boom")'),
    "wim_prints": with_body(NORM, "layer_norm", 'print("SEEN", x.tolist())\nreturn x + 1'),
    "uma_tells": with_body(NORM, "layer_norm", 'raise ValueError(f"SEEN {x.tolist()}")'),
    "vic_right": NORM,
}
HIDDEN_LINE = "for C in (3, 5, 12):"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Receipt]]:
    """A course with a marker in a hidden check's name, body, comment and expected value, and a class graded in it."""
    root = small_course(tmp_path_factory.mktemp("feedback"))
    suite = root / "tests/suites" / ASSIGNMENT / "test_layer_norm.py"
    text = edited(
        suite.read_text("utf-8"), "def test_uses_population_variance", f"def test_{MARKER}_population_variance"
    )
    body = f'    note, expected_{MARKER} = "{MARKER}", torch.tensor([424242.125])  # {MARKER}\n    {HIDDEN_LINE}'
    suite.write_text(edited(text, f"    {HIDDEN_LINE}", body), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIT_TEST_SECRET", f"{MARKER}_environment")
        receipts = run(batch([handed_in(name, {"layer_norm": source}) for name, source in STUDENTS.items()], root=root))
    return root, receipts


def feedback(receipt: Receipt) -> str:
    """All forms in which a student gets a receipt."""
    text = io.StringIO()
    receipt_report(Console(file=text, width=200), receipt, Final(tuple(scores(receipt)), Late(0)), instructor=False)
    return text.getvalue() + json.dumps(student_view(receipt), ensure_ascii=False)


def test_the_marked_check_was_run(told: tuple[Path, dict[str, Receipt]]) -> None:
    for receipt in told[1].values():
        assert f"layer_norm::test_{MARKER}_population_variance" in {c.id for c in receipt.checks}


def test_feedback_gives_nothing_away(told: tuple[Path, dict[str, Receipt]]) -> None:
    root, receipts = told
    hidden = (root / "tests/suites" / ASSIGNMENT / "test_layer_norm.py").read_text("utf-8").split("BEGIN HIDDEN")[1]
    lines = [line.strip() for line in hidden.splitlines() if len(line.strip()) > 30 and "points(" not in line]
    for student, receipt in receipts.items():
        text = feedback(receipt)
        assert MARKER not in text, student
        assert "424242" not in text, student
        assert str(root) not in text, student
        assert str(Path.home()) + "/" not in text, student
        assert not any(line in text for line in lines), student
        assert not any(other in text for other in STUDENTS if other != student), student
        assert "Traceback" not in text, student
        assert str(receipt.seed) not in student_view(receipt), student


def test_a_hidden_check_repeats_nothing_the_students_code_says(told: tuple[Path, dict[str, Receipt]]) -> None:
    """What the code prints, and the text of its exceptions, could carry a hidden input out."""
    for student in ("xia_raise", "wim_prints", "uma_tells"):
        receipt = told[1][student]
        for check in receipt.checks:
            if not check.public:
                assert "boom" not in check.message
                assert "SEEN" not in check.message
        assert receipt.output or student != "wim_prints"
        assert "SEEN" not in json.dumps(student_view(receipt)["notes"])
    assert "SEEN" not in feedback(told[1]["wim_prints"])
    assert "SEEN" in told[1]["wim_prints"].output["layer_norm"]


def test_feedback_says_which_function_what_kind_of_input_and_what_was_seen(
    told: tuple[Path, dict[str, Receipt]],
) -> None:
    seen = {
        "zoe_value": "values differ; the largest difference is",
        "yan_shape": "expected shape",
        "xia_raise": "your code raised ValueError at line",
    }
    for student, sentence in seen.items():
        wrong = [c for c in told[1][student].checks if c.earned < c.points]
        assert all(c.title and c.message for c in wrong)
        assert any(sentence in c.message for c in wrong if not c.public), student
        public = [c for c in wrong if c.public]
        assert any(sentence in c.message for c in public)
        assert "call     layer_norm(" in public[0].message


def test_a_public_check_shows_call_answer_and_expectation(told: tuple[Path, dict[str, Receipt]]) -> None:
    check = next(c for c in told[1]["zoe_value"].checks if c.id.endswith("test_constant_row_gives_the_shift"))
    assert [line.split()[0] for line in check.message.splitlines()[1:]] == ["call", "returned", "expected"]
    error = next(c for c in told[1]["xia_raise"].checks if c.public)
    assert error.message.splitlines()[-1] == "ValueError: boom"
