"""What the bridge of Week 8 makes of a student's own modules: it names the step and the module a mistake belongs to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
import torch
from bridge_program import FILES, Run, flat, imported, runner, steps_of, students_folder, write_modules
from grading import ROOT, edited, solution

from autograder.authoring.variants import written
from autograder.course.mistakes import Mistake, load_mistakes


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return students_folder(tmp_path_factory.mktemp("students"))


@pytest.fixture(scope="module")
def bridge(bundle: Path) -> Iterator[ModuleType]:
    yield from imported(bundle)


@pytest.fixture
def run(bridge: ModuleType, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(bridge, capsys)


@pytest.fixture
def mine(tmp_path: Path) -> Callable[..., Path]:
    """A folder of modules: the solutions, but for those given (None: missing)."""
    return lambda **changed: write_modules(tmp_path, changed)


@cache
def mistakes(exercise: str) -> dict[str, Mistake]:
    return {mistake.id: mistake for mistake in load_mistakes(FILES.mistakes(exercise)).mistakes}


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


def test_a_folder_without_modules_and_an_assignment_without_self_check_are_told(
    run, bridge: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    code, _, complaint = run("--mine", tmp_path)
    assert code == 2
    assert "none of masked_softmax.py, embedding.py, " in flat(complaint)
    monkeypatch.setattr(bridge, "FOLDER", tmp_path)
    told = run("--mine", ROOT / "solutions" / "week08")
    assert told == (2, "", "--mine needs selfcheck/ beside examples/, whole, as it came with your assignment\n")


def test_ctrl_c_says_where_it_fell(bridge: ModuleType, run, mine):
    pressed = edited(
        solution("embedding"), "if T > L:", "import signal\n    signal.raise_signal(signal.SIGINT)\n    if T > L:"
    )
    with pytest.raises(KeyboardInterrupt, match=r"^interrupted in embedding\.py, line 33$"):
        bridge.main(["--mine", str(mine(embedding=pressed))])
