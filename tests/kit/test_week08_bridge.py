"""The bridge of Week 8: its numbers are the course's, and it names the step and the module that a mistake belongs to."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
import torch
from grading import EXERCISES, ROOT, edited, solution

from autograder.authoring.variants import written
from autograder.course import CourseFiles, load_traces
from autograder.course.mistakes import Mistake, load_mistakes

FILES = CourseFiles(ROOT)
OURS = ("week08_bridge", "bridge_", "selfcheck")


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A student's folder with untouched stubs, and the examples as their sources are now."""
    folder = tmp_path_factory.mktemp("students") / "week08"
    shutil.copytree(FILES.stubs("week08"), folder, ignore=shutil.ignore_patterns("examples", "__pycache__"))
    shutil.copytree(FILES.examples("week08"), folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="module")
def bridge(bundle: Path) -> Iterator[ModuleType]:
    """The program, in this process."""
    before = list(sys.path)
    sys.path.insert(0, str(bundle / "examples"))
    yield import_module("week08_bridge")
    sys.path[:] = before
    for name in [name for name in sys.modules if name.startswith(OURS)]:
        del sys.modules[name]


@pytest.fixture
def run(bridge: ModuleType, capsys: pytest.CaptureFixture[str]):
    """Exit code, output and what went to the error stream."""

    def go(*arguments: object) -> tuple[int, str, str]:
        try:
            code = bridge.main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code
        told = capsys.readouterr()
        assert "Traceback" not in told.out + told.err
        return code, told.out, told.err

    return go


@pytest.fixture
def mine(tmp_path: Path):
    """A folder of modules: the solutions, but for those given (None: missing)."""

    def make(**changed: str | None) -> Path:
        for name in EXERCISES:
            text = changed.get(name, solution(name))
            if text is not None:
                (tmp_path / f"{name}.py").write_text(text, "utf-8")
        return tmp_path

    return make


@cache
def mistakes(exercise: str) -> dict[str, Mistake]:
    return {mistake.id: mistake for mistake in load_mistakes(FILES.mistakes(exercise)).mistakes}


def flat(text: str) -> str:
    """The text without its line breaks."""
    return " ".join(text.split())


def steps_of(output: str) -> list[str]:
    """The output in one part for each step."""
    return re.split(r"^(?=Step \d of )", output, flags=re.MULTILINE)[1:]


def printed(values: list[float]) -> str:
    """A row as the course prints it, to four decimals."""
    return " ".join(f"{value + 0.0:.4f}" for value in values)


# --- the numbers


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


# --- a student's own modules


def test_the_solutions_are_the_same_at_every_step(run, mine):
    code, output, complaint = run("--mine", mine())
    assert (code, complaint) == (0, "")
    assert "7 of 7 steps are the same with your modules." in output
    assert output.count("  yours  ") == output.count(" the same\n") == 23
    assert "python -m pytest" in output
    assert max(map(len, output.splitlines())) <= 80


@pytest.mark.parametrize(
    ("exercise", "mistake", "step", "function"),
    [
        ("masked_softmax", "itself_hidden", 1, "causal_mask"),
        ("masked_softmax", "masked_after_softmax", 1, "masked_softmax"),
        ("masked_softmax", "no_scale", 1, "attention"),
        ("embedding", "positions_start_at_one", 2, "embed"),
        ("embedding", "concatenated", 2, "embed"),
        ("multi_head", "split_without_transpose", 3, "split_heads"),
        ("multi_head", "merge_without_transpose", 3, "merge_heads"),
        ("multi_head", "no_mask", 3, "CausalSelfAttention"),
        ("multi_head", "layers_have_other_names", 3, "CausalSelfAttention"),
        ("layer_norm", "variance_divides_by_c_minus_1", 5, "layer_norm"),
        ("layer_norm", "epsilon_missing", 5, "layer_norm"),
        ("lm_head", "final_norm_not_used", 7, "MiniGPT"),
        ("lm_head", "model_returns_probabilities", 7, "MiniGPT"),
    ],
)
def test_a_mistake_is_placed_at_its_first_step(run, mine, exercise: str, mistake: str, step: int, function: str):
    wrong = written(solution(exercise), [mistakes(exercise)[mistake]], exercise)
    code, output, _ = run("--mine", mine(**{exercise: wrong}))
    assert code == 1
    said = flat(output)
    assert f"They first differ at step {step}, " in said
    assert f"look at {function} in {exercise}.py" in said
    assert f"python -m selfcheck hint {exercise}" in said
    assert "Also to mend" not in said, "one mistake costs once"
    for number, part in enumerate(steps_of(output), start=1):
        if number < step:
            assert part.count("  yours  ") == part.count(" the same\n")
    assert max(map(len, output.splitlines())) <= 80


