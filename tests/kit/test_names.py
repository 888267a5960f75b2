"""The names lab: its list is the one that the note describes, a list with a fault is refused by line, and the slips that
spoil a comparison of models are caught and named."""

from __future__ import annotations

import hashlib
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
import torch
from grading import ROOT, batch, handed_in, lost, run

from autograder.authoring.variants import written
from autograder.course import CourseFiles
from autograder.course.mistakes import load_mistakes

FILES = CourseFiles(ROOT)
FILE, NOTE = ROOT / "data" / "names.txt", ROOT / "data" / "NAMES.md"


def solutions() -> dict[str, ModuleType]:
    """The solutions of both assignments that a lab is made of; they find each other as in a student's folder."""
    folders = [str(FILES.solutions(assignment)) for assignment in ("week08", "names_lab")]
    before, sys.path[:0] = set(sys.modules), folders
    try:
        return {name: import_module(name) for name in ("dataset", "baselines", "comparison", "experiments", "lm_head")}
    finally:
        del sys.path[: len(folders)]
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(tuple(folders)):
                del sys.modules[name]


LAB = solutions()
DATASET, BASELINES, COMPARISON, EXPERIMENTS = (
    LAB[name] for name in ("dataset", "baselines", "comparison", "experiments")
)


def test_the_list_is_the_one_that_its_note_describes():
    content, note = FILE.read_bytes(), NOTE.read_text("utf-8")
    assert re.search(r"`([0-9a-f]{64})`", note)[1] == hashlib.sha256(content).hexdigest()
    names = content.decode("ascii").splitlines()
    assert content.endswith(b"\n") and b"\r" not in content
    assert (len(names), len(set(names))) == (32469, 29910)
    assert f"{len(names):,} lines, {len(set(names)):,} different names" in note
    assert {len(name) for name in names} == set(range(2, 16))
    assert set("".join(names)) == set(map(chr, range(ord("a"), ord("z") + 1)))


def test_girls_stand_before_boys_and_no_name_twice_among_either():
    names = FILE.read_text("ascii").splitlines()
    assert names[:5] == ["emma", "olivia", "ava", "isabella", "sophia"]
    boys = names.index("liam", 10_000)  # some girls are called so too
    for part in (names[:boys], names[boys:]):
        assert len(part) == len(set(part))
        rarest = part[-500:]  # all of them were given five times, so the alphabet decides
        assert rarest == sorted(rarest)
    assert names[boys : boys + 3] == ["liam", "noah", "william"]


def test_the_list_is_read_as_it_is_and_splits_without_a_leak():
    names = DATASET.read_names(FILE)
    assert names == FILE.read_text("ascii").splitlines()
    said = "32,469 names, 29,910 of them different (2,559 stand there again), 2 to 15 letters long"
    assert DATASET.described(names) == said
    parts = DATASET.split_names(names, 42)
    assert sum(map(len, parts)) == len(names)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert not set(parts[one]) & set(parts[other])
    shares = [len(set(part)) for part in parts]
    assert shares == [23928, 2991, 2991]


def test_every_letter_and_every_end_is_one_prediction():
    names = DATASET.read_names(FILE)[:3000]
    inputs, targets = DATASET.make_examples(names, DATASET.build_vocabulary(names))
    assert int((targets != DATASET.IGNORED).sum()) == sum(map(len, names)) + len(names)
    assert len(inputs) == len(names) and not inputs[:, 0].any()


def test_counted_bigrams_reach_the_loss_that_the_course_states():
    vocabulary, (training, validation, _) = DATASET.prepare(DATASET.read_names(FILE), 42)
    model = BASELINES.NeuralBigram(len(vocabulary))
    counts = BASELINES.bigram_counts(*training, len(vocabulary))
    model.load_state_dict({"table.weight": BASELINES.bigram_log_probabilities(counts)})
    assert COMPARISON.evaluate(model, *training) == pytest.approx(2.454, abs=0.002)
    assert COMPARISON.evaluate(model, *validation) == pytest.approx(2.45, abs=0.02)


