"""An experiment in one line: `experiment("dropout")` trains, measures, writes a CSV and a PNG, and gives both back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab import pictures
from lab.faults import LabError
from lab.files import write_table
from lab.runs import Runs
from lab.studies import STUDIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Experiment:
    """What was measured, a row for each case, and its picture; both are in files too."""

    table: list[dict[str, Any]]
    figure: Figure
    files: tuple[Path, Path]


def experiment(
    name: str,
    names: str | Path | None = None,
    out: str | Path = "lab-out",
    full: bool = False,
    device: str = "auto",
    progress: Any = None,
) -> Experiment:
    """One of the six experiments of Day 3 ch. 10.

    Args:
        name: attention, sizes, temperature, dropout, positions or scaling.
        names, device: see `train`.
        out: where NAME.csv, NAME.png and the trained models go; what is trained there already is not trained again.
        full: train as long as Day 3 does, which can take hours on two cores.
        progress: called with a run's title for what to show; nothing by default.

    Raises:
        LabError: there is no such experiment, or the list is at fault.
        StoppedError: Ctrl-C; the same call goes on.
    """
    if name not in STUDIES:
        raise LabError(f"{name!r} is no experiment; there are {', '.join(STUDIES)}")
    pictures.figure()  # says before the training that matplotlib is missing, not after it
    table = STUDIES[name](Runs.of(names, out, device, progress), full)
    drawn = getattr(pictures, name)(table)
    numbers = Path(out) / f"{name}.csv"
    write_table(numbers, table)
    return Experiment(table, drawn, (numbers, pictures.save(drawn, Path(out) / f"{name}.png")))
