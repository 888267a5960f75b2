"""Finished runs that commands share: each is trained once, and kept in a folder named by its settings and list."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.lists import NamesList, load_list
from lab.progress import Silent
from lab.settings import Settings
from lab.train import Trained, train

FAST = Settings(fast=True)
"""Day 3's run, on the fast model."""

SHORT = Settings(fast=True, peak=1e-3, warmup_steps=100, total_steps=800, evaluate_every=200)
"""Half a minute on two cores. The higher rate makes up for some of the steps that are missing."""


@dataclass(frozen=True)
class Runs:
    """Where runs are kept, and what they train on. `progress` is asked for what to show, by the run's title."""

    data: NamesList
    out: Path
    device: str = "auto"
    progress: Any = field(default=lambda title: Silent())

    @classmethod
    def of(cls, names: str | Path | None, out: str | Path, device: str, progress: Any = None) -> Runs:
        """Runs on a list, by its path; None is the assignment's own. Raises LabError."""
        data = load_list(names, Settings.split_seed)
        return cls(data, Path(out), device, *([progress] if progress else []))

    def get(self, settings: Settings, title: str) -> Trained:
        """Train, go on, or load. Raises LabError and StoppedError as `train` does."""
        return train(settings, self.data, self._folder(settings), self.device, progress=self.progress(title))

    def is_finished(self, settings: Settings) -> bool:
        """Would `get` only load it?"""
        return (self._folder(settings) / "result.json").exists()

    def _folder(self, settings: Settings) -> Path:
        return self.out / "runs" / f"{settings.model}-{settings.fingerprint()}-{self.data.sha256[:6]}"