def test_the_labs_functions_take_week_8s_own_model():
    names = DATASET.read_names(FILE)[:200]
    vocabulary = [".", *map(chr, range(ord("a"), ord("z") + 1))]
    inputs, targets = DATASET.make_examples(names, vocabulary)
    model = LAB["lm_head"].MiniGPT(27, 32, 64, 4, 4, 0.1)
    sizes = COMPARISON.parameter_breakdown(model)
    assert sum(sizes.values()) == EXPERIMENTS.model_size(27, 32, 64, 4) == 204_571
    for block in model.blocks:
        block.attention.output = torch.nn.Linear(64, 64)
    with_biases = COMPARISON.parameter_breakdown(model)
    assert sum(with_biases.values()) == EXPERIMENTS.model_size(27, 32, 64, 4, output_bias=True) == 204_827
    assert COMPARISON.breakdown_difference(sizes, with_biases) == {"blocks.*.attention.output": 256}
    loss = COMPARISON.evaluate(model, inputs, targets, 64)
    assert model.training
    assert model.eval()(inputs, targets)[1].item() == pytest.approx(loss, rel=1e-5)
    maps = EXPERIMENTS.attention_maps(model, inputs[0])
    assert maps.shape == (4, 4, inputs.shape[1], inputs.shape[1])
    assert EXPERIMENTS.loss_by_place(model, inputs, targets).shape == inputs.shape[1:]


BAD = {
    "empty": (b"", "names.txt is empty; it should hold one name on each line"),
    "a digit": (b"emma\nav4\nmia\n", "line 2 has '4'"),
    "an accent": ("emma\nzo\u00eb\n".encode(), "line 2 has '\u00eb'"),
    "a capital": (b"Emma\n", "line 1 has 'E'"),
    "a space": (b"emma \n", "line 1 has ' '"),
    "an empty line": (b"emma\n\nmia\n", "line 2 is empty"),
    "only line ends": (b"\n", "line 1 is empty"),
    "line ends of Windows": (b"emma\r\nava\r\n", "line 1 ends with a carriage return"),
    "a byte order mark": (b"\xef\xbb\xbfemma\n", "line 1 begins with a byte order mark"),
    "no UTF-8": (b"emma\nzo\xeb\n", "line 2 has '\ufffd'"),
}


@pytest.mark.parametrize("fault", BAD)
def test_a_list_with_a_fault_is_refused_with_its_lines(fault: str, tmp_path: Path):
    content, words = BAD[fault]
    (tmp_path / "names.txt").write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(words)) as error:
        DATASET.read_names(tmp_path / "names.txt")
    assert "\n" not in str(error.value) and str(tmp_path) not in str(error.value)


def test_every_bad_line_counts_and_the_first_are_named(tmp_path: Path):
    (tmp_path / "names.txt").write_text("".join(f"name{n}\n" for n in range(30)), "ascii")
    with pytest.raises(ValueError, match=r"line 1 has '0'.*line 8 has '7'.*and 22 lines more"):
        DATASET.read_names(tmp_path / "names.txt")


def test_other_letters_and_a_file_without_a_last_line_end_are_fine(tmp_path: Path):
    (tmp_path / "names.txt").write_text("zo\u00eb\nmia\nmia", "utf-8")
    assert DATASET.read_names(tmp_path / "names.txt", "abcdefghijklmnopqrstuvwxyz\u00eb") == ["zo\u00eb", "mia", "mia"]


def test_one_name_can_be_read_and_not_split(tmp_path: Path):
    (tmp_path / "names.txt").write_text("emma\n", "ascii")
    with pytest.raises(ValueError, match="1 different names are too few"):
        DATASET.split_names(DATASET.read_names(tmp_path / "names.txt"), 42)


CLASSICS = {
    "dataset": (
        "targets_not_shifted",
        "targets_are_tokens_plus_one",
        "padding_counted",
        "lines_split_instead_of_names",
        "rows_split_instead_of_names",
        "vocabulary_from_a_set",
        "set_before_the_shuffle",
    ),
    "comparison": ("mean_of_batch_means", "measured_in_training_mode"),
    "experiments": ("temperature_multiplies",),
}
"""Slips by which a loss looks better than it is, or cannot be compared or had again."""


def test_the_slips_that_spoil_a_comparison_are_caught_by_hidden_checks_and_named_also_when_written_otherwise():
    work = {}
    for exercise, ids in CLASSICS.items():
        solution = FILES.solution("names_lab", exercise).read_text("utf-8")
        known = {mistake.id: mistake for mistake in load_mistakes(FILES.mistakes(exercise)).mistakes}
        for name in ids:
            for number, writing in enumerate((known[name], *known[name].also)):
                work[f"{exercise} {name} {number}"] = {exercise: written(solution, [writing], name)}
    submissions = [handed_in(student, files) for student, files in work.items()]
    receipts = run(batch(submissions, assignment="names_lab", exercises=CLASSICS))
    for student, receipt in receipts.items():
        exercise, name, _ = student.split()
        hidden = {check.id.partition("::")[2] for check in receipt.checks if not check.public}
        assert hidden & set(lost(receipt, exercise)), student
        assert [one.mistake for one in receipt.diagnoses[exercise]] == [name], student