@pytest.mark.parametrize(
    ("exercise", "old", "new", "words"),
    [
        (
            "feed_forward",
            "return x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))",
            'return nn.functional.gelu(x, approximate="tanh")',
            "step 6, Feed-forward network (Week 8 §5, §6 and §10): look at gelu in feed_forward.py: "
            "3 of 4 values differ; the largest difference is 0.000153 at [",
        ),
        (
            "transformer_block",
            "return x + update",
            "return x + update.float().mean(0)",
            "step 4, Residual addition (Week 8 §7 and §8): look at add_residual in transformer_block.py: ",
        ),
        (
            "transformer_block",
            "x = add_residual(x, self.ffn(self.ln2(x)))",
            "x = self.ffn(self.ln2(x))",
            "step 6, Feed-forward network (Week 8 §5, §6 and §10): look at TransformerBlock in transformer_block.py",
        ),
        (
            "multi_head",
            "return x.transpose(1, 2).flatten(2)",
            "return x.transpose(1, 2)",
            "look at merge_heads in multi_head.py: expected shape [2, 2, 4], got [2, 2, 2, 2]: an axis is too many",
        ),
        (
            "embedding",
            "return token_table[token_ids] + position_table[:T]",
            "return (token_table[token_ids] + position_table[:T]).double()",
            "look at embed in embedding.py: expected dtype float32, got float64",
        ),
        (
            "layer_norm",
            "return gamma * deviation / torch.sqrt(variance + eps) + beta",
            "return gamma * deviation / torch.sqrt(-variance) + beta",
            "look at layer_norm in layer_norm.py: the answer holds NaN (first at [0, 0, 0], everywhere)",
        ),
        (
            "masked_softmax",
            "return weights @ v, weights",
            "return weights @ v",
            "look at attention in masked_softmax.py: expected a tuple of 2 values, got a tensor of shape [2, 2, 4]",
        ),
        (
            "masked_softmax",
            "return weights @ v, weights",
            "weights @ v, weights",
            "look at attention in masked_softmax.py: expected a tuple of 2 values, got None (is a return missing?)",
        ),
        (
            "lm_head",
            "return hidden @ weight.T + bias",
            "return hidden @ weight + bias",
            "look at vocabulary_logits in lm_head.py, which breaks off: your code raised RuntimeError at line ",
        ),
        (
            "lm_head",
            "return hidden @ weight.T + bias",
            "return hiden @ weight.T + bias",
            "of lm_head.py: name 'hiden' is not defined.",
        ),
        (
            "embedding",
            "import torch\n",
            "import torch\nimport tiktoken_of_mine\n",
            "7 of 7 steps are the same",  # an import that nothing uses costs nothing
        ),
        (
            "embedding",
            "return token_table[token_ids] + position_table[:T]",
            "import tiktoken_of_mine",
            "look at embed in embedding.py, which breaks off: your code raised ModuleNotFoundError at line 34 of embedding.py: "
            "No module named 'tiktoken_of_mine'.",
        ),
        (
            "masked_softmax",
            "keys = torch.arange(key_length)",
            "raise SystemExit",
            "causal_mask in masked_softmax.py, which breaks off: your code stopped the program (SystemExit) at line ",
        ),
        (
            "embedding",
            "import torch\n",
            "import torch\nimport sys; sys.exit(3)\n",
            "look at embed in embedding.py, which is not started: embedding.py has no `embed` (line ",
        ),
        (
            "multi_head",
            "def split_heads(",
            "def split_head(",
            "look at split_heads in multi_head.py, which is not started: multi_head.py has no `split_heads`, but it has "
            "`split_head`: rename it",
        ),
        (
            "embedding",
            "def embed(token_ids",
            "def embed(: token_ids",
            "look at embed in embedding.py, which breaks off: embedding.py: line 14 does not parse",
        ),
    ],
)
def test_what_goes_wrong_is_told_in_one_sentence(run, mine, exercise: str, old: str, new: str, words: str):
    assert old in solution(exercise)
    code, output, complaint = run("--mine", mine(**{exercise: solution(exercise).replace(old, new, 1)}))
    assert words in flat(output), flat(output)
    assert (code, complaint) == (int(not words.startswith("7 of 7")), "")
    assert max(map(len, output.splitlines())) <= 80


def test_untouched_stubs_are_not_started(run, bundle: Path):
    code, output, complaint = run("--mine", bundle)
    assert (code, complaint) == (1, "")
    assert "0 of 7 steps are the same" in output
    said = flat(output)
    assert (
        "They first differ at step 1, One causal head (Week 8 §4): look at causal_mask in masked_softmax.py, which is not"
        in said
    )
    assert output.count("  yours  ") == len(re.findall(r"  yours  \w+ +not started: open \w+\.py\n", output)) == 23
    rest = "embedding.py (step 2), multi_head.py (step 3), transformer_block.py (step 4), layer_norm.py (step 5), "
    assert f"Also to mend: {rest}feed_forward.py (step 6), lm_head.py (step 7)." in said
    assert all("The next step begins with the right values again." in flat(part) for part in steps_of(output)[:6])


