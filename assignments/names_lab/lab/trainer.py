"""One training run as a state that can be saved at any step and goes on as if nothing had happened (Day 3 ch. 8)."""

from __future__ import annotations

from typing import Any

import torch

from lab.faults import LabError
from lab.lists import NamesList
from lab.models import build
from lab.modules import module
from lab.settings import Settings

Row = dict[str, float]


def choose_device(name: str) -> torch.device:
    """`auto` takes the fastest there is. Raises LabError for one that this torch does not see."""
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    chosen = next(kind for kind in ("cuda", "mps", "cpu") if there[kind]) if name == "auto" else name
    if not there.get(chosen, False):
        raise LabError(f"this torch sees no device {chosen!r}; --device auto takes what there is")
    return torch.device(chosen)


class Trainer:
    """Model, optimizer, generators and everything else that the next step depends on.

    Dropout and the first weights come from torch's global generator, which the trainer seeds; batches come from one
    of their own, so that two models with one seed see the same names.

    Attributes:
        step: how many steps were taken.
        rows: what was measured, from step 0 on: see `measure`.
        predictions: how many targets the steps of this process learned from.
    """

    def __init__(self, settings: Settings, data: NamesList, device: torch.device) -> None:
        if settings.model == "mini_gpt" and data.longest > settings.context_length:
            raise LabError(
                f"{data.file} holds a name of {data.longest - 1} letters; with its end it does not fit into a context "
                f"of {settings.context_length}"
            )
        torch.manual_seed(settings.seed)
        self.settings, self.device = settings, device
        self.model = build(settings, len(data.vocabulary)).to(device)
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=settings.peak, weight_decay=settings.weight_decay, fused=True
        )
        self.batches = torch.Generator().manual_seed(settings.seed)
        self.examples = data.on(device)
        self.lengths = (data.examples["training"][1] != module("dataset").IGNORED).sum(dim=1)  # [N]
        self.step, self.predictions = 0, 0
        self.rows: list[Row] = []
        self._loss_sum, self._loss_steps = 0.0, 0

    @property
    def is_finished(self) -> bool:
        return self.step >= self.settings.total_steps

    def advance(self) -> float:
        """Take one step; returns the loss on its batch, before the step changed the weights."""
        s = self.settings
        rate = module("training").learning_rate(self.step, s.peak, s.warmup_steps, s.total_steps, s.floor_ratio)
        for group in self.optimizer.param_groups:
            group["lr"] = rate

        inputs, targets = self._next_batch()
        self.model.train(mode=True)
        _, loss = self.model(inputs, targets)
        self.optimizer.zero_grad()
        loss.backward()
        if s.max_norm is not None:
            self._clip(s.max_norm)
        self.optimizer.step()

        value = loss.item()
        self.step += 1
        self._loss_sum, self._loss_steps = self._loss_sum + value, self._loss_steps + 1
        return value

    def _next_batch(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Names drawn with repetition, cut to the longest of them: what is cut off is padding in all rows."""
        drawn = torch.randint(len(self.lengths), (self.settings.batch_size,), generator=self.batches)
        lengths = self.lengths[drawn]
        self.predictions += int(lengths.sum())
        drawn, T = drawn.to(self.device), int(lengths.max())
        inputs, targets = self.examples["training"]
        return inputs[drawn, :T], targets[drawn, :T]

    def _clip(self, max_norm: float) -> None:
        if self.settings.fast:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), max_norm)
        else:
            module("training").clip_gradients(self.model.parameters(), max_norm)

    def measure(self) -> Row:
        """Add a row: mean loss of the steps since the last one, with dropout, and loss of the whole validation part."""
        mean = self._loss_sum / self._loss_steps if self._loss_steps else float("nan")
        row = {"step": self.step, "training_loss": mean, "validation_loss": self.loss("validation")}
        self.rows.append(row)
        self._loss_sum, self._loss_steps = 0.0, 0
        return row

    def loss(self, part: str) -> float:
        """The loss of a whole part, in nats for each letter and end, without dropout."""
        # Losses are added up in float64, which mps does not have.
        there = torch.device("cpu") if self.device.type == "mps" else self.device
        inputs, targets = (rows.to(there) for rows in self.examples[part])
        try:
            return module("comparison").evaluate(self.model.to(there), inputs, targets)
        finally:
            self.model.to(self.device)

    def state(self) -> dict[str, Any]:
        """All of it, as tensors and plain values."""
        return {
            "step": self.step,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "batches": self.batches.get_state(),
            "random": torch.get_rng_state(),
            "device_random": _device_random(self.device),
            "rows": self.rows,
            "loss_sum": self._loss_sum,
            "loss_steps": self._loss_steps,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state of the same settings and list."""
        self.step, self.rows = state["step"], state["rows"]
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.batches.set_state(state["batches"])
        torch.set_rng_state(state["random"])
        if state["device_random"] is not None and _device_random(self.device) is not None:
            getattr(torch, self.device.type).set_rng_state(state["device_random"])
        self._loss_sum, self._loss_steps = state["loss_sum"], state["loss_steps"]


def _device_random(device: torch.device) -> torch.Tensor | None:
    return None if device.type == "cpu" else getattr(torch, device.type).get_rng_state()
