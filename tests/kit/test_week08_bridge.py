"""The bridge of Week 8: its numbers are the course's, and its command line answers whatever it is given."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
import torch
from bridge_program import FILES, Run, flat, imported, runner, steps_of, students_folder
from grading import ROOT

from autograder.course import load_traces


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return students_folder(tmp_path_factory.mktemp("students"))


@pytest.fixture(scope="module")
def bridge(bundle: Path) -> Iterator[ModuleType]:
    yield from imported(bundle)


@pytest.fixture
def run(bridge: ModuleType, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(bridge, capsys)


def printed(values: list[float]) -> str:
    """A row as the course prints it, to four decimals."""
    return " ".join(f"{value + 0.0:.4f}" for value in values)


def test_each_step_says_what_was_missing_and_what_it_adds_in_80_columns(run):
    code, output, complaint = run()
    assert (code, complaint) == (0, "")
    parts = steps_of(output)
    assert len(parts) == 7
    for number, part in enumerate(parts, start=1):
        assert re.match(rf"Step {number} of 7: .+ \(Week 8 §.+\)\n  missing: .+\n  adds:    .+\n", part), part
        assert re.search(r"\[2, 2, \d", part), "no shape"
        assert part.count("A: you like") == part.count("B: we like") > 0
    assert max(map(len, output.splitlines())) <= 80
    assert "-0.0000" not in output


@pytest.mark.parametrize(
    ("step", "exercise", "trace", "value"),
    [
        (2, "embedding", "two_prompts", "residual_0"),
        (5, "layer_norm", "ln1_rows", "normalized"),
        (5, "masked_softmax", "last_query_scores", "weights"),
        (5, "lm_head", "two_prompts", "attention_update_last"),
        (5, "lm_head", "two_prompts", "residual_after_attention_last"),
        (6, "lm_head", "two_prompts", "ln2_last"),
        (6, "lm_head", "two_prompts", "ffn_update_last"),
        (6, "lm_head", "two_prompts", "residual_after_ffn_last"),
        (7, "lm_head", "two_prompts", "final_hidden_last"),
        (7, "lm_head", "two_prompts", "logits_last"),
        (7, "lm_head", "two_prompts", "probabilities_last"),
    ],
)
def test_the_last_rows_of_a_step_are_those_of_the_course(run, step: int, exercise: str, trace: str, value: str):
    _, output, _ = run("--step", step)
    right = torch.tensor(load_traces(FILES.traces(exercise))[trace].values[value].value, dtype=torch.float64)
    last = right if value.endswith("_last") else right[..., -1, :]
    for row in last.flatten(1) if last.dim() > 2 else last:
        assert printed(row.tolist()) in flat(output).replace("| ", ""), value


@pytest.mark.parametrize(
    ("step", "exercise", "trace", "value", "digits"),
    [
        (4, "transformer_block", "residual_scalar", "slope", 1),
        (4, "transformer_block", "residual_scalar", "change", 3),
        (5, "layer_norm", "row_1_2_3_4", "normalized", 3),
        (5, "layer_norm", "row_scaled_and_shifted", "normalized", 3),
        (6, "feed_forward", "gelu_table", "gelu", 3),
        (6, "feed_forward", "feature_mixing", "first_hidden", 0),
        (6, "feed_forward", "feature_mixing", "first_hidden_gelu", 6),
        (6, "feed_forward", "feature_mixing", "first_output", 6),
    ],
)
def test_the_small_experiments_give_the_numbers_of_the_course(run, step, exercise, trace, value, digits):
    _, output, _ = run("--step", step)
    right = torch.tensor(load_traces(FILES.traces(exercise))[trace].values[value].value, dtype=torch.float64)
    for number in right.flatten().tolist():
        assert f" {number:.{digits}f}" in output


def test_the_steps_before_the_norms_agree_with_the_reference(bridge, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    masked, heads = import_module("reference.masked_softmax"), import_module("reference.multi_head")
    pages = bridge.pages()
    words, rows = pages[0].values["token rows"], pages[1].values["residual_0"]
    mask = masked.causal_mask(2)
    update = heads.causal_self_attention(rows, torch.eye(4).repeat(3, 1), torch.eye(4), 2)
    halves = heads.split_heads(rows, 2)
    for page, name, right in (
        (0, "one head", masked.attention(words, words, words, mask)[0]),
        (1, "one head", masked.attention(rows, rows, rows, mask)[0]),
        (2, "weights of one head", masked.attention(rows, rows, rows, mask)[1]),
        (2, "weights of two heads", masked.attention(halves, halves, halves, mask)[1]),
        (2, "two heads, side by side", update),
        (3, "residual_0 + update", rows + update),
    ):
        assert torch.allclose(pages[page].values[name].double(), right, rtol=0, atol=1e-6), name


def test_the_end_is_within_1e_5_of_the_reference(bridge, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    stages = import_module("reference.lm_head").mini_gpt_stages(
        bridge.course.MODEL.weights, bridge.course.TOKEN_IDS, 2, 1
    )
    shown = {name: value for page in bridge.pages() for name, value in page.values.items()}
    for name, right in stages.items():
        assert torch.allclose(shown[name].double(), right, rtol=0, atol=1e-5), name
    assert f"{shown['probabilities'][1, 1, 4]:.4f}" == "0.2885"


def test_a_word_that_stands_twice_has_two_rows_only_with_places(run):
    _, output, _ = run("--step", 2)
    rows = re.findall(r"like@[01] +([-.\d ]+)", output)
    assert len(rows) == 4
    assert rows[0].split() == rows[1].split() == ["0.6000", "0.3000", "-0.2000", "0.1000"]
    assert rows[2].split() != rows[3].split()


def test_one_step_or_their_list(run):
    assert [line[:3] for line in run("--list")[1].splitlines()] == [f"{number}  " for number in range(1, 8)]
    code, output, _ = run("--step", 6)
    assert code == 0
    assert len(steps_of(output)) == 1
    assert steps_of(output) == [steps_of(run()[1])[5]]


def test_the_files_are_short_enough_to_read():
    for path in FILES.examples("week08").glob("*.py"):
        assert len(path.read_text("utf-8").splitlines()) <= 300, path.name


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--step", "0"], "there is no step 0; there are steps 1 to 7"),
        (["--step", "8"], "there is no step 8; there are steps 1 to 7"),
        (["--step", "two"], "invalid int value: 'two'"),
        (["--mine", "nowhere"], "--mine takes the folder of your modules; nowhere is no folder"),
        (["3"], "unrecognized arguments: 3"),
    ],
)
def test_a_command_that_cannot_be_done_is_answered_with_one_sentence(run, arguments: list[str], sentence: str):
    code, output, complaint = run(*arguments)
    assert (code, output) == (2, "")
    assert complaint.splitlines()[-1].endswith(sentence)


def test_it_runs_in_a_plain_terminal_from_another_folder(bundle: Path, tmp_path: Path):
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    poor = {
        "LC_ALL": "C",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONUTF8": "0",
        "NO_COLOR": "1",
        "COLUMNS": "40",
        "TERM": "dumb",
    }
    command = [sys.executable, bundle / "examples" / "week08_bridge.py", "--mine", ROOT / "solutions" / "week08"]
    done = subprocess.run(command, cwd=tmp_path, env={**plain, **poor}, capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()
    assert b"Step 7 of 7: Output head (Week 8 section 13 and section 14)" in done.stdout
    assert b"7 of 7 steps are the same with your modules." in done.stdout
