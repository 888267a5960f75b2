"""What a run shows while it trains."""

from __future__ import annotations

from typing import Any

from lab.faults import LabError


class Silent:
    """Nothing. The base of those that show something."""

    def begin(self, total: int, done: int) -> None:
        """A run of `total` steps starts, of which `done` are taken already."""

    def advanced(self, step: int, loss: float) -> None:
        """A step was taken."""

    def measured(self, row: dict[str, float]) -> None:
        """The validation part was measured."""

    def finished(self, title: str, loss: float) -> None:
        """One of several runs that are trained at the same time is finished, with this validation loss."""

    def end(self) -> None:
        """No step comes any more."""


class Bar(Silent):
    """A bar with the loss and the time that is left; on what is no terminal, a line for each measurement."""

    def __init__(self, title: str = "") -> None:
        try:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
        except ImportError:
            raise LabError("the lab shows its work with rich: python -m pip install rich") from None
        self.title, self.console, self.validation = title, Console(), float("nan")
        self._columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._new, self._bar = Progress, Progress(*self._columns, console=self.console)
        self._task: Any = None
        self._smooth: float | None = None

    def begin(self, total: int, done: int) -> None:
        self._smooth, self.validation = None, float("nan")
        silent = not self.console.is_terminal or done >= total
        self._bar = self._new(*self._columns, console=self.console, disable=silent)
        self._task = self._bar.add_task(self.title, total=total, completed=done)
        self._bar.start()

    def advanced(self, step: int, loss: float) -> None:
        self._smooth = loss if self._smooth is None else 0.98 * self._smooth + 0.02 * loss
        words = f"{self.title} loss {self._smooth:.3f}, validation {self.validation:.3f}"
        self._bar.update(self._task, completed=step, description=words)

    def measured(self, row: dict[str, float]) -> None:
        self.validation = row["validation_loss"]
        if not self.console.is_terminal:
            words = f"{self.title} step {row['step']:.0f}: validation loss {self.validation:.4f}"
            self.console.print(words, soft_wrap=True)

    def finished(self, title: str, loss: float) -> None:
        self.validation = loss
        self.console.print(f"{title}: validation loss {loss:.4f}", soft_wrap=True)

    def end(self) -> None:
        self._bar.stop()
