"""The names lab trains: what was interrupted ends as if it had not been, and a folder or list that does not fit is refused
with one sentence."""

from __future__ import annotations

import csv
import json
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from the_lab import TINY, TINY_FAST, short_list

from lab import files, train
from lab.__main__ import main
from lab.faults import LabError, StoppedError
from lab.lists import load_list
from lab.progress import Silent
from lab.trainer import Trainer


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield from short_list(tmp_path_factory.mktemp("list"))


class Signals(Silent):
    """Sends a signal to its own process after a step."""

    def __init__(self, number: int, step: int) -> None:
        self.number, self.step = number, step

    def advanced(self, step: int, loss: float) -> None:
        if step == self.step:
            os.kill(os.getpid(), self.number)


def in_a_child(work: Callable[[], object]) -> int:
    """Run in a forked process; returns the signal that ended it, or 0."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) * -1


def weights(run: train.Trained) -> dict[str, torch.Tensor]:
    return run.model.state_dict()


def same(one: train.Trained, other: train.Trained) -> bool:
    """Bit for bit: the weights, and all that was measured."""
    equal = all(torch.equal(weight, weights(other)[name]) for name, weight in weights(one).items())
    return equal and one.losses == other.losses and str(one.rows) == str(other.rows)


@pytest.mark.parametrize("settings", [TINY, TINY_FAST], ids=["week08", "fast"])
def test_a_run_interrupted_at_three_points_ends_with_the_weights_of_one_that_was_not(
    settings, names, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(train, "SAVE_EVERY", 3)
    straight = train.train(settings, names, tmp_path / "straight")
    out = tmp_path / "interrupted"

    with pytest.raises(StoppedError, match="stopped after step 5 of 12"):  # Ctrl-C, between two checkpoints
        train.train(settings, names, out, progress=Signals(signal.SIGINT, 5))
    assert files.load_state(out / "checkpoint.pt")["step"] == 5

    kill = Signals(signal.SIGKILL, 8)  # kill -9, two steps after a checkpoint
    assert in_a_child(lambda: train.train(settings, names, out, progress=kill)) == signal.SIGKILL
    assert files.load_state(out / "checkpoint.pt")["step"] == 6

    replaced = []

    def killed_while_saving(fresh: Path, path: Path) -> None:
        replaced.append(path.name)
        if replaced.count("checkpoint.pt") == 2:
            fresh.write_bytes(fresh.read_bytes()[:100])
            os.kill(os.getpid(), signal.SIGKILL)
        os.rename(fresh, path)

    monkeypatch.setattr(files.os, "replace", killed_while_saving)  # kill -9 with half a checkpoint written
    assert in_a_child(lambda: train.train(settings, names, out)) == signal.SIGKILL
    monkeypatch.undo()
    assert files.load_state(out / "checkpoint.pt")["step"] == 9

    resumed = train.train(settings, names, out)
    assert same(resumed, straight)
    assert (out / "metrics.csv").read_bytes() == (tmp_path / "straight" / "metrics.csv").read_bytes()


def test_a_finished_run_is_loaded_and_not_trained_again(names, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    first = train.train(TINY, names, tmp_path)
    steps = [row["step"] for row in csv.DictReader((tmp_path / "metrics.csv").open())]
    assert steps == ["0", "4", "8", "12"]
    monkeypatch.setattr(Trainer, "advance", lambda self: pytest.fail("a step was taken"))
    monkeypatch.setattr(Trainer, "measure", lambda self: pytest.fail("it was measured again"))
    assert same(train.train(TINY, names, tmp_path), first)
    assert same(train.load(tmp_path, names), first)
    assert json.loads((tmp_path / "result.json").read_text())["losses"] == first.losses


def test_seed_decides_the_run_and_restart_begins_a_new_one(names, tmp_path: Path):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = train.train(TINY, names, tmp_path / "one")
    assert torch.equal(before, torch.get_rng_state())  # the caller's own draws are not disturbed
    torch.manual_seed(6)
    assert same(train.train(TINY, names, tmp_path / "two"), first)
    other = train.train(replace(TINY, seed=2), names, tmp_path / "one", restart=True)
    assert not torch.equal(weights(other)["lm_head.weight"], weights(first)["lm_head.weight"])


def test_a_loss_is_of_the_whole_part_without_dropout_and_learning_lowers_it(names, tmp_path: Path):
    settings = replace(TINY, dropout=0.5, peak=1e-2, total_steps=40, evaluate_every=40)
    run = train.train(settings, names, tmp_path)
    start, end = run.rows
    assert end["validation_loss"] == run.losses["validation"] < start["validation_loss"]
    inputs, targets = run.data.examples["validation"]
    with torch.no_grad():
        assert run.model(inputs, targets)[1].item() == pytest.approx(run.losses["validation"], rel=1e-5)


def test_a_checkpoint_that_does_not_fit_is_refused_in_one_sentence(names, tmp_path: Path):
    out = tmp_path / "run"
    train.train(TINY, names, out)
    cases = {
        "other settings": (replace(TINY, peak=1e-3), names, "belongs to other settings (peak 0.001 instead of 0.0003)"),
        "other names": (TINY, _list(tmp_path / "other.txt", [*names.read_text().split(), "ava"]), "another list of names"),
        "other letters": (TINY, _list(tmp_path / "few.txt", ["ab", "ba", "aab"] * 5 + [f"a{'b' * n}" for n in range(9)]),
                          "knows the letters abcdefghijklmnopqrstuvwxyz, few.txt has ab"),
    }  # fmt: skip
    for settings, path, words in cases.values():
        with pytest.raises(LabError) as error:
            train.train(settings, path, out)
        assert words in str(error.value) and "\n" not in str(error.value) and "--restart" in str(error.value)
    with pytest.raises(LabError, match="another list of names"):
        train.load(out, cases["other names"][1])
    for damaged in (b"", (out / "checkpoint.pt").read_bytes()[:999], b"no checkpoint at all"):
        (out / "checkpoint.pt").write_bytes(damaged)
        with pytest.raises(LabError, match=r"checkpoint\.pt is not a checkpoint of the lab"):
            train.train(TINY, names, out)
    with pytest.raises(LabError, match=r"no trained model in .*nothing; `lab train` makes one"):
        train.load(tmp_path / "nothing", names)


BAD = {
    "empty": (b"", "is empty"),
    "one name": (b"emma\n", "1 different names are too few"),
    "a digit": (b"emma\nav4\n", "line 2 has '4'"),
    "an accent": ("zo\u00eb\n".encode(), "line 1 has '\u00eb'"),
    "line ends of Windows": (b"emma\r\nava\r\n", "line 1 ends with a carriage return"),
    "a byte order mark": (b"\xef\xbb\xbfemma\n", "line 1 begins with a byte order mark"),
    "a name longer than the context": (b"".join(b"a" * n + b"\n" for n in range(1, 40)), "holds a name of 39 letters"),
    "no file": (None, "cannot be read: No such file"),
}


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_list_ends_the_command_with_one_sentence_and_leaves_nothing(fault, tmp_path: Path, capsys):
    content, words = BAD[fault]
    if content is not None:
        (tmp_path / "list.txt").write_bytes(content)
    command = ["train", "--names", str(tmp_path / "list.txt"), "--out", str(tmp_path / "out")]
    assert main(command) == 2
    said = capsys.readouterr().err
    assert said.startswith("lab: ") and words in said and said.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("total_steps=0", "total_steps must be above 0, got 0"),
        ("total_steps=many", "total_steps must be of the kind int, got 'many'"),
        ("steps=5", "'steps=5' sets nothing"),
        ("num_heads=5", "model_dim 64 is not divisible by num_heads 5"),
        ("positions=none", "none positions need fast=True"),
        ("peak=nan", "peak must be above 0, got nan"),
    ],
)
def test_a_setting_that_no_run_can_have_is_refused_in_one_sentence(setting, words, capsys):
    assert main(["train", "--set", setting]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


def test_no_part_of_a_list_reaches_another_and_its_name_does_not_matter(names, tmp_path: Path):
    data = load_list(names, 42)
    parts = [set(part) for part in data.names.values()]
    assert not parts[0] & parts[1] and not parts[0] & parts[2] and not parts[1] & parts[2]
    again = load_list(_list(tmp_path / "copy.txt", names.read_text().split()), 42)
    assert (again.sha256, again.file) == (data.sha256, "copy.txt")
    assert data.longest == 1 + max(map(len, names.read_text().split()))


def _list(path: Path, chosen: list[str]) -> Path:
    path.write_text("".join(f"{name}\n" for name in chosen), "ascii")
    return path