def test_the_modules_of_the_own_folder_are_taken_without_a_name(run, bridge: ModuleType, bundle: Path):
    assert bundle == bridge.FOLDER
    assert run("--mine")[1] == run("--mine", bundle)[1]


def test_what_builds_on_an_unwritten_module_waits_and_the_rest_goes_on(run, mine, bundle: Path):
    stub = (bundle / "masked_softmax.py").read_text("utf-8")
    code, output, _ = run("--mine", mine(masked_softmax=stub))
    assert code == 1
    parts = [flat(part) for part in steps_of(output)]
    waits = "not judged: first mend causal_mask in masked_softmax.py (step 1)"
    assert "split_heads the same" in parts[2] and f"CausalSelfAttention {waits}" in parts[2]
    assert "not" not in parts[3].partition("yours")[2]
    assert f"TransformerBlock {waits}" in parts[5] and "FeedForward the same" in parts[5]
    assert f"MiniGPT {waits}" in parts[6] and "vocabulary_logits the same" in parts[6]
    assert "3 of 7 steps are the same" not in output
    assert "2 of 7 steps are the same" in output


def test_two_mistakes_are_both_named(run, mine):
    norm = edited(solution("layer_norm"), ".square().mean(dim=-1", ".square().sum(dim=-1")
    head = edited(solution("lm_head"), "hidden @ weight.T + bias", "hidden @ weight.T")
    said = flat(run("--mine", mine(layer_norm=norm, lm_head=head))[1])
    assert "They first differ at step 5, " in said
    assert "Also to mend: lm_head.py (step 7)." in said


def test_a_missing_module_is_named(run, mine, tmp_path: Path):
    code, output, _ = run("--mine", mine(embedding=None))
    assert code == 1
    assert (
        f"look at embed in embedding.py, which is not started: embedding.py is missing from {tmp_path.name}."
        in flat(output)
    )


def test_modules_that_print_ask_and_change_settings_disturb_nothing(run, mine):
    rude = (
        "import sys, builtins\nprint('h\\u00e9llo')\ntorch.set_default_dtype(torch.float64)\ntorch.set_grad_enabled(False)\n"
        "name = input('your name? ')\nsys.stdin = None\n"
    )
    embedding = solution("embedding").replace("import torch\n", f"import torch\n{rude}", 1)
    spoiled = edited(
        solution("feed_forward"),
        "return x * 0.5",
        "print(x)\n    torch.set_default_dtype(torch.float64)\n    x *= 1.0\n    return x * 0.5",
    )
    code, output, complaint = run("--mine", mine(embedding=embedding, feed_forward=spoiled))
    assert (code, complaint) == (0, ""), output
    assert "What your modules print is left out here." in output
    assert "llo" not in output.replace("follow", "")
    assert torch.get_default_dtype() == torch.float32 and torch.is_grad_enabled()
    assert steps_of(run()[1])[6].rstrip() in output


def test_inputs_that_a_module_changes_in_place_stay_right_for_the_others(run, mine):
    greedy = edited(solution("transformer_block"), "return x + update", "return x.add_(update)")
    assert run("--mine", mine(transformer_block=greedy))[0] == 0
    again = edited(
        solution("masked_softmax"), "return weights @ v, weights", "return v.copy_(weights @ v), weights.T.T"
    )
    assert run("--mine", mine(masked_softmax=again))[0] == 0


def test_a_folder_called_like_a_module_and_a_changed_torch_are_no_traceback(run, mine, monkeypatch):
    monkeypatch.setattr(torch.Tensor, "double", torch.Tensor.double)
    head = edited(solution("lm_head"), "return hidden @", "torch.Tensor.double = None\n    return hidden @")
    folder = mine(lm_head=head)
    (folder / "old.py").mkdir()
    code, output, _ = run("--mine", folder)
    assert code == 1
    assert "look at vocabulary_logits in lm_head.py, which breaks off: it cannot be compared here: TypeError" in flat(
        output
    )


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


def test_a_folder_without_modules_and_an_assignment_without_self_check_are_told(
    run, bridge: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    code, _, complaint = run("--mine", tmp_path)
    assert code == 2
    assert "none of masked_softmax.py, embedding.py, " in flat(complaint)
    monkeypatch.setattr(bridge, "FOLDER", tmp_path)
    told = run("--mine", ROOT / "solutions" / "week08")
    assert told == (2, "", "--mine needs selfcheck/ beside examples/, whole, as it came with your assignment\n")


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


def test_ctrl_c_says_where_it_fell(bridge: ModuleType, run, mine):
    pressed = edited(
        solution("embedding"), "if T > L:", "import signal\n    signal.raise_signal(signal.SIGINT)\n    if T > L:"
    )
    with pytest.raises(KeyboardInterrupt, match=r"^interrupted in embedding\.py, line 33$"):
        bridge.main(["--mine", str(mine(embedding=pressed))])
