"""A whole training run: checkpoints, an interrupt that costs nothing, the final losses (Day 3 ch. 8)."""

from __future__ import annotations

import contextlib
import json
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import nn

from lab.faults import LabError, StoppedError
from lab.files import load_state, save_state, write_json, write_table
from lab.lists import PARTS, NamesList, load_list
from lab.models import size
from lab.progress import Silent
from lab.settings import Settings
from lab.trainer import Row, Trainer, choose_device

SAVE_EVERY = 100
"""Steps between checkpoints: what a power cut costs at most."""


@dataclass(frozen=True)
class Trained:
    """A finished run.

    Attributes:
        model: in evaluation mode, on the CPU.
        rows: step, training_loss and validation_loss along the way, as in metrics.csv.
        losses: of the whole training, validation and test part, in nats for each letter and end.
        tokens_per_second: targets learned from in each second of training, without the measuring.
    """

    model: nn.Module
    settings: Settings
    data: NamesList
    rows: list[Row]
    losses: dict[str, float]
    tokens_per_second: float
    parameters: int


def train(
    settings: Settings | None = None,
    names: NamesList | str | Path | None = None,
    out: str | Path = "lab-out/train",
    device: str = "auto",
    restart: bool = False,
    progress: Silent | None = None,
) -> Trained:
    """Train one model, or go on where an earlier call in the same folder stopped.

    On one machine, with one number of threads, a run that was interrupted (Ctrl-C, a kill, a power cut) and called
    again ends with exactly the weights and numbers of one that was not. A finished run is only loaded.

    Args:
        settings: Day 3's Mini GPT by default.
        names: a list, or the path of one; None is the assignment's own.
        out: a folder for checkpoint.pt, metrics.csv and result.json.
        device: auto, cpu, cuda or mps.
        restart: forget what the folder holds.
        progress: what to show meanwhile; nothing by default.

    Raises:
        LabError: the list is at fault, or the folder holds a run of other settings or of another list.
        StoppedError: Ctrl-C; the state is saved.
    """
    settings, progress, out = settings or Settings(), progress or Silent(), Path(out)
    data = names if isinstance(names, NamesList) else load_list(names, settings.split_seed)
    chosen = choose_device(device)
    with torch.random.fork_rng(devices=[]):
        trainer = Trainer(settings, data, chosen)
        checkpoint = out / "checkpoint.pt"
        if checkpoint.exists() and not restart:
            state = load_state(checkpoint)
            refuse_other(state, settings, data, checkpoint)
            trainer.restore(state)
        else:
            for old in (checkpoint, out / "result.json"):
                old.unlink(missing_ok=True)
        speed = _run(trainer, data, out, progress)
        return _result(trainer, data, out, speed)


def load(out: str | Path, names: NamesList | str | Path | None = None) -> Trained:
    """A run as it stands in its folder, finished or not, without training it any further.

    Raises:
        LabError: there is no run, or it is of another list.
    """
    checkpoint = Path(out) / "checkpoint.pt"
    if not checkpoint.exists():
        raise LabError(f"there is no trained model in {out}; `lab train` makes one, --out names its folder")
    state = load_state(checkpoint)
    try:
        settings = Settings(**state["settings"])
    except TypeError:
        raise LabError(f"{checkpoint} was made by another version of the lab; train again") from None
    data = names if isinstance(names, NamesList) else load_list(names, settings.split_seed)
    refuse_other(state, settings, data, checkpoint)
    with torch.random.fork_rng(devices=[]):
        trainer = Trainer(settings, data, torch.device("cpu"))
        trainer.restore(state)
    return _trained(trainer, data, {part: trainer.loss(part) for part in PARTS}, None)


def refuse_other(state: dict, settings: Settings, data: NamesList, checkpoint: Path) -> None:
    """Raises LabError when a checkpoint is not of these settings and this list."""
    again = "choose another --out, or begin again with --restart"
    if state["vocabulary"] != data.vocabulary:
        raise LabError(f"{checkpoint} knows the letters {_letters(state['vocabulary'])}, {data.file} has "
                       f"{_letters(data.vocabulary)}; {again}")  # fmt: skip
    if state["sha256"] != data.sha256:
        raise LabError(f"{checkpoint} was trained on another list of names than {data.file}; {again}")
    if differences := settings.differences(state["settings"]):
        raise LabError(f"{checkpoint} belongs to other settings ({differences}); {again}")


def _letters(vocabulary: list[str]) -> str:
    return "".join(vocabulary[1:])


def _run(trainer: Trainer, data: NamesList, out: Path, progress: Silent) -> float | None:
    """All steps that are left; returns the speed, None where none was left."""
    settings, seconds = trainer.settings, 0.0
    progress.begin(settings.total_steps, trainer.step)
    with _ctrl_c() as stopped:
        if trainer.step == 0 and not trainer.rows:
            trainer.measure()
        while not trainer.is_finished and not stopped:
            begun = time.perf_counter()
            loss = trainer.advance()
            seconds += time.perf_counter() - begun
            if trainer.step % settings.evaluate_every == 0 or trainer.is_finished:
                progress.measured(trainer.measure())
            if trainer.step % SAVE_EVERY == 0 or trainer.is_finished:
                _save(trainer, data, out)
            progress.advanced(trainer.step, loss)
        progress.end()
    if not trainer.is_finished:
        _save(trainer, data, out)
        raise StoppedError(f"stopped after step {trainer.step} of {settings.total_steps}; the same call goes on there")
    return trainer.predictions / seconds if seconds else None


@contextlib.contextmanager
def _ctrl_c() -> Iterator[list[int]]:
    """A list that Ctrl-C puts something into, so that a step is not cut in two; the second Ctrl-C is as usual."""
    pressed: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return
    usual = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: object) -> None:
        pressed.append(number)
        signal.signal(signal.SIGINT, usual)

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, usual)


def _save(trainer: Trainer, data: NamesList, out: Path) -> None:
    about = {"settings": asdict(trainer.settings), "vocabulary": data.vocabulary, "sha256": data.sha256}
    save_state(out / "checkpoint.pt", {**about, **trainer.state()})
    write_table(out / "metrics.csv", trainer.rows)


def _result(trainer: Trainer, data: NamesList, out: Path, speed: float | None) -> Trained:
    """Measure the finished model, or read what was measured when it finished."""
    file = out / "result.json"
    if not file.exists():
        losses = {part: trainer.loss(part) for part in PARTS}
        about = {"threads": torch.get_num_threads(), "torch": torch.__version__, "device": trainer.device.type}
        settings = {"settings": asdict(trainer.settings), "sha256": data.sha256}
        write_json(file, {"losses": losses, "tokens_per_second": speed, **about, **settings})
    record = json.loads(file.read_text("utf-8"))
    return _trained(trainer, data, record["losses"], record["tokens_per_second"])


def _trained(trainer: Trainer, data: NamesList, losses: dict[str, float], speed: float | None) -> Trained:
    return Trained(
        model=trainer.model.to("cpu").eval(),
        settings=trainer.settings,
        data=data,
        rows=trainer.rows,
        losses=losses,
        tokens_per_second=speed or float("nan"),
        parameters=size(trainer.model),
    )
